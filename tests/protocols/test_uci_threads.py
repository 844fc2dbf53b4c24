"""Several search threads, end to end: whatever ends a search ends all of them."""

import chess
import pytest
from uci_driver import UciProcess

THREADS = "setoption name Threads value 3"


@pytest.mark.parametrize("command", ["quit", None])
def test_quit_and_the_end_of_input_end_the_process(command: str | None) -> None:
    with UciProcess() as uci:
        uci.ask(THREADS)
        uci.send("go infinite")
        uci.read_until("info depth 5")
        if command is None:
            uci.end_input()
        else:
            uci.send(command)
        status, lines = uci.wait()
        assert status == 0
        if command is None:
            assert lines[-1].startswith("bestmove")
        assert uci.errors() == ""


def test_game_after_game_on_a_short_clock() -> None:
    board = chess.Board()
    with UciProcess() as uci:
        uci.ask(THREADS)
        for ply in range(60):
            if board.is_game_over():
                break
            if ply % 20 == 0:
                uci.send("ucinewgame")
            moves = " ".join(move.uci() for move in board.move_stack)
            search = uci.search(f"position startpos moves {moves}", "go wtime 300 btime 300 winc 10 binc 10")
            last = [analysis for analysis in search.analysis if analysis.multipv == 1][-1]
            assert last.pv[0] == search.best_move
            board.push_uci(search.best_move)
            if search.ponder_move is not None:
                assert chess.Move.from_uci(search.ponder_move) in board.legal_moves
