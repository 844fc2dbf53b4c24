"""Games as the stream tells them."""

import contextlib

import chess
import pytest

from knightadder.lichess.errors import Unreachable
from knightadder.lichess.game_state import read_info, read_state, starting_board


def full(colour="white", fen="startpos", variant="standard", **other):
    me, rival = {"id": "adder", "name": "Adder"}, {"id": "rival", "name": "Rival"}
    return {
        "variant": {"key": variant},
        "speed": "blitz",
        "white": me if colour == "white" else rival,
        "black": rival if colour == "white" else me,
        "initialFen": fen,
        **other,
    }


def state(moves="", **other):
    return {"moves": moves, "wtime": 61500, "btime": 2000, "winc": 1000, "binc": 0, "status": "started", **other}


def test_sides_and_clocks():
    info = read_info(full("black"), "adder")
    assert (info.colour, info.opponent) == (chess.BLACK, "Rival")
    assert read_info(full("white"), "adder").colour == chess.WHITE
    now = read_state(state("e2e4"))
    assert (now.clocks, now.increments, now.over) == ((61.5, 2.0), (1.0, 0.0), False)
    assert info.my_turn(now)
    assert not info.my_turn(read_state(state("e2e4 e7e5")))
    assert not info.my_turn(read_state(state("e2e4", status="resign", winner="white")))


def test_an_opponent_without_an_account_is_the_servers_own_engine():
    event = full("black", white={"aiLevel": 3})
    info = read_info(event, "adder")
    assert (info.colour, info.opponent) == (chess.BLACK, "Lichess AI level 3")


def test_offers_and_the_winner():
    now = read_state(state(wdraw=True, btakeback=True, status="mate", winner="black"))
    assert now.draw_offers == {chess.WHITE}
    assert now.takeback_offers == {chess.BLACK}
    assert now.over and now.winner == chess.BLACK


def test_whose_turn_it_is_depends_on_the_first_to_move():
    info = read_info(full("white", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "fromPosition"), "adder")
    assert not info.my_turn(read_state(state()))
    assert info.my_turn(read_state(state("e8e7")))


@pytest.mark.parametrize(
    ("fen", "chess960", "notations"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", False, ("e1g1", "e1h1")),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", True, ("e1h1", "e1g1")),
        ("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", False, ("e1g1",)),  # can only be written as in Chess960
        ("4k3/8/8/8/8/8/8/1RK3R1 w GB - 0 1", True, ("c1g1",)),
    ],
)
def test_castling_is_written_as_the_game_has_it_and_understood_in_both_notations(fen, chess960, notations):
    board = starting_board(fen, chess960)
    short = board.parse_san("O-O")
    assert board.uci(short) == notations[0]
    assert {board.parse_uci(notation) for notation in notations} == {short}


def test_castling_rights_and_en_passant_squares_that_mean_nothing_are_left_out():
    board = starting_board("4k3/8/8/8/8/8/4P3/4K2R w KQkq e3 0 1")
    assert board.is_valid()
    assert board.fen() == "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1"


def test_the_board_has_the_moves():
    info = read_info(full(), "adder")
    board = info.board(read_state(state("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")))
    assert board.is_repetition(3)
    assert info.start.move_stack == []


@pytest.mark.parametrize("moves", ["e2e5", "e2e4 nonsense", "0000", "e2e4 0000"])
def test_moves_that_are_not_legal_count_as_not_said(moves):
    with pytest.raises(Unreachable, match=f"not legal: {moves.split()[-1]}"):
        read_info(full(), "adder").board(read_state(state(moves)))


STRANGE = [None, True, 3, 2.5, -1, float("nan"), float("inf"), 10**400, 1e300, [], [1], {}, {"a": 1}, "nonsense", "\0"]
TEXTS = [strange for strange in STRANGE if isinstance(strange, str)]
OBJECTS = [strange for strange in STRANGE if isinstance(strange, dict)]
TIMES = [3, 2.5, -1]
HASHABLE = [strange for strange in STRANGE if not isinstance(strange, (list, dict))]


def _cases(accepted):
    """Make a case of each field with each strange value, and of each field that is missing."""
    return [
        pytest.param(name, strange, strange in values, id=f"{name}={strange!r:.12}")
        for name, values in accepted.items()
        for strange in STRANGE
    ]


def _try(read, *arguments):
    """Return what is read, or None where the server counts as not having said it."""
    with contextlib.suppress(Unreachable):
        return read(*arguments)
    return None


@pytest.mark.parametrize(
    ("name", "strange", "accepted"),
    _cases({"variant": [], "speed": TEXTS, "white": STRANGE, "black": OBJECTS, "initialFen": []}),
)
def test_a_game_that_is_described_strangely(name, strange, accepted):
    info = _try(read_info, {**full(), name: strange}, "adder")  # the bot is White, whom nothing is asked about
    assert (info is not None) == accepted
    if info:
        assert (info.colour, info.variant) == (chess.WHITE, "standard")
        assert info.speed == (strange if name == "speed" else "blitz")
        assert info.opponent == ("Lichess AI level None" if name == "black" else "Rival")


@pytest.mark.parametrize(
    ("name", "strange", "accepted"),
    _cases(
        {
            **dict.fromkeys(("moves", "status"), TEXTS),
            **dict.fromkeys(("wtime", "btime", "winc", "binc"), TIMES),
            "winner": HASHABLE,
            "wdraw": STRANGE,
        }
    ),
)
def test_a_state_that_is_described_strangely(name, strange, accepted):
    now = _try(read_state, {**state(), name: strange})
    assert (now is not None) == accepted
    if now:
        assert now.over == (name == "status") and now.winner is None
        assert now.moves == ((strange,) if name == "moves" else ())
        assert now.clocks[0] == (strange / 1000 if name == "wtime" else 61.5)
        assert now.draw_offers == ({chess.WHITE} if name == "wdraw" and strange else set())


@pytest.mark.parametrize("name", ["variant", "speed", "black", "initialFen"])
def test_a_game_that_is_described_in_part_counts_as_not_said(name):
    with pytest.raises(Unreachable):
        read_info({key: value for key, value in full().items() if key != name}, "adder")


@pytest.mark.parametrize("name", ["moves", "wtime", "btime", "winc", "binc", "status"])
def test_a_state_that_is_described_in_part_counts_as_not_said(name):
    with pytest.raises(Unreachable):
        read_state({key: value for key, value in state().items() if key != name})


def test_other_things_than_objects_count_as_not_said():
    for strange in STRANGE:
        with pytest.raises(Unreachable):
            read_state(strange)
    for broken in ({}, {**full(), "variant": None}, full(fen="nonsense"), full(black="nobody")):
        with pytest.raises(Unreachable):
            read_info(broken, "adder")
