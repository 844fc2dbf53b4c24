"""`EvalType` and `EvalFile`: a network is used when it is whole and fits; else one line says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
from random_network import random_network

from knightadder.core.evaluation.network_file import Network, network_bytes
from knightadder.engine import evaluator
from knightadder.engine.engine import Engine
from knightadder.engine.errors import OptionError
from knightadder.engine.evaluator import Evaluator
from knightadder.engine.limits import Limits
from knightadder.engine.options import Options
from knightadder.library.arrays import pack
from knightadder.workshop.train.integer_model import integer_values

BOARD = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3")


def value_of(engine: Engine) -> float:
    """Give the static evaluation in pawns, which is White's here."""
    return float(engine.evaluation().splitlines()[-1].split()[1])


def expected(network: Network, board: chess.Board = BOARD) -> float:
    return int(integer_values(network, pack([board]))[0]) / 100


@pytest.fixture
def fresh() -> Iterator[Engine]:
    """Give an engine with the classical evaluation."""
    options = Options()
    options.set("EvalType", "classical")
    engine = Engine(options)
    engine.set_position(BOARD.fen())
    yield engine
    engine.close()


BUILT_IN_NETWORK = random_network(32, seed=9)


@pytest.fixture
def built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a file with another network in the place of the built-in one."""
    path = tmp_path / "built-in.nnue"
    path.write_bytes(network_bytes(BUILT_IN_NETWORK))
    monkeypatch.setattr(evaluator, "BUILT_IN_FILE", path)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.nnue"
    path.write_bytes(network_bytes(random_network()))
    return path


def test_a_network_evaluates_and_searches(fresh: Engine, file: Path) -> None:
    classical = fresh.evaluation()
    fresh.set_option("EvalFile", str(file))
    assert fresh.evaluation() == classical  # until it is chosen
    fresh.set_option("EvalType", "nnue")
    assert value_of(fresh) == expected(random_network())
    assert fresh.evaluation().endswith("(white side, nnue)")
    results = []
    fresh.go(Limits(depth=4), lambda news: None, results.append)
    assert fresh.wait(60)
    assert chess.Move.from_uci(results[0].best_move) in BOARD.legal_moves
    fresh.set_option("EvalType", "classical")
    assert fresh.evaluation() == classical


def test_the_evaluation_shows_the_bucket_and_the_worth_of_each_piece(fresh: Engine, file: Path) -> None:
    network = random_network(buckets=8)
    file.write_bytes(network_bytes(network))
    fresh.set_option("EvalFile", str(file))
    fresh.set_option("EvalType", "nnue")
    _, *rows, bucket, _ = fresh.evaluation().splitlines()
    assert bucket == "Network: output bucket 8 of 8 (32 men)"
    shown = [text.strip() for row in rows[2::3] for text in row.split("|")[1:-1]]
    for row, square in enumerate(chess.SQUARES_180):
        piece = BOARD.piece_type_at(square)
        if piece is None or piece == chess.KING:
            assert shown[row] == ""
            continue
        rest = BOARD.copy(stack=False)
        rest.remove_piece_at(square)
        assert float(shown[row]) == pytest.approx(expected(network) - expected(network, rest), abs=0.001)


def test_another_file_is_used_at_once(fresh: Engine, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.nnue"
    other.write_bytes(network_bytes(random_network(256, seed=2)))
    fresh.set_option("EvalFile", str(file))
    fresh.set_option("EvalType", "nnue")
    fresh.set_option("EvalFile", str(other))
    assert value_of(fresh) == expected(random_network(256, seed=2)) != expected(random_network())
    other.write_bytes(network_bytes(random_network(seed=3)))
    fresh.set_option("EvalFile", str(other))  # of the same name, but changed meanwhile
    assert value_of(fresh) == expected(random_network(seed=3)) != expected(random_network(256, seed=2))


def test_the_built_in_network_is_the_default(fresh: Engine, file: Path, built_in: Path) -> None:
    fresh.set_option("EvalType", "nnue")
    assert value_of(fresh) == expected(BUILT_IN_NETWORK)
    fresh.set_option("EvalFile", str(file))
    assert value_of(fresh) == expected(random_network()) != expected(BUILT_IN_NETWORK)
    fresh.set_option("EvalFile", "<built-in>")
    assert value_of(fresh) == expected(BUILT_IN_NETWORK)
    fresh.set_option("EvalType", "classical")
    fresh.set_option("EvalFile", str(file))
    fresh.set_option("EvalFile", "<empty>")
    fresh.set_option("EvalType", "nnue")
    assert value_of(fresh) == expected(BUILT_IN_NETWORK)


@pytest.mark.parametrize("content", [None, b"", b"damaged" * 100])
def test_without_the_built_in_network_the_evaluation_is_classical(
    fresh: Engine, file: Path, built_in: Path, content: bytes | None
) -> None:
    if content is None:
        built_in.unlink()
    else:
        built_in.write_bytes(content)
    classical = fresh.evaluation()
    with pytest.raises(OptionError, match=r"^option EvalType: the built-in network cannot be used: .*") as caught:
        fresh.set_option("EvalType", "nnue")
    assert "\n" not in str(caught.value)
    assert (fresh.options.evaluation, fresh.evaluation(), fresh.problem) == ("classical", classical, None)

    options = Options()
    options.set("EvalType", "nnue")  # as if it were the default
    engine = Engine(options)
    engine.set_position(BOARD.fen())
    assert engine.evaluation() == classical
    assert engine.problem is not None
    assert re.fullmatch(
        r"the built-in network cannot be used: .*; the classical evaluation is used instead", engine.problem
    )
    with pytest.raises(OptionError, match="option EvalFile: the built-in network cannot be used"):
        engine.set_option("EvalFile", "<built-in>")
    engine.set_option("EvalFile", str(file))  # which is used at once, since the option EvalType has not changed
    assert (value_of(engine), engine.problem) == (expected(random_network()), None)
    with pytest.raises(OptionError, match="option EvalFile: the built-in network cannot be used"):
        engine.set_option("EvalFile", "<built-in>")
    assert value_of(engine) == expected(random_network())
    engine.close()


def test_the_network_that_comes_with_the_engine_can_be_used() -> None:
    assert Evaluator("nnue").problem is None


def damaged(data: bytes) -> bytes:
    return data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"folder", "Is a directory|Permission denied"),
        (b"", "not a network"),
        (b"PGN\n" * 100, "not a network"),
        (network_bytes(random_network())[:9000], "truncated"),
        (damaged(network_bytes(random_network())), "damaged"),
        (network_bytes(random_network(528)), "not 528"),
    ],
)
def test_a_file_that_is_no_good_changes_nothing(
    fresh: Engine, file: Path, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    fresh.set_option("EvalFile", str(file))
    fresh.set_option("EvalType", "nnue")
    bad = tmp_path / "bad.nnue"
    if content == b"folder":
        bad.mkdir()
    elif content is not None:
        bad.write_bytes(content)
    with pytest.raises(OptionError, match=reason) as caught:
        fresh.set_option("EvalFile", str(bad))
    assert str(caught.value).startswith("option EvalFile: ")
    assert "\n" not in str(caught.value)
    assert fresh.options.eval_file == str(file)
    assert value_of(fresh) == expected(random_network())


def test_an_engine_can_begin_with_a_network(file: Path) -> None:
    options = Options()
    options.set("EvalFile", str(file))
    options.set("EvalType", "nnue")
    engine = Engine(options)
    engine.set_position(BOARD.fen())
    assert value_of(engine) == expected(random_network())
    engine.close()
    options.set("EvalFile", f"{file}.lost")
    with pytest.raises(OptionError, match=r"^option EvalFile: cannot read .*\.lost: No such file or directory$"):
        Engine(options)
