"""Games as the stream tells them."""

import contextlib

import chess
import pytest

from knightadder.lichess.api_errors import Unreachable
from knightadder.lichess.game_state import read_info, read_state


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


def test_black_may_have_the_first_move():
    info = read_info(full("white", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "fromPosition"), "adder")
    assert not info.my_turn(read_state(state()))
    assert info.my_turn(read_state(state("e8e7")))


def test_an_opponent_without_an_account_is_the_servers_own_engine():
    event = full("black", white={"aiLevel": 3})
    info = read_info(event, "adder")
    assert (info.colour, info.opponent) == (chess.BLACK, "Lichess AI level 3")


def test_offers_and_the_winner():
    now = read_state(state(wdraw=True, btakeback=True, status="mate", winner="black"))
    assert now.draw_offers == {chess.WHITE}
    assert now.takeback_offers == {chess.BLACK}
    assert now.over and now.winner == chess.BLACK


def test_castling_rights_and_en_passant_squares_that_mean_nothing_are_left_out():
    board = read_info(full(fen="4k3/8/8/8/8/8/4P3/4K2R w KQkq e3 0 1"), "adder").start
    assert board.is_valid()
    assert board.fen() == "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1"


@pytest.mark.parametrize("moves", ["e2e5", "e2e4 nonsense", "0000", "e2e4 0000"])
def test_moves_that_are_not_legal_count_as_not_said(moves):
    with pytest.raises(Unreachable, match=f"not legal: {moves.split()[-1]}"):
        read_info(full(), "adder").board(read_state(state(moves)))


STRANGE = [None, True, 3, 2.5, -1, float("nan"), float("inf"), 10**400, 1e300, [], [1], {}, {"a": 1}, "nonsense", "\0"]
TEXTS, OBJECTS, TIMES = ["nonsense", "\0"], [{}, {"a": 1}], [3, 2.5, -1]


def _read(read, event, name):
    """Give what is read of an event with each strange value in a field, for the values that do not count as not said.

    The event with its own value has to be read, and an event without the field must not be, unless None is accepted.
    """
    assert read(event)
    found = []
    for strange in STRANGE:
        with contextlib.suppress(Unreachable):
            found.append((strange, read({**event, name: strange})))
    if None not in [strange for strange, _ in found]:
        with pytest.raises(Unreachable):
            read({key: value for key, value in event.items() if key != name})
    return found


@pytest.mark.parametrize(
    ("name", "accepted"),
    [("variant", []), ("speed", TEXTS), ("white", STRANGE), ("black", OBJECTS), ("initialFen", [])],
)
def test_a_game_that_is_described_strangely_or_in_part(name, accepted):
    found = _read(
        lambda event: read_info(event, "adder"), full(), name
    )  # the bot is White, whom nothing is asked about
    assert [strange for strange, _ in found] == accepted
    for strange, info in found:
        assert (info.colour, info.variant) == (chess.WHITE, "standard")
        assert info.speed == (strange if name == "speed" else "blitz")
        assert info.opponent == ("Lichess AI level None" if name == "black" else "Rival")


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        *((name, TEXTS) for name in ("moves", "status")),
        *((name, TIMES) for name in ("wtime", "btime", "winc", "binc")),
        ("winner", [strange for strange in STRANGE if not isinstance(strange, (list, dict))]),
        ("wdraw", STRANGE),
    ],
)
def test_a_state_that_is_described_strangely_or_in_part(name, accepted):
    found = _read(read_state, state(), name)
    assert [strange for strange, _ in found] == accepted
    for strange, now in found:
        assert now.over == (name == "status") and now.winner is None
        assert now.moves == ((strange,) if name == "moves" else ())
        assert now.clocks[0] == (strange / 1000 if name == "wtime" else 61.5)
        assert now.draw_offers == ({chess.WHITE} if name == "wdraw" and strange else set())


def test_other_things_than_objects_count_as_not_said():
    assert read_state(state()) and read_info(full(), "adder")
    for strange in STRANGE:
        with pytest.raises(Unreachable):
            read_state(strange)
    for broken in ({}, {**full(), "variant": None}, full(fen="nonsense"), full(black="nobody")):
        with pytest.raises(Unreachable):
            read_info(broken, "adder")
