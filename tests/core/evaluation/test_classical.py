"""The classical evaluation: its counts against plain ones made with python-chess, its symmetry, and its sum."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import chess
import numpy as np
import pytest
from core_helpers import random_positions

from knightadder.core.api.static_eval import evaluate_position, static_trace
from knightadder.core.evaluation.evaluate import CLASSICAL
from knightadder.core.evaluation.terms import PIECE_NAMES, SIZES, START, read_values
from knightadder.core.tables import new_tables
from knightadder.engine.game import Game
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


def boards() -> list[chess.Board]:
    return random_positions(12 if INTERPRETED else 300) + random_positions(4, chess960=True)


TABLES = new_tables(CLASSICAL)
GAME = Game(TABLES)


def set_up(board: chess.Board | str) -> np.record:
    """Set up a position with the tables of the classical evaluation."""
    GAME.set_up(
        board if isinstance(board, str) else board.fen(shredder=board.chess960) if board.chess960 else board.fen()
    )
    return GAME.record


def counts(board: chess.Board | str, name: str) -> tuple[list[int], list[int]]:
    """Return how often each value of a term counts, for White and for Black."""
    trace = static_trace(TABLES, set_up(board))
    white, black = trace.counts[:, START[name] : START[name] + SIZES[name]].tolist()
    return white, black


def by_index(indices: Iterable[int], size: int) -> list[int]:
    """Count how often each number up to a size occurs."""
    seen = Counter(indices)
    return [seen[index] for index in range(size)]


def assert_counts(name: str, plain) -> None:
    """Compare a term's counts with plain ones: `plain(board, color)` gives the index of each time it counts."""
    for board in boards():
        for found, color in zip(counts(board, name), chess.COLORS, strict=True):
            assert found == by_index(plain(board, color), SIZES[name]), (name, board.fen(), color)


def rank(square: chess.Square, color: chess.Color) -> int:
    """Return a rank from 0 to 7 as a side sees it."""
    return chess.square_rank(square) if color else 7 - chess.square_rank(square)


def pawns(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    return board.pieces(chess.PAWN, color)


def files_of(squares: Iterable[chess.Square]) -> set[int]:
    return {chess.square_file(square) for square in squares}


def is_ahead(square: chess.Square, other: chess.Square, color: chess.Color) -> bool:
    """Say whether a square is on a further rank than another, as a side sees it."""
    return rank(square, color) > rank(other, color)


def attacks_of_pawns(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    return chess.SquareSet(square for pawn in pawns(board, color) for square in board.attacks(pawn))


# --- the whole -----------------------------------------------------------------------------------------------------


def test_the_value_is_the_blend_of_what_the_trace_counts() -> None:
    values = read_values()
    for board in boards():
        record = set_up(board)
        trace = static_trace(TABLES, record)
        middle, end = ((trace.counts[0].astype(int) - trace.counts[1]) @ values).tolist()
        blend = middle * int(trace.phase) * 64 + end * (24 - int(trace.phase)) * int(trace.scale)
        expected = (blend if board.turn else -blend) // (24 * 64)
        if trace.phase > 12:  # else what is known of endings may come on top
            expected = expected * (200 - board.halfmove_clock) // 200
            assert evaluate_position(TABLES, record) == expected, board.fen()


def test_mirrored_positions_are_worth_the_same_and_count_the_same() -> None:
    for board in boards():
        value = evaluate_position(TABLES, set_up(board))
        assert evaluate_position(TABLES, set_up(board.mirror())) == value, board.fen()
        trace = static_trace(TABLES, set_up(board))
        mirrored = static_trace(TABLES, set_up(board.mirror()))
        assert (trace.counts == mirrored.counts[::-1]).all(), board.fen()


def test_the_pawn_hash_table_changes_nothing() -> None:
    for board in boards():
        record = set_up(board)
        first = int(evaluate_position(TABLES, record))
        assert int(evaluate_position(TABLES, record)) == first
        record.pawns["key"] = 0
        assert int(evaluate_position(TABLES, record)) == first, board.fen()


def test_sums_kept_by_make_equal_those_made_anew() -> None:
    generator = random.Random(3)
    for _ in range(2 if INTERPRETED else 20):
        game = Game(TABLES)
        board = chess.Board()
        moves: list[str] = []
        while len(moves) < 80 and not board.is_game_over():
            move = generator.choice(list(board.legal_moves))
            board.push(move)
            moves.append(move.uci())
        game.set_up(None, moves)
        kept = int(game.record.stack[0].psq)
        game.renew_sums()
        assert int(game.record.stack[0].psq) == kept
        game.set_up(board.fen())
        assert int(game.record.stack[0].psq) == kept


def test_a_single_pawn_is_hard_to_win_with() -> None:
    def scale(fen):
        return int(static_trace(TABLES, set_up(fen)).scale)

    assert scale("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1") < scale("4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1") == 64
    assert scale("4k3/3pp3/8/8/8/8/4P3/4K3 w - - 0 1") == 64  # Black is better, and has two


# --- counts -------------------------------------------------------------------------------------------------------


def test_pieces_and_their_squares() -> None:
    for number, name in enumerate(PIECE_NAMES, 1):
        assert_counts(
            f"{name}_square",
            lambda board, color, number=number: [
                square ^ 56 if color else square for square in board.pieces(number, color)
            ],
        )
    assert_counts(
        "piece_value",
        lambda board, color: [
            piece.piece_type - 1
            for piece in board.piece_map().values()
            if piece.color == color and piece.piece_type != chess.KING
        ],
    )


def test_pawns_by_their_neighbours() -> None:
    def isolated(board, color):
        own, enemy = pawns(board, color), files_of(pawns(board, not color))
        files = files_of(own)
        alone = [square for square in own if not {chess.square_file(square) + step for step in (-1, 1)} & files]
        return [chess.square_file(square) not in enemy for square in alone]

    def doubled(board, color):
        own = pawns(board, color)
        return [
            0
            for square in own
            if any(files_of([square]) == files_of([other]) and is_ahead(other, square, color) for other in own)
        ]

    def phalanx(board, color):
        own = pawns(board, color)
        pairs = [(a, b) for a in own for b in own if chess.square_rank(a) == chess.square_rank(b)]
        return [rank(square, color) for square in {a for a, b in pairs if abs(a - b) == 1}]

    def protected(board, color):
        own = pawns(board, color)
        return [rank(square, color) for square in own if board.attackers(color, square) & own]

    def ram(board, color):
        enemy, step = pawns(board, not color), 8 if color else -8
        return [rank(square, color) for square in pawns(board, color) if square + step in enemy]

    assert_counts("isolated_pawn", isolated)
    assert_counts("doubled_pawn", doubled)
    assert_counts("phalanx_pawn", phalanx)
    assert_counts("protected_pawn", protected)
    assert_counts("ram", ram)


def passed(board: chess.Board, color: chess.Color) -> list[chess.Square]:
    """Return the pawns that no pawn is before, neither an own one on the file nor an enemy one there or beside it."""
    own, enemy = pawns(board, color), pawns(board, not color)

    def is_stopped(square, other):
        aside = abs(chess.square_file(other) - chess.square_file(square))
        return is_ahead(other, square, color) and aside <= (1 if other in enemy else 0)

    return [square for square in own if not any(is_stopped(square, other) for other in own | enemy)]


def test_passed_pawns() -> None:
    def blocked(board, color):
        step = 8 if color else -8
        return [rank(square, color) for square in passed(board, color) if board.piece_at(square + step)]

    def king_steps(of_own):
        def indices(board, color):
            king = board.king(color if of_own else not color)
            step = 8 if color else -8
            far = [square for square in passed(board, color) if rank(square, color) >= 3]
            # Each counts once more for each rank that it has gone further.
            return [
                chess.square_distance(king, square + step) for square in far for _ in range(rank(square, color) - 2)
            ]

        return indices

    assert_counts("passed_pawn", lambda board, color: [rank(square, color) for square in passed(board, color)])
    assert_counts("passed_blocked", blocked)
    assert_counts("passed_king_near", king_steps(True))
    assert_counts("passed_king_far", king_steps(False))


def test_unstoppable_pawns_follow_the_square_rule() -> None:
    for fen, white in (
        ("8/8/8/8/P7/8/8/K6k w - - 0 1", 1),
        ("8/8/8/8/P4k2/8/8/K7 b - - 0 1", 0),  # to move, the king steps into the square
        ("8/8/8/8/P4k2/8/8/K7 w - - 0 1", 1),
        ("8/8/8/8/P3k3/8/8/K7 w - - 0 1", 0),
        ("8/8/8/8/6k1/8/P7/K7 w - - 0 1", 1),  # the double step
        ("8/8/8/n7/6k1/8/P7/K7 w - - 0 1", 0),  # a piece may stop it
    ):
        assert counts(fen, "unstoppable_pawn") == ([white], [0]), fen


def test_mobility_counts_safe_squares() -> None:
    def mobility(piece_type):
        def indices(board, color):
            own = pawns(board, color)
            low = {1, 2}
            step = 8 if color else -8
            stuck = {square for square in own if rank(square, color) in low or board.piece_at(square + step)}
            heavy = board.pieces(chess.KING, color) | board.pieces(chess.QUEEN, color)
            barred = stuck | set(heavy) | set(attacks_of_pawns(board, not color))
            seen_through = board.copy()
            if piece_type in (chess.BISHOP, chess.ROOK):
                for square in board.pieces(chess.QUEEN, color):
                    seen_through.remove_piece_at(square)
            for square in board.pieces(piece_type, color):
                without = seen_through.copy()
                if piece_type == chess.ROOK:
                    for other in board.pieces(chess.ROOK, color):
                        if other != square:
                            without.remove_piece_at(other)
                yield len(set(without.attacks(square)) - barred)

        return indices

    assert_counts("knight_mobility", mobility(chess.KNIGHT))
    assert_counts("bishop_mobility", mobility(chess.BISHOP))
    assert_counts("rook_mobility", mobility(chess.ROOK))
    assert_counts("queen_mobility", mobility(chess.QUEEN))


def test_places_of_pieces() -> None:
    def pair(piece_type):
        return lambda board, color: [0] if len(board.pieces(piece_type, color)) > 1 else []

    def outpost(piece_type):
        def indices(board, color):
            for square in board.pieces(piece_type, color):
                beside = {chess.square_file(square) + step for step in (-1, 1)}
                threats = [
                    pawn
                    for pawn in pawns(board, not color)
                    if chess.square_file(pawn) in beside and is_ahead(pawn, square, color)
                ]
                if 3 <= rank(square, color) <= 5 and not threats:
                    yield bool(board.attackers(color, square) & pawns(board, color))

        return indices

    def rook_file(board, color):
        own, enemy = files_of(pawns(board, color)), files_of(pawns(board, not color))
        files = [chess.square_file(square) for square in board.pieces(chess.ROOK, color)]
        return [file not in enemy for file in files if file not in own]

    def seventh(board, color):
        for square in board.pieces(chess.ROOK, color):
            if rank(square, color) == 6:
                targets = [pawn for pawn in pawns(board, not color) if rank(pawn, color) == 6]
                if targets or rank(board.king(not color), color) == 7:
                    yield 0

    def distance(piece_type):
        return lambda board, color: [
            chess.square_distance(square, board.king(color)) for square in board.pieces(piece_type, color)
        ]

    assert_counts("knight_pair", pair(chess.KNIGHT))
    assert_counts("bishop_pair", pair(chess.BISHOP))
    assert_counts("rook_pair", pair(chess.ROOK))
    assert_counts("knight_outpost", outpost(chess.KNIGHT))
    assert_counts("bishop_outpost", outpost(chess.BISHOP))
    assert_counts("rook_file", rook_file)
    assert_counts("rook_seventh", seventh)
    assert_counts("knight_king_distance", distance(chess.KNIGHT))
    assert_counts("bishop_king_distance", distance(chess.BISHOP))


def test_shelter_storm_and_files_at_the_king() -> None:
    def around(board, color):
        """Yield each of the three files with the nearest own and enemy pawn's ranks, 0 for none."""
        king = board.king(color)
        centre = max(1, min(6, chess.square_file(king)))
        for file in range(centre - 1, centre + 2):
            nearest = []
            for side in (color, not color):
                ranks = [
                    rank(pawn, color)
                    for pawn in pawns(board, side)
                    if chess.square_file(pawn) == file and rank(pawn, color) >= rank(king, color)
                ]
                nearest.append(min(ranks, default=0))
            yield file, *nearest

    def is_blocked(own, enemy):
        return own > 0 and enemy == own + 1

    def edge(file):
        return 8 * min(file, 7 - file)

    def open_file(board, color):
        own, enemy = files_of(pawns(board, color)), files_of(pawns(board, not color))
        for file, *_ in around(board, color):
            if file not in own:
                yield 0 if file in enemy else 2
            elif file not in enemy:
                yield 1

    assert_counts("king_shelter", lambda b, c: [edge(file) + own for file, own, _ in around(b, c)])
    assert_counts(
        "king_storm", lambda b, c: [edge(f) + enemy for f, own, enemy in around(b, c) if not is_blocked(own, enemy)]
    )
    assert_counts(
        "king_storm_blocked", lambda b, c: [enemy for _, own, enemy in around(b, c) if is_blocked(own, enemy)]
    )
    assert_counts("king_open_file", open_file)
    assert_counts(
        "king_pawn_distance",
        lambda b, c: (
            [min(chess.square_distance(b.king(c), pawn) for pawn in pawns(b, True) | pawns(b, False))]
            if pawns(b, True) | pawns(b, False)
            else []
        ),
    )


def test_the_king_in_more_danger_counts_a_higher_unit() -> None:
    def units(fen):
        white, _ = counts(fen, "king_danger")
        return white.index(1)

    quiet = "6k1/5ppp/8/8/8/8/5PPP/6K1 w - - 0 1"
    attacked = "6k1/5ppp/8/8/5n2/6q1/5PP1/6K1 w - - 0 1"
    assert units(quiet) == 0
    assert units("6k1/5ppp/8/8/5n2/8/5PPP/6K1 w - - 0 1") > 0
    assert units(attacked) > units("6k1/5ppp/8/8/5n2/8/5PP1/6K1 w - - 0 1")


@pytest.mark.parametrize(
    ("fen", "name", "white", "black"),
    [
        # The pawn on d4 takes the knight on e5 and the rook on c5.
        ("4k3/8/8/2r1n3/3P4/8/8/4K3 w - - 0 1", "threat_by_pawn", [0, 1, 0, 1, 0, 0], [0] * 6),
        # It could step to where it attacks them.
        ("4k3/8/2r1n3/8/3P4/8/8/4K3 w - - 0 1", "threat_by_push", [2], [0]),
        ("4k3/8/8/3r4/8/2N5/8/4K3 w - - 0 1", "threat_by_minor", [0, 0, 0, 1, 0, 0], [0] * 6),
        ("4k3/8/8/3b4/8/8/8/3RK3 w - - 0 1", "threat_by_rook", [0, 0, 1, 0, 0, 0], [0] * 6),
        ("7k/8/8/8/8/8/4n3/4K3 w - - 0 1", "threat_by_king", [1], [0]),
        ("7k/8/8/8/8/8/4n3/4K3 w - - 0 1", "hanging", [1], [0]),
        ("4k3/b7/8/2P5/1P6/8/8/4K3 w - - 0 1", "trapped_bishop", [0], [0]),
        ("4k3/8/8/8/8/1P6/b7/4K3 w - - 0 1", "trapped_bishop", [0], [1]),
        ("4k3/8/8/8/8/8/4P3/5KR1 w - - 0 1", "trapped_rook", [0], [0]),
        ("4k3/8/8/8/8/6PP/6PP/5NKR w - - 0 1", "trapped_rook", [1], [0]),
        ("4k3/8/8/8/8/8/1B6/4K3 w - - 0 1", "long_diagonal", [1], [0]),
        ("4k3/8/8/8/3P4/8/1B6/4K3 w - - 0 1", "long_diagonal", [0], [0]),
        # Two pawns on the bishop's colour, and one of the side's pawns blocked on the middle files: each counts twice.
        ("4k3/8/3p4/3P4/8/1P6/8/2B1K3 w - - 0 1", "bad_bishop", [0], [0]),
        ("4k3/8/3p4/3P4/8/1P6/8/4KB2 w - - 0 1", "bad_bishop", [4], [0]),
        ("4k3/8/8/8/4P3/4N3/8/4K3 w - - 0 1", "minor_behind_pawn", [1, 0], [0, 0]),
        # A bishop on b4 would attack the queen on e1 but for the knight.
        ("7k/8/8/8/1b6/2N5/8/4QK2 w - - 0 1", "queen_lined_up", [1], [0]),
        ("7k/8/8/8/1b6/8/8/4QK2 w - - 0 1", "queen_lined_up", [0], [0]),
        # A knight with seven pawns: two more than usual.
        ("4k3/8/8/8/8/8/PPPPPPP1/1N2K3 w - - 0 1", "piece_per_pawn", [2, 0, 0, 0], [0] * 4),
        ("4k3/8/8/8/8/8/8/4K3 b - - 0 1", "tempo", [0], [1]),
        ("r3k2r/8/8/8/8/8/8/R3K2R w Kkq - 0 1", "castling_right", [1], [2]),
        # The rook behind its own pawn, and behind the other's.
        ("7R/3k4/8/P6p/8/8/8/R3K3 w - - 0 1", "passed_rook", [1, 0], [0, 1]),
        # d4 and e5 of four squares; the pawn itself stands on one.
        ("4k3/8/8/8/4P3/8/8/4K3 w - - 0 1", "centre_control", [1], [0]),
        ("4k3/8/8/8/4P3/8/8/4K3 w - - 0 1", "centre_pawn", [1], [0]),
        # With the pawn on a4 behind it, b4 can step to b5 and be exchanged; the other has no such help.
        ("4k3/8/2p5/8/1P1P4/8/8/4K3 w - - 0 1", "candidate_pawn", [0] * 8, [0] * 8),
        ("4k3/8/2p5/8/PP6/8/8/4K3 w - - 0 1", "candidate_pawn", [0, 0, 0, 1, 0, 0, 0, 0], [0] * 8),
        # It cannot step before the pawn on c5 and has no pawn behind it; the file is half-open.
        ("4k3/8/8/2p5/4P3/3P4/8/4K3 w - - 0 1", "backward_pawn", [0, 1], [0, 0]),
        ("4k3/3p4/8/2p5/4P3/3P4/8/4K3 w - - 0 1", "backward_pawn", [1, 0], [0, 0]),
    ],
)
def test_terms_by_example(fen: str, name: str, white: list[int], black: list[int]) -> None:
    assert counts(fen, name) == (white, black)


def test_space_counts_with_many_pieces_only() -> None:
    assert counts(chess.STARTING_FEN, "space")[0][0] > 0
    assert counts("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", "space") == ([0], [0])
