"""Compare probes of Syzygy tablebases with Fathom's, a prober in C (Debian: ``libfathom1``).

The positions are random positions of every table in a folder, the same number from each table; as many positions in
which a pawn can be captured en passant, which tables do not contain; and the positions of an EPD file. Castling is
never possible, because tables do not know it. The value under the fifty-move rule (WDL) and the distance to the next
capture or pawn move (DTZ) must be the same. Exit status 1 if a value differs.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
from pathlib import Path

import chess
from syzygy_probe import random_board

from knightadder.cli import exit_status
from knightadder.core.tables import new_tables
from knightadder.engine.tablebases.registry import Tablebases

# From Fathom's tbprobe.h: values from 0 (loss) to 4 (win), and the bits of a root probe's result.
DRAW = 2
FAILED = 0xFFFFFFFF
DTZ_SHIFT = 20


class Fathom:
    """Fathom's shared library, with the tables of a folder; OSError if there is no library, or it finds no tables."""

    def __init__(self, library: str, folder: Path) -> None:
        self._library = ctypes.CDLL(library)
        self._library.tb_init.restype = ctypes.c_bool
        self._library.tb_probe_wdl_impl.restype = ctypes.c_uint
        self._library.tb_probe_root_impl.restype = ctypes.c_uint
        ready = self._library.tb_init(bytes(folder))
        if not ready or not ctypes.c_uint.in_dll(self._library, "TB_LARGEST").value:
            raise OSError(f"Fathom finds no tables in {folder}")

    def wdl(self, board: chess.Board) -> int | None:
        """Return the value from -2 (loss of the side to move) to 2; None if it is unknown."""
        value = self._library.tb_probe_wdl_impl(*self._pieces(board), *self._state(board))
        return None if value == FAILED else int(value) - DRAW

    def distance(self, board: chess.Board) -> int | None:
        """Return the plies to the next capture or pawn move, without sign; None if unknown, or without legal moves."""
        if not any(board.legal_moves):
            return None
        rule50 = ctypes.c_uint(0)
        result = self._library.tb_probe_root_impl(*self._pieces(board), rule50, *self._state(board), None)
        return None if result == FAILED else int(result) >> DTZ_SHIFT

    @staticmethod
    def _pieces(board: chess.Board) -> list[ctypes.c_uint64]:
        colours = [board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]]
        kinds = [board.kings, board.queens, board.rooks, board.bishops, board.knights, board.pawns]
        return [ctypes.c_uint64(squares) for squares in (*colours, *kinds)]

    @staticmethod
    def _state(board: chess.Board) -> tuple[ctypes.c_uint, ctypes.c_bool]:
        return ctypes.c_uint(board.ep_square or 0), ctypes.c_bool(board.turn)


def en_passant_board(generator: random.Random) -> chess.Board:
    """Return a position of two kings and two pawns in which an en passant capture is legal."""
    while True:
        board = chess.Board(None)
        file, step = generator.randrange(8), generator.choice((-1, 1))
        if not 0 <= file + step < 8:
            continue
        board.set_piece_at(chess.square(file, 1), chess.Piece(chess.PAWN, chess.WHITE))
        board.set_piece_at(chess.square(file + step, 3), chess.Piece(chess.PAWN, chess.BLACK))
        empty = [square for square in chess.SQUARES if board.piece_at(square) is None]
        for square, colour in zip(generator.sample(empty, 2), chess.COLORS, strict=True):
            board.set_piece_at(square, chess.Piece(chess.KING, colour))
        move = chess.Move(chess.square(file, 1), chess.square(file, 3))
        if not board.is_valid() or not board.is_legal(move):
            continue
        board.push(move)
        if board.has_legal_en_passant():
            return board if generator.random() < 0.5 else board.mirror()


def main() -> int:
    """Compare and count; return exit status 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of tables")
    parser.add_argument("--suite", type=Path, help="EPD file of more positions")
    parser.add_argument(
        "--positions", type=int, default=1000, help="number of positions of each table (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--library", default="libfathom.so.1", help="Fathom's shared library (default: %(default)s)")
    arguments = parser.parse_args()

    ours = Tablebases(new_tables(), [arguments.folder])
    try:
        theirs = Fathom(arguments.library, arguments.folder)
        lines = arguments.suite.read_text().splitlines() if arguments.suite else []
        suite = [chess.Board.from_epd(line)[0] for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    names = sorted(set(ours.names) & set(ours.dtz_names))
    generator = random.Random(arguments.seed)
    boards = [random_board(name, generator) for name in names for _ in range(arguments.positions)]
    if "KPvKP" in names:
        boards += [en_passant_board(generator) for _ in range(arguments.positions)]

    print(f"{len(boards)} positions of {len(names)} tables, {len(suite)} of the suite, seed {arguments.seed}")
    wdl = dtz = unknown = en_passant = different = 0
    for board in (*boards, *suite):
        fen = board.fen()
        value, reference = ours.wdl(fen), theirs.wdl(board)
        if value is None and reference is None:
            unknown += 1
            continue
        wdl += 1
        en_passant += board.has_legal_en_passant()
        if value != reference:
            different += 1
            print(f"WDL {value}, Fathom {reference}: {fen}")
        distance, reference = ours.dtz(fen), theirs.distance(board)
        if reference is not None:
            dtz += 1
            if distance is None or abs(distance) != reference:
                different += 1
                print(f"DTZ {distance}, Fathom {reference}: {fen}")
    print(f"{wdl} WDL and {dtz} DTZ compared, {en_passant} positions with en passant; {unknown} unknown to both")
    print(f"{different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(exit_status("syzygy_fathom", main))
