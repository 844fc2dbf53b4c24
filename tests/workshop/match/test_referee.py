"""One game: rules, clocks, faults, adjudication and warnings, with engines that misbehave on purpose."""

import itertools
import re

import chess
import pytest

from knightadder.engine.errors import OptionError
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.workshop.match import referee, search_info
from knightadder.workshop.match.referee import (
    ChessPlayer,
    DrawRule,
    ResignRule,
    Rules,
    open_tablebases,
    play_game,
    rule_result,
)
from knightadder.workshop.match.time_control import Allowance, TimeControl
from knightadder.workshop.opening_book import BookLine

SHORT = Rules(max_moves=4)
NODES = Allowance(nodes=1)
ENDING = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"


@pytest.fixture
def play(start_fake):
    """Play a game of two fake engines, given by their arguments."""

    def play(white=(), black=(), opening=None, rules=SHORT, limits=NODES):
        players = [ChessPlayer(start_fake(*words), limits) for words in (white, black)]
        return play_game(*players, opening or BookLine(), rules)

    return play


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        (chess.STARTING_FEN, None),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", (1.0, "White mates")),
        ("4k3/8/8/8/8/8/5PPP/r5K1 w - - 0 1", (0.0, "Black mates")),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", (0.5, "draw by stalemate")),
        ("4k3/8/8/8/8/8/8/B3K3 w - - 0 1", (0.5, "draw by insufficient material")),
        ("4k3/8/8/8/8/8/8/R3K3 b - - 99 80", None),
        ("4k3/8/8/8/8/8/8/R3K3 b - - 100 80", (0.5, "draw by the fifty-move rule")),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 80", (1.0, "White mates")),
    ],
)
def test_the_rules_of_chess(fen, expected):
    assert rule_result(chess.Board(fen)) == expected


def test_a_game_is_legal_from_its_opening_to_its_end(play):
    opening = BookLine(moves=("e2e4", "e7e5"))
    game = play(opening=opening, rules=Rules(max_moves=60))
    board = opening.board()
    for move in game.moves:
        assert rule_result(board) is None
        board.push_uci(move.uci)
    assert game.reason == "draw by adjudication: too many moves" or rule_result(board) == (
        game.white_points,
        game.reason,
    )
    assert game.fault is None
    assert not game.warnings
    assert (game.moves[0].info.score.cp, game.moves[0].info.depth, game.moves[0].info.nodes) == (20, 1, 20)


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        ("crash", "crash", "status 3: Oops: broken"),
        ("illegal", "illegal", "bestmove a1a1 in "),
        ("none", "illegal", r"bestmove \(none\) in "),
    ],
)
@pytest.mark.parametrize("white", [True, False])
def test_faults_lose(play, action, kind, text, white):
    guilty = (f"do={action}", "at=2")
    game = play(*((guilty, ()) if white else ((), guilty)))
    assert (game.fault.white, game.fault.kind) == (white, kind)
    assert game.white_points == (0.0 if white else 1.0)
    assert game.result == ("0-1" if white else "1-0")
    assert len(game.moves) == (2 if white else 3)
    assert re.search(text, game.fault.text)


def test_silence_loses(start_fake, monkeypatch):
    white, black = start_fake(), start_fake("do=silent", "at=2")
    real, waits = black.read_until, []

    def read_until(prefix, timeout):
        waits.append((prefix, timeout))
        return real(prefix, 0.01 if len(waits) == 3 else timeout)  # only where it is silent

    monkeypatch.setattr(black, "read_until", read_until)
    game = play_game(ChessPlayer(white, NODES), ChessPlayer(black, Allowance(move_time=1000)), BookLine(), SHORT)
    assert (game.fault.white, game.fault.kind, game.fault.text) == (False, "silent", "no bestmove within 0.01 s")
    assert (game.white_points, len(game.moves)) == (1.0, 3)
    assert waits == [("readyok", 60.0), ("bestmove", 1060.0), ("bestmove", 1060.0)]
    black.process.wait(60)


@pytest.fixture
def late_black(monkeypatch):
    """Let White's moves take 0.1 s by the referee's watch, and Black's 0.3 s."""
    seconds = itertools.accumulate(itertools.cycle((0.0, 0.1, 0.0, 0.3)))
    monkeypatch.setattr(referee, "perf_counter", lambda: next(seconds))


@pytest.mark.parametrize(
    ("limits", "moves"), [(Allowance(TimeControl(0.5), margin=0.05), 4), (Allowance(move_time=0.2, margin=0.05), 2)]
)
def test_a_late_move_loses_on_time(play, late_black, limits, moves):
    game = play(limits=limits)
    assert (game.fault.white, game.fault.kind, game.white_points) == (False, "time", 1.0)
    assert game.lowest[False] == pytest.approx(-0.1)
    assert len(game.moves) == moves  # the last was made, but too late


@pytest.mark.parametrize(
    ("limits", "lowest"),
    [
        (Allowance(TimeControl(0.35, 0.3)), (0.25, 0.05)),
        (Allowance(TimeControl(0.28, 0.3)), (0.18, -0.02)),
        (Allowance(TimeControl(0.65, 0, 2)), (0.45, 0.05)),
        (Allowance(move_time=0.26), (0.16, -0.04)),
    ],
)
def test_in_time_and_within_the_margin_the_flag_stays_up(play, late_black, limits, lowest):
    game = play(limits=limits)
    assert game.fault is None
    assert (game.lowest[True], game.lowest[False]) == pytest.approx(lowest)
    assert [move.seconds for move in game.moves] == pytest.approx([0.1, 0.3] * 4)


def test_clocks_are_told(play, start_fake, monkeypatch):
    white, black = start_fake(), start_fake()
    sent, others = [], []
    for client, told in ((white, sent), (black, others)):
        real = client.send
        monkeypatch.setattr(client, "send", lambda *lines, told=told, real=real: (told.extend(lines), real(*lines)))
    limits = Allowance(TimeControl(100, 5, 40))
    play_game(
        ChessPlayer(white, limits), ChessPlayer(black, Allowance(nodes=7)), BookLine(moves=("e2e4", "e7e5")), SHORT
    )
    assert sent[:2] == ["ucinewgame", "isready"]
    assert sent[2] == f"position fen {chess.STARTING_FEN} moves e2e4 e7e5"
    assert sent[3] == "go wtime 100000 winc 5000 movestogo 40"
    assert sent[4].startswith(f"position fen {chess.STARTING_FEN} moves e2e4 e7e5 ")
    assert len(sent[4].split()) == len(sent[2].split()) + 2
    assert {line for line in others if line.startswith("go")} == {"go nodes 7"}  # not by the opponent's clock


@pytest.mark.parametrize(
    ("white", "black", "rule", "points"),
    [
        ("cp 900", "cp -900", ResignRule(2), 1.0),
        ("mate -3", "cp 900", ResignRule(2), 0.0),
        ("cp 20", "cp -900", ResignRule(2), None),
        ("cp 20", "cp -900", ResignRule(2, two_sided=False), 1.0),
        ("cp 799", "cp -799", ResignRule(2), None),
    ],
)
def test_resigning(play, white, black, rule, points):
    game = play((f"score={white}",), (f"score={black}",), rules=Rules(resign=rule, max_moves=6))
    if points is None:
        assert "too many" in game.reason
    else:
        assert game.white_points == points
        assert game.reason == f"{'White' if points else 'Black'} wins by adjudication"
        assert len(game.moves) == 4


def test_both_sides_resign_only_after_their_number_of_moves(play):
    game = play(("score=cp 900",), ("score=cp -900",), rules=Rules(resign=ResignRule(3), max_moves=6))
    assert len(game.moves) == 6


@pytest.mark.parametrize(("score", "moves"), [("cp 5", 6), ("cp -5", 6), ("cp 11", None), ("mate 9", None)])
def test_a_draw_is_called_when_both_see_one(play, score, moves):
    words = (f"score={score}",)
    opening = BookLine("4k2r/8/8/8/8/8/8/R3K3 w - - 1 1")
    rules = Rules(draw=DrawRule(move_number=2, move_count=3, score=10), max_moves=6)
    game = play(words, words, opening, rules)
    if moves is None:
        assert "too many" in game.reason
    else:
        assert (game.white_points, game.reason, len(game.moves)) == (0.5, "draw by adjudication", moves)


@pytest.mark.parametrize(
    ("fen", "points", "reason"),
    [
        # To take the queen is the only move.
        ("4k3/8/8/8/8/8/1q6/K1R5 w - - 9 50", 1.0, "White wins by adjudication: tablebases"),
        ("k1r5/1Q6/8/8/8/8/8/4K3 b - - 9 50", 0.0, "Black wins by adjudication: tablebases"),
        ("2k5/8/8/8/8/8/Pq6/K7 w - - 9 50", 0.5, "draw by adjudication: tablebases"),
    ],
)
def test_tablebases_decide_after_a_capture(play, fen, points, reason):
    game = play(opening=BookLine(fen), rules=Rules(max_moves=60, tablebases=str(SHIPPED)))
    assert (game.white_points, game.reason, len(game.moves)) == (points, reason, 1)


def test_tablebases_do_not_decide_while_the_fifty_moves_count(play):
    opening = BookLine("7k/8/8/8/8/8/8/R3K3 w - - 9 50")
    game = play(opening=opening, rules=Rules(max_moves=51, tablebases=str(SHIPPED)))
    assert (game.white_points, game.reason) == (0.5, "draw by adjudication: too many moves")


@pytest.mark.parametrize("wdl", [1, -1])
def test_what_the_fifty_moves_turn_into_a_draw_is_one(play, monkeypatch, wdl):
    class Tables:
        def get_wdl(self, board):
            return wdl

    monkeypatch.setattr(referee, "open_tablebases", lambda folder: Tables())
    game = play(opening=BookLine("4k3/8/8/8/8/8/1q6/K1R5 w - - 9 50"), rules=Rules(tablebases="somewhere"))
    assert (game.white_points, game.reason) == (0.5, "draw by adjudication: tablebases")


def test_a_folder_without_tablebases(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(OptionError, match=str(folder)):
            open_tablebases(str(folder))


def test_no_draw_is_called_before_its_move_number(play):
    rules = Rules(draw=DrawRule(move_number=5, move_count=1, score=50), max_moves=9)
    game = play(opening=BookLine("4k2r/8/8/8/8/8/8/R3K3 w - - 1 1"), rules=rules)
    assert game.reason == "draw by adjudication"
    assert len(game.moves) == 9  # White's fifth move


def test_a_pawn_move_or_capture_makes_the_count_begin_again(play):
    opening = BookLine("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1")
    game = play(opening=opening, rules=Rules(draw=DrawRule(1, 2, 50), max_moves=90))
    assert game.reason == "draw by adjudication"
    clocks, board = [], opening.board()
    for move in game.moves:
        board.push_uci(move.uci)
        clocks.append(board.halfmove_clock)
    assert clocks.index(4) == len(clocks) - 1 > 3  # the first four quiet plies in a row are the last ones


def test_warnings_are_counted_and_some_are_kept(play):
    game = play(white=("pv=a1a8",), rules=Rules(max_moves=8))
    assert game.fault is None
    assert game.warning_counts[True, search_info.ILLEGAL] == 8
    assert game.warning_counts[True, search_info.NOT_HEAD] == 8
    assert len(game.warnings) == 5
    first = game.warnings[0]
    assert (first.white, first.kind) == (True, search_info.ILLEGAL)
    assert "pv a1a8" in first.line
    assert (game.warnings[1].kind, game.warnings[1].line) == (search_info.NOT_HEAD, f"bestmove {game.moves[0].uci}")
    assert first.position == f"position fen {chess.STARTING_FEN}"


def test_a_weakened_engine_may_play_another_move_than_its_best(start_fake):
    players = [ChessPlayer(start_fake("pv=a2a3"), NODES, weakened) for weakened in (True, False)]
    counts = play_game(*players, BookLine(), SHORT).warning_counts
    assert counts[False, search_info.NOT_HEAD] == 4
    assert counts[True, search_info.NOT_HEAD] == 0


@pytest.mark.parametrize(("check", "numbers"), [("all", (8, 8)), ("last", (8, 0)), ("none", (0, 0))])
def test_how_much_is_checked(play, check, numbers):
    for words, number in zip((("pv=a1a8",), ("early=a1a8",)), numbers, strict=True):
        game = play(white=words, rules=Rules(max_moves=8, pv_check=check))
        assert game.warning_counts[True, search_info.ILLEGAL] == number


def test_without_scores_nobody_resigns_and_no_draw_is_agreed(play):
    rules = Rules(draw=DrawRule(1, 1, 50), resign=ResignRule(1), max_moves=4)
    game = play(("score=none",), ("score=none",), BookLine("4k2r/8/8/8/8/8/8/R3K3 w - - 1 1"), rules)
    assert game.reason == "draw by adjudication: too many moves"
    assert all(move.info is None for move in game.moves)


def test_engines_that_both_announce_mate_are_noticed(play):
    game = play(("score=mate 9",), ("score=mate 3",), BookLine(ENDING))
    assert game.warning_counts[False, search_info.MATE_SIGN] == 4
    assert game.warning_counts[True, search_info.MATE_SIGN] == 3
    game = play(("score=mate 9",), ("score=mate -3",), BookLine(ENDING))
    assert game.warning_counts[True, search_info.MATE_SIGN] == 0


def test_chess960_castles_by_taking_the_rook(start_fake):
    players = []
    for _ in range(2):
        client = start_fake()
        client.set_options({"UCI_Chess960": "true"})
        players.append(ChessPlayer(client, NODES))
    opening = BookLine("rk1r4/pp1p4/8/8/8/8/PP1P4/RK1R4 w KQkq - 0 1")
    castled = 0
    for _ in range(8):
        game = play_game(*players, opening, Rules(max_moves=4, chess960=True))
        assert game.fault is None
        castled += any(move.uci in ("b1a1", "b1d1", "b8a8", "b8d8") for move in game.moves)
    assert castled
