"""The engine as its users see it: options, positions, and what may be done when."""

import _thread
import sys
import threading

import chess
import numpy as np
import pytest
from searcher import TIMEOUT, Searcher
from waiting import eventually

from knightadder.engine import hashtable
from knightadder.engine.engine import Engine
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.info import Ending
from knightadder.engine.limits import Limits
from knightadder.native.memory import zeroed_bytes

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def test_while_a_search_runs_only_stop_and_what_reads_may_be_called(searcher: Searcher) -> None:
    engine = searcher.engine
    listener = searcher.start(Limits(infinite=True), KIWIPETE)
    assert engine.searching
    assert not engine.wait(0.01)
    for forbidden in (
        lambda: engine.set_position(),
        lambda: engine.new_game(),
        lambda: engine.set_option("Hash", "2"),
        lambda: engine.perft(1),
        lambda: searcher.go(Limits(depth=1)),
    ):
        with pytest.raises(EngineError, match=r"^the engine is searching$"):
            forbidden()
    assert engine.fen() == KIWIPETE
    assert len(engine.legal_moves()) == 48
    assert KIWIPETE in engine.diagram()
    engine.stop()
    assert listener.result.best_move in engine.legal_moves()
    assert engine.wait(TIMEOUT)
    assert not engine.searching


def test_ctrl_c_ends_a_wait_on_systems_where_it_interrupts_no_lock(searcher: Searcher) -> None:
    def interrupt() -> None:
        begins.wait()
        eventually(lambda: sys._current_frames()[main].f_code.co_name == "wait")
        _thread.interrupt_main()  # interrupts no lock on any system
        if not ended.wait(TIMEOUT):
            searcher.engine.stop()

    main, begins, ended = threading.get_ident(), threading.Event(), threading.Event()
    searcher.start(Limits(infinite=True), KIWIPETE)
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        begins.set()
        searcher.engine.wait()
    ended.set()
    thread.join()
    assert searcher.engine.searching
    searcher.engine.stop()


@pytest.mark.parametrize(
    ("fen", "moves", "ending"),
    [
        (KIWIPETE, [], None),
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", [], Ending.CHECKMATE),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", [], Ending.STALEMATE),
        ("4k3/8/8/8/8/8/8/4K2R w - - 99 80", ["h1h2"], Ending.FIFTY_MOVES),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 99 80", ["a1a8"], Ending.CHECKMATE),
        (None, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, Ending.REPETITION),
        (None, ["g1f3", "g8f6", "f3g1", "f6g8"], None),
        ("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1", ["e1d2"], Ending.DEAD_POSITION),
    ],
)
def test_the_end_of_a_game_is_known(engine: Engine, fen: str | None, moves: list[str], ending: Ending | None) -> None:
    engine.set_position(fen, moves)
    assert engine.ending() is ending


def test_a_book_whose_name_is_no_file_name_is_refused(engine: Engine) -> None:
    for name in ("BookFile", "bookfile", "SyzygyPath"):
        with pytest.raises(OptionError, match="one line of text"):
            engine.set_option(name, "a\0b")


def test_a_hundred_thousand_moves_are_no_burden(searcher: Searcher) -> None:
    engine = searcher.engine
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"] * 25_000
    engine.set_position(None, shuffle)
    assert engine.fen() == chess.STARTING_FEN.replace("0 1", "100000 50001")
    moves = [f"{move}{number}" for number, move in enumerate(shuffle)]
    listener = searcher.search(Limits(depth=2, searchmoves=(*shuffle, *moves, "e2e4")))
    assert listener.result.best_move in ("g1f3", "e2e4")


def test_stop_and_ponderhit_do_nothing_to_an_idle_engine(searcher: Searcher) -> None:
    engine = searcher.engine
    for _ in range(2):
        engine.stop()
        engine.ponderhit()
        assert engine.wait(0)
        assert searcher.search(Limits(depth=3)).infos[-1].depth == 3
        assert engine.perft(2) == dict.fromkeys(engine.legal_moves(), 20)


def test_perft_ends_early_on_stop(engine: Engine) -> None:
    counts: list[dict[str, int]] = []
    counting = threading.Thread(target=lambda: counts.append(engine.perft(30)))
    counting.start()
    while counting.is_alive():
        engine.stop()
        counting.join(0.05)
    assert len(counts) == 1
    assert engine.perft(1, bulk=False) == dict.fromkeys(engine.legal_moves(), 1)


@pytest.mark.parametrize("megabytes", ["1", "40", "200", "1"])
def test_the_hash_table_changes_its_size(searcher: Searcher, megabytes: str) -> None:
    searcher.engine.set_option("Hash", megabytes)
    listener = searcher.search(Limits(nodes=100_000), KIWIPETE)
    # A thousand entries are looked at; a search of so many nodes leaves more in a small table.
    assert (listener.infos[-1].hashfull > 50) == (megabytes == "1")
    assert searcher.engine.options.hash_mb == int(megabytes)


def test_too_large_a_hash_table_is_refused_and_the_old_one_stays(searcher: Searcher) -> None:
    engine = searcher.engine
    engine.set_option("Hash", "1")
    searcher.search(Limits(depth=5), KIWIPETE)
    with pytest.raises(OptionError, match=r"^not enough memory for a hash table of 33554432 MB$"):
        engine.set_option("Hash", "33554432")
    assert engine.options.hash_mb == 1
    again = searcher.go(Limits(depth=5))
    assert again.result.best_move in engine.legal_moves()
    engine.wait()
    engine.new_game()
    fresh = searcher.go(Limits(depth=5))
    assert fresh.result.info is not None
    assert again.result.info is not None
    assert again.result.info.nodes < fresh.result.info.nodes / 2  # it remembered


@pytest.mark.parametrize(("available", "size"), [(50, 40), (39, 1), (0, 40)])
def test_if_there_is_no_memory_for_a_table_the_old_size_or_the_least_is_used_or_the_old_table(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, available: int, size: int
) -> None:
    def allocate(bytes_wanted: int) -> np.ndarray:
        if bytes_wanted > available << 20:
            raise MemoryError
        return zeroed_bytes(bytes_wanted)

    engine = searcher.engine
    engine.set_option("Hash", "40")
    monkeypatch.setattr(hashtable, "zeroed_bytes", allocate)
    message = f"^not enough memory for a hash table of 200 MB: its size is now {size} MB$"
    for _ in range(2):
        with pytest.raises(OptionError, match=message):
            engine.set_option("Hash", "200")
        assert engine.options.hash_mb == size
        assert searcher.search(Limits(depth=5), KIWIPETE).result.best_move in engine.legal_moves()
    monkeypatch.undo()
    engine.set_option("Hash", "200")
    assert engine.options.hash_mb == 200


def test_clear_hash_forgets_and_so_does_a_new_game_altogether(searcher: Searcher) -> None:
    engine = searcher.engine

    def nodes() -> int:
        info = searcher.go(Limits(depth=5)).result.info
        engine.wait()
        assert info is not None
        return info.nodes

    engine.set_position(KIWIPETE)
    first = nodes()
    assert nodes() < first / 2
    engine.set_option("Clear Hash", None)
    assert nodes() > first / 2  # not the same, since the history of moves stays
    engine.new_game()
    assert nodes() == first


def test_chess960_changes_how_castling_is_written(searcher: Searcher) -> None:
    engine = searcher.engine
    engine.set_position("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert {"e1g1", "e1c1"} < set(engine.legal_moves())
    engine.set_option("UCI_Chess960", "true")
    assert {"e1h1", "e1a1"} < set(engine.legal_moves())
    assert engine.fen() == "4k3/8/8/8/8/8/8/R3K2R w HA - 0 1"
    listener = searcher.go(Limits(depth=2, searchmoves=("e1h1",)))
    assert listener.result.best_move == "e1h1"
    assert listener.infos[-1].pv[0] == "e1h1"


def test_the_evaluation_is_from_whites_view(engine: Engine) -> None:
    up_a_rook = "4k3/8/8/8/8/8/8/R3K3 {} - - 0 1"
    for fen in (up_a_rook.format("w"), up_a_rook.format("b")):
        engine.set_position(fen)
        *_, total = engine.evaluation().splitlines()
        assert total.startswith("Evaluation: +")
        engine.set_position(chess.Board(fen).mirror().fen())
        assert engine.evaluation().splitlines()[-1] == total.replace("+", "-")
    engine.set_position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1")
    assert engine.evaluation() == "Evaluation: none (in check)"


def test_the_evaluation_can_be_chosen(engine: Engine) -> None:
    board = chess.Board("r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 8")
    engine.set_option("EvalType", "pesto")
    engine.set_position(board.fen())
    plain = engine.evaluation()
    engine.set_option("EvalType", "classical")
    assert plain.startswith("Worth of each piece") and "Material" not in plain
    table = engine.evaluation()
    *_, total = table.splitlines()
    assert plain.splitlines()[0] in table.splitlines()
    assert {"Material", "Pawns", "Mobility", "King", "Threats"} <= {line.split("  ")[0] for line in table.splitlines()}
    assert total.endswith("(white side, classical)")
    # The position is symmetric but for the move, and the game's sums were made anew with the tables.
    again = Engine(engine.options)
    again.set_position(board.fen())
    assert again.evaluation() == table
    again.close()
    engine.set_position(board.mirror().fen())
    assert engine.evaluation().splitlines()[-1] == total.replace("+", "-")
    engine.set_option("EvalType", "pesto")
    engine.set_position(board.fen())
    assert engine.evaluation() == plain


def test_warming_up_leaves_no_trace(engine: Engine) -> None:
    fresh = Engine()
    fresh.warm_up()
    assert fresh.fen() == engine.fen()
    first, second = (Searcher(each).go(Limits(depth=8)).result.info for each in (engine, fresh))
    fresh.close()
    assert first is not None
    assert second is not None
    assert (first.nodes, first.pv) == (second.nodes, second.pv)


def test_two_engines_do_not_disturb_each_other(searcher: Searcher) -> None:
    alone = searcher.search(Limits(depth=9), KIWIPETE).result.info
    other = Searcher(Engine())
    background = other.start(Limits(infinite=True))
    beside = searcher.search(Limits(depth=9), KIWIPETE).result.info
    other.engine.close()
    assert background.result.best_move is not None
    assert alone is not None
    assert beside is not None
    assert (beside.nodes, beside.pv) == (alone.nodes, alone.pv)
