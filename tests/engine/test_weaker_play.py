"""A search with a handicap: it keeps all limits, and plays what it reports."""

from collections import Counter

import chess
import numpy as np
import pytest
from searcher import KIWIPETE, STALEMATE, TIMEOUT, Searcher

from knightadder.engine import hashtable
from knightadder.engine.info import Bound
from knightadder.engine.limits import Limits
from knightadder.engine.strength import MAX_ELO, MIN_ELO, handicap_for
from knightadder.native.memory import zeroed_bytes

# Only the handicap limits such a search. A clock would do so too on a slow machine.
FREE = Limits(nodes=10**12)
QUIET = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"


@pytest.fixture
def weak(searcher: Searcher) -> Searcher:
    """Search at the lowest strength."""
    _set(searcher, UCI_LimitStrength="true", UCI_Elo=MIN_ELO)
    searcher.engine.random.seed(1)
    return searcher


def _set(searcher: Searcher, **options: object) -> None:
    for name, value in options.items():
        searcher.engine.set_option(name, str(value))


def test_it_looks_at_few_nodes_and_plays_several_moves(weak: Searcher) -> None:
    moves = Counter()
    for _ in range(20):
        listener = weak.search(FREE, QUIET)
        assert listener.infos[-1].nodes <= handicap_for(MIN_ELO).nodes
        assert listener.infos[-1].pv[0] == listener.result.best_move
        assert listener.infos[-1].multipv == 1
        moves[listener.result.best_move] += 1
    assert len(moves) > 1


def test_a_clock_gives_no_more_nodes(weak: Searcher) -> None:
    listener = weak.search(Limits(wtime=60_000, btime=60_000), QUIET)
    assert listener.infos[-1].nodes <= handicap_for(MIN_ELO).nodes


def test_it_plays_even_if_there_is_little_memory_for_its_own_table(
    weak: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def allocate(bytes_wanted: int) -> np.ndarray:
        if bytes_wanted > 2 << 20:
            raise MemoryError
        return zeroed_bytes(bytes_wanted)

    _set(weak, UCI_Elo=MAX_ELO)
    monkeypatch.setattr(hashtable, "zeroed_bytes", allocate)
    listener = weak.search(Limits(nodes=5000), QUIET)
    assert listener.infos[-1].pv[0] == listener.result.best_move


def test_the_same_seed_plays_the_same(weak: Searcher) -> None:
    games = []
    for _ in range(2):
        weak.engine.random.seed(3)
        games.append([weak.search(Limits(nodes=2000), QUIET).result.best_move for _ in range(10)])
    assert games[0] == games[1]


def test_more_elo_looks_at_more_nodes(weak: Searcher) -> None:
    nodes = []
    for elo in (MIN_ELO, MIN_ELO + 400, MIN_ELO + 800):
        _set(weak, UCI_Elo=elo)
        nodes.append(weak.search(FREE, QUIET).infos[-1].nodes)
    assert nodes == sorted(nodes)
    assert len(set(nodes)) == 3


def test_full_strength_chooses_nothing(searcher: Searcher) -> None:
    _set(searcher, UCI_Elo=MIN_ELO)
    state = searcher.engine.random.getstate()
    assert searcher.search(Limits(nodes=20_000), QUIET).infos[-1].nodes == 20_000
    assert searcher.engine.random.getstate() == state


@pytest.mark.parametrize("threads", [1, 3])
def test_the_users_limits_hold(weak: Searcher, on_large_machine: None, threads: int) -> None:
    _set(weak, UCI_Elo=MAX_ELO, Threads=threads)
    assert weak.search(Limits(nodes=5000), QUIET).infos[-1].nodes <= 5000
    assert max(info.depth for info in weak.search(Limits(depth=3), QUIET).infos) == 3


def test_what_an_analysis_has_found_does_not_help(weak: Searcher) -> None:
    weak.engine.set_position(KIWIPETE, ())
    depths = []
    for limit, limited in ((Limits(nodes=500), "true"), (Limits(depth=12), "false"), (Limits(nodes=500), "true")):
        _set(weak, UCI_LimitStrength=limited, UCI_Elo=MAX_ELO)
        listener = weak.go(limit)
        assert listener.result.best_move
        assert weak.engine.wait(TIMEOUT)
        depths.append(listener.infos[-1].depth)
    assert depths[2] <= depths[0] + 1  # histories may help a little, a hash table would help more


def test_only_the_searchmoves_are_chosen_from(weak: Searcher) -> None:
    names = ("a2a3", "b2b3", "h2h3")
    moves = {weak.search(Limits(nodes=2000, searchmoves=names), QUIET).result.best_move for _ in range(15)}
    assert moves <= set(names)
    assert len(moves) > 1


@pytest.mark.parametrize("lines", [2, 6])
def test_several_lines_are_shown_as_asked_for_and_the_chosen_one_first(weak: Searcher, lines: int) -> None:
    _set(weak, UCI_Elo=1800, MultiPV=lines)
    for _ in range(8):
        listener = weak.search(FREE, QUIET)
        shown = {}
        for info in listener.infos:
            assert info.multipv <= lines
            shown[info.multipv] = info.pv[0]
        assert set(shown) == set(range(1, lines + 1))
        assert len(set(shown.values())) == lines
        assert shown[1] == listener.result.best_move


def test_several_lines_do_not_make_it_weaker(weak: Searcher) -> None:
    _set(weak, UCI_Elo=2500)  # a level without errors, so the searches differ only in their lines
    alone = weak.search(FREE, QUIET).infos[-1].depth
    _set(weak, MultiPV=4)
    assert weak.search(FREE, QUIET).infos[-1].depth >= alone - 1


def test_the_last_line_has_the_chosen_move_and_no_bound(weak: Searcher) -> None:
    _set(weak, UCI_Elo=MAX_ELO)
    for nodes in range(1000, 60_000, 997):
        listener = weak.search(Limits(nodes=nodes), KIWIPETE)
        last = listener.infos[-1]
        assert (last.pv[0], last.bound) == (listener.result.best_move, Bound.EXACT)


def _share(searcher: Searcher, elo: int, fen: str, move: str, searches: int = 60) -> float:
    """Return how often a level plays a move."""
    _set(searcher, UCI_Elo=elo)
    return sum(searcher.search(FREE, fen).result.best_move == move for _ in range(searches)) / searches


# A queen that hangs to a rook two squares away, to a bishop across the board, and to one that must go back for it.
NEAR = "6k1/5ppp/8/3q4/8/3R4/5PPP/6K1 w - - 0 1"
LONG_DIAGONAL = "q5k1/5ppp/8/8/8/8/5PBP/6K1 w - - 0 1"
BACKWARD = "6k1/5ppp/8/8/3B4/8/1q3PPP/6K1 w - - 0 1"


def test_errors_are_those_of_people(weak: Searcher) -> None:
    near = _share(weak, 600, NEAR, "d3d5")
    assert near > 0.6  # even a beginner sees it more often than not
    assert _share(weak, 1800, NEAR, "d3d5") > 0.95
    for hidden in (_share(weak, 600, LONG_DIAGONAL, "g2a8"), _share(weak, 600, BACKWARD, "d4b2")):
        assert hidden < near - 0.1


def test_a_recapture_is_never_overlooked(weak: Searcher) -> None:
    exchange = "3q2k1/5ppp/8/3R4/8/2N5/5PPP/6K1 b - - 0 1"
    assert {weak.search(FREE, exchange, ("d8d5",)).result.best_move for _ in range(30)} == {"c3d5"}


@pytest.mark.parametrize("fen", ["8/8/8/4k3/8/8/8/KR6 w - - 0 1", "8/8/8/4k3/8/8/8/KQ6 w - - 0 1"])
def test_the_lowest_level_mates_a_bare_king_at_once(weak: Searcher, fen: str) -> None:
    board = chess.Board(fen)
    while not board.is_game_over():
        listener = weak.search(FREE, fen, tuple(move.uci() for move in board.move_stack))
        assert listener.infos[-1].nodes <= 20_000
        board.push_uci(listener.result.best_move)
    assert board.is_checkmate()
    assert board.ply() <= 40


def test_a_forced_move_and_none(weak: Searcher) -> None:
    assert weak.search(Limits(nodes=100), "7k/R7/8/8/8/8/8/1R2K3 b - - 0 1").result.best_move == "h8g8"
    assert weak.search(Limits(nodes=100), STALEMATE).result.best_move is None


def test_the_ponder_move_answers_the_chosen_one(weak: Searcher) -> None:
    _set(weak, UCI_Elo=1800)
    for _ in range(10):
        result = weak.search(FREE, QUIET).result
        board = chess.Board(QUIET)
        board.push_uci(result.best_move)
        assert result.ponder is None or chess.Move.from_uci(result.ponder) in board.legal_moves
