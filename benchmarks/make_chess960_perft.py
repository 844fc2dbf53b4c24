"""Make ``tests/data/chess960-perft.epd``: Chess960 positions with perft counts to depth 4 from independent programs.

The positions are start positions, positions of random games in which castling rights tend to survive, and positions
built around special cases of Chess960 castling (see `EDGE_CASES`). The counts come from Stockfish's ``go perft``;
python-chess confirms the counts to depth 3. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
from uci_process import UciProcess

from knightadder.cli import exit_status

DEPTH = 4
MAX_NODES = 3_000_000  # maximum nodes of a row, so that it is cheap enough for a test suite
CHECKED_DEPTH = 3


def castling_moves(board: chess.Board) -> list[chess.Move]:
    """Return the legal castling moves in king-takes-rook notation."""
    return list(board.generate_castling_moves())


def castling_sides(board: chess.Board) -> Iterator[tuple[int, int, int, int]]:
    """Yield king square, rook square, king target and rook target for every castling right of the side to move."""
    king = board.king(board.turn)
    if king is None:
        return
    back_rank = chess.square_rank(king) * 8
    for rook in chess.scan_forward(board.clean_castling_rights() & chess.BB_RANKS[chess.square_rank(king)]):
        kingside = rook > king
        yield king, rook, back_rank + (6 if kingside else 2), back_rank + (5 if kingside else 3)


def path_is_free(board: chess.Board, king: int, rook: int, king_to: int, rook_to: int) -> bool:
    """Return whether the paths of king and rook contain no piece except these two."""
    way = chess.between(king, king_to) | chess.between(rook, rook_to) | chess.between(king, rook)
    way |= chess.BB_SQUARES[king_to] | chess.BB_SQUARES[rook_to]
    return not way & board.occupied & ~chess.BB_SQUARES[king] & ~chess.BB_SQUARES[rook]


def walks_through_attack(board: chess.Board, king: int, king_to: int) -> bool:
    """Return whether a square on the king's path, including its target, is attacked."""
    way = chess.between(king, king_to) | chess.BB_SQUARES[king_to]
    return any(board.is_attacked_by(not board.turn, square) for square in chess.scan_forward(way))


def rook_shields_king(board: chess.Board) -> bool:
    """Return whether castling is illegal only because the rook leaves the rank on which it shields the king."""
    legal = {move.to_square for move in castling_moves(board)}
    return not board.is_check() and any(
        rook not in legal
        and path_is_free(board, king, rook, king_to, rook_to)
        and not walks_through_attack(board, king, king_to)
        for king, rook, king_to, rook_to in castling_sides(board)
    )


def king_passes_attack(board: chess.Board) -> bool:
    """Return whether castling is illegal only because the king would pass or reach an attacked square."""
    return not board.is_check() and any(
        path_is_free(board, king, rook, king_to, rook_to) and walks_through_attack(board, king, king_to)
        for king, rook, king_to, rook_to in castling_sides(board)
    )


def king_next_to_rook(board: chess.Board) -> bool:
    """Return whether castling is legal with a rook next to the king."""
    return any(abs(move.from_square - move.to_square) == 1 for move in castling_moves(board))


def king_stays(board: chess.Board) -> bool:
    """Return whether castling is legal with the king already on its target square."""
    return any(
        chess.square_file(move.from_square) == (6 if move.to_square > move.from_square else 2)
        for move in castling_moves(board)
    )


def rook_stays(board: chess.Board) -> bool:
    """Return whether castling is legal with the rook already on its target square."""
    return any(
        chess.square_file(move.to_square) == (5 if move.to_square > move.from_square else 3)
        for move in castling_moves(board)
    )


def rook_attacked(board: chess.Board) -> bool:
    """Return whether castling is legal with an attacked rook."""
    return any(board.is_attacked_by(not board.turn, move.to_square) for move in castling_moves(board))


def inner_rook_castles(board: chess.Board) -> bool:
    """Return whether castling is legal with the inner of two rooks on the same side, which X-FEN names by file."""
    for move in castling_moves(board):
        rank = chess.BB_RANKS[chess.square_rank(move.from_square)]
        rooks = board.rooks & board.occupied_co[board.turn] & rank
        outermost = chess.msb(rooks) if move.to_square > move.from_square else chess.lsb(rooks)
        if move.to_square != outermost:
            return True
    return False


def castling_gives_check(board: chess.Board) -> bool:
    """Return whether a legal castling move gives check."""
    return any(board.gives_check(move) for move in castling_moves(board))


EDGE_CASES: tuple[tuple[Callable[[chess.Board], bool], int], ...] = (
    (king_next_to_rook, 8),
    (rook_shields_king, 14),
    (king_passes_attack, 10),
    (king_stays, 8),
    (rook_stays, 8),
    (rook_attacked, 8),
    (inner_rook_castles, 16),
    (castling_gives_check, 8),
)


def random_game_position(start: str, generator: random.Random) -> chess.Board | None:
    """Return a position of a random game in which kings and rooks mostly stay at home; None if the game ended first."""
    board = chess.Board(start, chess960=True)
    for _ in range(generator.randint(6, 40)):
        moves = list(board.legal_moves)
        if not moves:
            return None
        calm = [move for move in moves if board.piece_type_at(move.from_square) not in (chess.KING, chess.ROOK)]
        board.push(generator.choice(calm if calm and generator.random() < 0.9 else moves))
    return board if any(board.legal_moves) else None


def built_position(generator: random.Random) -> chess.Board | None:
    """Return a position with kings, castling rooks and random other pieces; None if it is not valid."""
    board = chess.Board(None, chess960=True)
    rights = 0
    for colour, rank in ((chess.WHITE, 0), (chess.BLACK, 7)):
        king_file = generator.randint(1, 6)
        board.set_piece_at(chess.square(king_file, rank), chess.Piece(chess.KING, colour))
        for files in (range(king_file), range(king_file + 1, 8)):
            rook_files = generator.sample(files, min(len(files), generator.choice((0, 1, 1, 1, 2))))
            for file in rook_files:
                board.set_piece_at(chess.square(file, rank), chess.Piece(chess.ROOK, colour))
            if rook_files:
                rights |= chess.BB_SQUARES[chess.square(generator.choice(rook_files), rank)]
        for file in generator.sample(range(8), generator.randint(3, 7)):
            square = chess.square(file, generator.choice((1, 1, 2)) if colour else generator.choice((6, 6, 5)))
            board.set_piece_at(square, chess.Piece(chess.PAWN, colour))
    rest = [chess.KNIGHT, chess.BISHOP, chess.QUEEN]
    for colour in chess.COLORS:
        for kind in generator.sample(rest, generator.randint(0, 3)):
            empty = list(chess.scan_forward(~board.occupied & chess.BB_ALL))
            board.set_piece_at(generator.choice(empty), chess.Piece(kind, colour))
    # Place an enemy rook or queen beyond a castling rook, so that this rook shields the king.
    if generator.random() < 0.4:
        colour = generator.choice(chess.COLORS)
        rank = 0 if colour else 7
        empty = [square for square in (chess.square(0, rank), chess.square(1, rank)) if not board.piece_at(square)]
        if empty:
            kind = generator.choice((chess.ROOK, chess.QUEEN))
            board.set_piece_at(generator.choice(empty), chess.Piece(kind, not colour))
    board.castling_rights = rights
    board.turn = generator.choice(chess.COLORS)
    board.fullmove_number = generator.randint(1, 60)
    for colour in chess.COLORS:
        own = board.occupied_co[colour]
        promoted = max(0, chess.popcount(board.rooks & own) - 2) + max(0, chess.popcount(board.queens & own) - 1)
        if promoted > 8 - chess.popcount(board.pawns & own):
            return None
    return board if board.is_valid() and board.legal_moves.count() else None


def positions(starts: list[str], seed: int, start_rows: int, game_rows: int) -> list[chess.Board]:
    """Return the positions of the suite: start positions, positions of random games, and `EDGE_CASES` in order."""
    generator = random.Random(seed)
    chosen = [chess.Board(fen, chess960=True) for fen in generator.sample(starts, start_rows)]
    games: list[chess.Board] = []
    while len(games) < game_rows:
        board = random_game_position(generator.choice(starts), generator)
        # In turn: any position, a position with a castling right, and a position in which castling is legal.
        kind = len(games) % 3
        if board and (kind == 0 or (board.castling_rights if kind == 1 else castling_moves(board))):
            games.append(board)
    chosen += games
    for edge_case, count in EDGE_CASES:
        found = 0
        while found < count:
            board = built_position(generator)
            if board and edge_case(board):
                chosen.append(board)
                found += 1
    return chosen


def fen_text(board: chess.Board, shredder: bool) -> str:
    """Return a FEN with Shredder-FEN's castling rights (``HAha``), or X-FEN's (``KQkq``, with files only if needed).
    The FEN has an en passant square only if the capture is legal.
    """
    return board.fen(shredder=shredder, en_passant="legal")


def stockfish_perft(stockfish: UciProcess, fen: str, depth: int) -> int:
    """Return the number of leaf nodes at a depth, counted by a Stockfish with UCI_Chess960 on."""
    stockfish.send(f"position fen {fen}", f"go perft {depth}")
    return int(stockfish.read_until("Nodes searched:", timeout=120)[-1].split(":")[1])


def python_chess_perft(board: chess.Board, depth: int) -> int:
    """Return the number of leaf nodes at a depth of at least 1, counted by python-chess."""
    if depth == 1:
        return board.legal_moves.count()
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += python_chess_perft(board, depth - 1)
        board.pop()
    return nodes


def main() -> int:
    """Write the suite if both programs' counts are equal; else return exit status 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("starts", type=Path, help="EPD file of the 960 start positions")
    parser.add_argument("output", type=Path, help="file to write")
    parser.add_argument("--stockfish", default="stockfish", help="command of Stockfish (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=960)
    parser.add_argument("--start-rows", type=int, default=40, help="start positions (default: %(default)s)")
    parser.add_argument("--game-rows", type=int, default=120, help="positions of random games (default: %(default)s)")
    arguments = parser.parse_args()

    starts = [line.strip() for line in arguments.starts.read_text(encoding="utf-8").splitlines() if line.strip()]
    boards = positions(starts, arguments.seed, arguments.start_rows, arguments.game_rows)
    rows = []
    with UciProcess(arguments.stockfish) as stockfish:
        stockfish.send("setoption name UCI_Chess960 value true", "isready")
        stockfish.read_until("readyok", timeout=30)
        for number, board in enumerate(boards):
            fen = fen_text(board, shredder=number % 2 == 1)
            counts = [stockfish_perft(stockfish, fen, depth) for depth in range(1, DEPTH + 1)]
            if counts[-1] <= MAX_NODES:
                rows.append((board, fen, counts))

    wrong = 0
    for board, fen, counts in rows:
        for depth in range(1, CHECKED_DEPTH + 1):
            if python_chess_perft(board, depth) != counts[depth - 1]:
                wrong += 1
                print(f"python-chess disagrees at depth {depth}: {fen}")
    print(f"{len(rows)} rows, {sum(row[2][-1] for row in rows):,} nodes at depth {DEPTH}, {wrong} disagreements")
    if wrong:
        return 1
    lines = (fen + "".join(f" ;D{depth} {n}" for depth, n in enumerate(counts, 1)) for _, fen, counts in rows)
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status("make_chess960_perft", main))
