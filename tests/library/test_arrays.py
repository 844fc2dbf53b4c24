"""Arrays of positions: what goes in comes out, and values are those of one position at a time."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import chess
import chess.variant
import numpy as np
import pytest
from chess.engine import Limit
from random_boards import random_boards

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError, PositionError
from knightadder.library import arrays
from knightadder.library.arrays import evaluate_iter, evaluate_many, pack, unpack, unpack_fens
from knightadder.library.many import analyse_iter, analyse_many
from knightadder.library.positions import evaluate, legal_moves
from knightadder.parallel import pool as pools

BOARDS = random_boards(11, 80)
FENS = [board.fen() for board in BOARDS]
IN_CHECK = "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"


@pytest.mark.parametrize("chess960", [False, True])
def test_what_is_packed_can_be_unpacked(chess960: bool) -> None:
    boards = random_boards(12, 60, chess960)
    records = pack(boards)
    assert records.shape == (60,) and records.dtype == PACKED
    for board, again in zip(boards, unpack(records, chess960), strict=True):
        assert again.chess960 == chess960
        assert again.fen() == board.fen()
        assert again.is_valid()
    assert unpack_fens(records) == [board.fen() for board in boards]
    assert unpack_fens(records, chess960=True) == [board.shredder_fen() for board in boards]


def test_castling_rights_of_chess960_are_unpacked_among_other_positions() -> None:
    boards = [chess.Board(), chess.Board.from_chess960_pos(0), chess.Board.from_chess960_pos(959), chess.Board()]
    inner = chess.Board("rk2r2r/8/8/8/8/8/8/RK2R2R w EAea - 0 1", chess960=True)  # the rooks on h cannot castle
    assert unpack(pack([*boards, inner])) == [*boards, inner]
    assert all(board.chess960 for board in unpack(pack(boards), chess960=True))


def test_fens_and_boards_give_the_same_records() -> None:
    one_by_one = np.concatenate([pack([fen]) for fen in FENS])
    for positions in (
        BOARDS,
        FENS,
        tuple(FENS),
        iter(FENS),
        [BOARDS[0], *FENS[1:]],
        np.array(FENS),
        np.array(FENS, object),
        np.array(FENS, "S"),
        np.array(FENS, "S200"),
        np.array(FENS, ">U100"),
        np.repeat(np.array(FENS), 2)[::2],
    ):
        assert pack(positions).tobytes() == one_by_one.tobytes()
    assert pack(["startpos"]).tobytes() == pack([chess.Board()]).tobytes()


@pytest.mark.parametrize("kind", ["U", "S", "U200", ">U100", object])
def test_startpos_stands_for_a_fen_in_arrays(kind: object) -> None:
    for given in (["startpos"], ["startpos", *FENS, "startpos"]):
        written = [chess.STARTING_FEN if text == "startpos" else text for text in given]
        array = np.array(given, kind)
        assert pack(array).tobytes() == pack(written).tobytes()
        assert evaluate_many(array).tolist() == evaluate_many(written).tolist()
        assert array.tolist() == np.array(given, kind).tolist()  # the caller's array is as it was


def test_positions_may_come_from_a_generator_that_goes_on_with_the_same_board(monkeypatch: pytest.MonkeyPatch) -> None:
    def game() -> Iterator[chess.Board]:
        board = chess.Board()
        for move in list(board.legal_moves):
            board.push(move)
            yield board
            board.pop()

    fens = [board.fen() for board in game()]
    assert len(set(fens)) > 10
    monkeypatch.setattr(arrays, "_BLOCK", 7)
    for workers in (1, 3):
        assert evaluate_many(game(), workers=workers).tolist() == evaluate_many(fens).tolist()
    assert unpack_fens(pack(game())) == fens


def test_a_damaged_record_is_named_by_its_index_or_has_a_value_of_its_own() -> None:
    records = pack(FENS * 20)
    records["occupied"][1500] = 0
    with pytest.raises(PositionError, match=r"^illegal position 1500: "):
        list(evaluate_iter(records))
    pairs = list(evaluate_iter(records, illegal=-32768))
    assert pairs[1500] == ("", -32768)
    values = evaluate_many(records, illegal=-32768)
    assert [value for _, value in pairs] == values.tolist()
    assert np.flatnonzero(values == -32768).tolist() == [1500]


def test_an_endless_generator_is_evaluated_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def endless() -> Iterator[str]:
        for number in itertools.count():
            taken.append(FENS[number % len(FENS)])
            yield taken[-1]

    monkeypatch.setattr(arrays, "_LAZY_BLOCK", 10)
    expected = list(zip(FENS, evaluate_many(FENS).tolist(), strict=True))
    stream = evaluate_iter(endless(), workers=2)
    assert not taken
    assert list(itertools.islice(stream, len(FENS))) == expected
    assert len(taken) <= len(FENS) + 10 * (2 * 2 * pools._AHEAD + 2)
    stream.close()
    for positions in (pack(FENS), np.array(FENS, "S"), np.array(FENS), iter(FENS)):
        assert list(evaluate_iter(positions)) == expected
    assert list(evaluate_iter(["nonsense"], illegal=3)) == [("nonsense", 3)]
    with pytest.raises(TypeError, match="not one FEN"):
        evaluate_iter(FENS[0])  # at once
    with pytest.raises(PositionError, match="illegal position 11: a FEN must have"):
        list(evaluate_iter([*FENS[:11], "nonsense"]))


def test_no_positions_are_no_error() -> None:
    for nothing in ([], np.array([]), np.array([], "U"), np.zeros(0, PACKED)):
        assert len(evaluate_many(nothing)) == 0
        assert list(evaluate_iter(nothing)) == analyse_many(nothing, Limit(nodes=1)) == []
    assert pack([]).dtype == PACKED and unpack(pack([])) == []


@pytest.mark.parametrize("evaluation", ["classical", "pesto", "nnue", None])
def test_values_are_those_of_evaluate(evaluation: str | None) -> None:
    expected = [evaluate(board, evaluation).centipawns for board in BOARDS]
    for positions in (BOARDS, FENS, np.array(FENS), np.array(FENS, "S"), pack(BOARDS)):
        values = evaluate_many(positions, evaluation)
        assert values.dtype == np.int16
        assert values.tolist() == expected


def test_packed_positions_may_lie_anywhere(tmp_path: Path) -> None:
    records, expected = pack(BOARDS), evaluate_many(FENS, "pesto").tolist()
    file = tmp_path / "positions.bin"
    records.tofile(file)
    frozen = records.copy()
    frozen.setflags(write=False)
    unaligned = np.frombuffer(b"x" + records.tobytes(), np.uint8)[1:].view(PACKED)
    plain = np.dtype([(name, *PACKED.fields[name][:1]) for name in PACKED.names])
    for same in (
        np.memmap(file, PACKED, "r"),
        np.fromfile(file, PACKED),
        np.fromfile(file, plain),
        frozen,
        unaligned,
        np.repeat(records, 2)[::2],
    ):
        assert evaluate_many(same, "pesto").tolist() == expected
        assert unpack_fens(same) == FENS


@pytest.mark.parametrize("workers", [1, 3, None])
@pytest.mark.parametrize("kind", ["fens", "bytes", "packed"])
def test_blocks_and_threads_make_no_difference(workers: int | None, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many = FENS * 3
    positions = {"fens": many, "bytes": np.array(many, "S"), "packed": pack(many)}[kind]
    expected = evaluate_many(FENS, "pesto").tolist() * 3
    monkeypatch.setattr(arrays, "_BLOCK", 7)
    assert evaluate_many(positions, "pesto", workers=workers).tolist() == expected
    assert pack(many).tobytes() == pack(FENS).tobytes() * 3


def bad_ones() -> list[tuple[object, str]]:
    """Give positions that are illegal from number 9 on, and what there is to say about that."""
    broken = pack(FENS[:15])
    broken["pieces"][[9, 12]] = 0xFF
    late = pack(FENS[:15])
    late["fullmove"][9] = 10_000
    good = FENS[:9]
    return [
        (late, "illegal position 9: "),
        (broken, "illegal position 9: the record does not describe a position"),
        ([*good, "nonsense", "more"], "illegal position 9: a FEN must have 4 to 6 fields, not 1 (nonsense)"),
        (np.array([*good, "nonsense"]), "illegal position 9: a FEN must have 4 to 6 fields, not 1 (nonsense)"),
        (np.array([*good, "nonsense"], "S"), "illegal position 9: a FEN must have 4 to 6 fields, not 1 (nonsense)"),
        ([*good, IN_CHECK], "illegal position 9: the side that is not to move is in check"),
        ([*good, chess.Board(None)], "illegal position 9: White has 0 kings"),
        (
            [*good, FENS[0].replace("/", "\N{DIVISION SLASH}", 1)],
            "illegal position 9: the board must have 8 ranks, not 7",
        ),
        (np.array([*good, "\N{WHITE CHESS KING}7/8"]), "illegal position 9: a FEN must have"),
        ([*good, ""], "illegal position 9: a FEN must have 4 to 6 fields, not 0"),
        ([*good, chess.variant.AtomicBoard()], "illegal position 9: atomic is not supported"),
    ]


@pytest.mark.parametrize("space", ["\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}", "\x85"])
def test_white_space_that_is_not_ascii_separates_fields(space: str) -> None:
    texts = [fen.replace(" ", space) for fen in FENS]
    assert pack(texts).tobytes() == pack(np.array(texts)).tobytes() == pack(FENS).tobytes()


def test_a_move_number_that_no_fen_has_is_refused() -> None:
    late = pack(FENS[:3])
    late["fullmove"][1] = 10_000
    with pytest.raises(PositionError, match="illegal position 1: the move number must be at most 9999, not 10000"):
        unpack(late)
    assert evaluate_many(late, "pesto", illegal=-32768).tolist().index(-32768) == 1


@pytest.mark.parametrize(("positions", "message"), bad_ones())
@pytest.mark.parametrize("block", [4, 1000])
def test_illegal_positions_are_named(
    positions: object, message: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "_BLOCK", block)
    with pytest.raises(PositionError, match=re.escape(message)):
        evaluate_many(positions)
    with pytest.raises(PositionError, match=re.escape(message)):
        evaluate_many(positions, workers=3)
    if not (isinstance(positions, np.ndarray) and positions.dtype == PACKED):
        with pytest.raises(PositionError, match=re.escape(message)):
            pack(positions)


def test_illegal_positions_may_have_a_value() -> None:
    strange = chess.Board()
    strange.ep_square = 99
    wrong = ["nonsense", IN_CHECK, chess.variant.AtomicBoard(), strange]
    one_by_one = [value for _, value in evaluate_iter(wrong, illegal=-32_768)]
    assert evaluate_many(wrong, illegal=-32_768).tolist() == one_by_one == [-32_768] * len(wrong)
    values = evaluate_many([FENS[0], "nonsense", FENS[1], IN_CHECK], illegal=-32_768)
    assert values.tolist() == [*evaluate_many(FENS[:1]), -32_768, *evaluate_many(FENS[1:2]), -32_768]
    assert evaluate_many(np.zeros(3, PACKED), illegal=7).tolist() == [7, 7, 7]


def test_a_record_whose_king_can_be_taken_is_not_unpacked() -> None:
    records = pack(["startpos", "4k3/8/8/8/8/8/8/4RK2 b - - 0 1"])
    records["stm_ep"][1] &= 127  # White to move
    for function in (unpack, unpack_fens):
        with pytest.raises(PositionError, match=r"^illegal position 1: the side that is not to move is in check \("):
            function(records)


def test_records_without_kings_are_not_unpacked() -> None:
    records = pack(FENS[:3])
    records["pieces"][1] = 0
    with pytest.raises(PositionError, match="illegal position 1: a packed position has impossible pieces"):
        unpack(records)


@pytest.mark.parametrize("wrong", [FENS[0], np.zeros(3), np.zeros((2, 2), "U9"), [None], [3], 5, BOARDS[0]])
def test_other_types_are_refused(wrong: object) -> None:
    for function in (evaluate_many, pack, lambda positions: list(evaluate_iter(positions))):
        with pytest.raises((TypeError, ValueError)):
            function(wrong)


def test_a_record_of_another_layout_is_no_packed_position() -> None:
    records = pack(FENS[:3])
    other = np.dtype({"names": PACKED.names, "formats": ["u1"] * len(PACKED.names), "itemsize": PACKED.itemsize})
    for wrong in (np.zeros(3, other), records.view("V32"), records.view(np.uint8)):
        for function in (unpack, unpack_fens, evaluate_many, pack):
            with pytest.raises(TypeError, match=r"expected an array of .*packed positions"):
                function(wrong)
    for wrong in (records.reshape(1, 3), records[:1].reshape(())):
        for function in (unpack, unpack_fens, evaluate_many, evaluate_iter, pack):
            with pytest.raises(ValueError, match="an array of positions must have one dimension, not "):
                function(wrong)
        for search in (analyse_many, analyse_iter):
            with pytest.raises(ValueError, match="an array of positions must have one dimension, not "):
                search(wrong, Limit(nodes=1))


def test_a_table_is_no_list_of_positions() -> None:
    import pandas

    frame = pandas.DataFrame({"fen": FENS[:3]})
    for function in (pack, partial(evaluate_many, illegal=0), partial(evaluate_iter, illegal=0)):
        with pytest.raises(ValueError, match=r"^an array of positions must have one dimension, not 2$"):
            function(frame)
    assert evaluate_many(frame["fen"]).tolist() == evaluate_many(FENS[:3]).tolist()


def test_packed_positions_of_the_other_byte_order_are_the_same_positions() -> None:
    records = pack(BOARDS)
    swapped = records.astype(PACKED.newbyteorder(">"))
    assert swapped.tobytes() != records.tobytes()
    assert pack(swapped).tobytes() == records.tobytes()
    assert unpack_fens(swapped) == FENS
    assert evaluate_many(swapped).tolist() == evaluate_many(records).tolist()


@pytest.mark.filterwarnings("ignore::knightadder.PositionWarning")  # boards have rights that need Chess960
def test_damaged_records_are_refused_or_are_positions() -> None:
    chance = np.random.default_rng(1)
    raw = np.tile(pack(FENS[:4]), 300).view(np.uint8).reshape(-1, PACKED.itemsize)
    for row in raw:
        row[chance.integers(0, PACKED.itemsize, chance.integers(1, 4))] = chance.integers(0, 256)
    records = raw.view(PACKED).ravel()
    assert evaluate_many(records, illegal=-32_768).shape == (1200,)
    boards = []
    for record in records.reshape(-1, 1):
        with contextlib.suppress(PositionError):
            [board] = unpack(record)
            legal_moves(board)
            boards.append(board)
    assert len(boards) > 10
    assert len(analyse_many(boards, Limit(nodes=10), hash_mb=1)) == len(boards)


@pytest.mark.parametrize("counters", ["0 {}", "{} 1", "{0} {0}"])
@pytest.mark.parametrize("digits", [5, 30, 4299, 4300, 4301, 100_000])
def test_counters_of_many_digits_are_refused(counters: str, digits: int) -> None:
    fen = f"4k3/8/8/8/8/8/8/4K3 w - - {counters.format('9' * digits)}"
    for positions in ([fen], np.array([fen]), np.array([fen], "S"), [chess.Board(fen)] if digits <= 4300 else [fen]):
        for function in (pack, evaluate_many):
            with pytest.raises(PositionError, match=r"illegal position 0: the .* must be a number up to 9999, not '9"):
                function(positions)


@pytest.mark.parametrize("illegal", [40_000, -32_769, 10**400])
def test_a_value_for_illegal_positions_fits(illegal: int) -> None:
    with pytest.raises(ValueError, match="illegal must be at "):
        evaluate_many(["nonsense"], illegal=illegal)
    with pytest.raises(TypeError, match=r"illegal must be a whole number, not 2\.5"):
        evaluate_many(["nonsense"], illegal=2.5)


def test_settings_that_cannot_be() -> None:
    for wrong in (2.5, True, "2"):
        with pytest.raises(TypeError, match="workers must be a whole number, not "):
            evaluate_many(FENS, workers=wrong)
    with pytest.raises(ValueError, match="workers must be at least 1, not 0"):
        evaluate_many(FENS, workers=0)
    with pytest.raises(OptionError, match="not guess"):
        evaluate_many(FENS, "guess")
