"""Ratings: by what a puzzle costs the engine, and by how it looks."""

import chess
from scripted_analyst import ScriptedAnalyst

from knightadder import Engine
from knightadder.puzzles.puzzle import Solution
from knightadder.puzzles.rating import HIGHEST, LOWEST, rate


def _solution(fen, moves):
    """Give a puzzle as in Lichess's database: the first move is the opponent's."""
    board = chess.Board(fen)
    previous, *others = map(chess.Move.from_uci, moves.split())
    board.push(previous)
    return Solution.of(board, others, fen, previous)


FORK = _solution("1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1", "b8c8 f5d6 e8d7 d6c8")

# Puzzles of Lichess's database (CC0), with their ratings there.
EASY = [
    ("6k1/5ppp/8/4rP2/1r4P1/2RK3P/8/7B b - - 0 47", "b4b5 c3c8 e5e8 c8e8", 666),
    ("8/6k1/2R4p/5p1P/5P1K/6P1/8/r7 w - - 2 58", "c6b6 a1h1", 564),
    ("2n3k1/p4ppp/2p1p3/P1NrP3/1n1r4/3N4/5PPP/1R1R2K1 w - - 0 29", "d3b4 d4d1 b1d1 d5d1", 543),
]
HARD = [
    ("4r3/p5k1/1p5P/1P2P1K1/8/5N2/8/8 b - - 0 42", "g7h7 g5h5 h7g8 f3g5 e8e5 h5g6 e5b5 h6h7", 2397),
    ("3r2k1/pp4q1/6P1/7Q/8/bP5P/P5P1/5R1K w - - 1 30", "f1f7 g7a1 h1h2 a3d6 g2g3 d6g3 h2g2 d8d2", 2364),
]


def _analyst(gap=300, from_nodes=1):
    """Give an analyst that sees the right moves of the fork from so many nodes on, and them better by a gap."""
    right = {board.epd(): board.san(move) for board, move in FORK.steps()}

    def tell(board, nodes):
        found = right[board.epd()]
        return [(0, found), (-gap, "Kg1")] if nodes >= from_nodes else [(gap, "Kg1"), (0, found)]

    return ScriptedAnalyst(tell=tell)


def test_what_the_engine_finds_late_is_difficult():
    ratings = [rate(FORK, _analyst(from_nodes=nodes)) for nodes in (1, 1_000, 10_000, 60_000, 10**9)]
    assert ratings == sorted(set(ratings))


def test_a_move_that_is_hardly_better_is_difficult():
    ratings = [rate(FORK, _analyst(gap)) for gap in (10, 100, 300)]
    assert ratings == sorted(set(ratings), reverse=True)


PUSHES = ["e8d8", "g2g4", "d8e8", "g4g5", "e8d8", "h2h4", "d8e8", "h4h5", "e8d8", "h1g2", "d8e8", "g2g3"]


def _pushes(count):
    return _solution("4k3/8/8/8/8/8/6PP/7K b - - 0 1", " ".join(PUSHES[: 2 * count]))


def test_more_moves_are_more_difficult_and_ratings_stay_on_the_scale():
    right = {board.epd(): move for board, move in _pushes(6).steps()}

    def miss(board, nodes):
        return [(0, board.san(next(move for move in board.legal_moves if move != right[board.epd()])))]

    ratings = [rate(_pushes(count), ScriptedAnalyst(tell=miss)) for count in range(1, 7)]
    assert ratings[0] > LOWEST and ratings[:5] == sorted(set(ratings[:5]))
    assert ratings[5] == HIGHEST


def test_only_the_solution_decides():
    with Engine(hash_mb=1) as engine:
        first = [rate(_solution(fen, moves), engine) for fen, moves, _ in (EASY[1], EASY[0])]
        again = [rate(_solution(fen, moves), engine) for fen, moves, _ in (EASY[0], EASY[1])]
    assert first == again[::-1]


def test_puzzles_that_people_find_easy_or_difficult():
    with Engine(hash_mb=1) as engine:
        easy, hard = ([rate(_solution(fen, moves), engine) for fen, moves, _ in each] for each in (EASY, HARD))
    assert max(easy) < 1300 < 1800 < min(hard)
