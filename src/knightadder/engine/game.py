"""A game: a position, the moves that led to it, and queries about it."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api import playing
from knightadder.core.api.perft import perft
from knightadder.core.board import fen
from knightadder.core.layout import NO_SQUARE, QUEEN, ROOK
from knightadder.core.worker import WORKER
from knightadder.engine.errors import EngineError, PositionError
from knightadder.engine.info import Ending
from knightadder.engine.limits import MAX_PERFT_DEPTH
from knightadder.engine.notation import encode_moves, parse_uci, to_uci
from knightadder.engine.wdl import material_of_sets
from knightadder.native.records import new_record

_DRAWS = (None, Ending.FIFTY_MOVES, Ending.REPETITION, Ending.DEAD_POSITION)  # indexed by the result of `draw_reason`


def array_of(record: np.record) -> np.ndarray:
    """Return a record as an array of length 1. Python reads and writes the array's fields many times faster."""
    return cast(np.ndarray, record.base)


def copy_game(source: np.record, target: np.record) -> None:
    """Copy the position and history of a game from one WORKER record to another."""
    old, new = array_of(source), array_of(target)
    new["stack"][0, 0] = old["stack"][0, 0]
    new["keys"] = old["keys"]
    new["key_count"] = old["key_count"]
    new["last_move"] = old["last_move"]


class Game:
    """A position with the history that counts for repetitions; `tables` are the read-only tables of the core."""

    def __init__(self, tables: np.record) -> None:
        self._tables = tables
        self.record = new_record(WORKER)
        self._spare = new_record(WORKER)
        self._fullmove = 1
        self._stop = np.zeros(1, np.uint64)
        for record in (self.record, self._spare):  # perft stops by this flag, and every search in a record reads it
            record.stop_address = self._stop.ctypes.data
        self.set_up()

    def set_up(self, text: str | None = None, moves: Sequence[str] = ()) -> tuple[str, ...]:
        """Set up a position from a FEN, or the usual start position, and play moves in UCI notation from it.

        Castling may be written in either form. Return a line for each kind of impossible part that was left out of the
        FEN, such as castling rights without a rook. If the FEN or a move is illegal, a `PositionError` is raised and
        nothing changes.
        """
        try:
            setup = fen.parse_fen(fen.START if text is None else text)
        except fen.FenError as error:
            raise PositionError(fen.refusal(text or "", error)) from None
        record = self._spare
        position = record.stack[0]
        position.board[:] = setup.board
        position.stm, position.castling, position.ep = setup.stm, setup.castling, setup.ep
        position.rule50 = position.plies_from_null = setup.rule50
        if playing.set_up_position(self._tables, record):
            raise PositionError(fen.refusal(text or "", fen.WRONG_SIDE_IN_CHECK))
        self._begin(moves, setup.fullmove)
        return setup.notes

    def set_up_bitboards(self, numbers: NDArray[np.uint64], fullmove: int, moves: Sequence[str] = ()) -> bool:
        """Set up a position from bitboards, which is much faster than from a FEN, and play moves from it.

        ``core/api/playing.py`` describes `numbers`; `fullmove` is the move number. Return False if the position is
        illegal; an illegal move raises a `PositionError`. In both cases nothing changes.
        """
        if not playing.set_up_bitboards(self._tables, self._spare, numbers):
            return False
        self._begin(moves, fullmove)
        return True

    def set_up_packed(self, records: NDArray[np.void], index: int, moves: NDArray[np.int64]) -> int:
        """Set up the packed position ``records[index]``, which must be legal, and play `moves`, as `play_all` in
        ``core/api/playing.py`` does. This is the fastest way. Return the number of moves played.
        """
        played = int(playing.set_up_packed(self._tables, self.record, records, index, moves))
        self._fullmove = int(records["fullmove"][index]) + (int(records["stm_ep"][index] >> 7) + played) // 2
        return played

    def _begin(self, moves: Sequence[str], fullmove: int) -> None:
        """Play moves in the spare record, whose position has the given move number. Then make it the game's record."""
        record = self._spare
        fullmove += (int(array_of(record)["stack"]["stm"][0, 0]) + len(moves)) // 2
        if moves:
            played = playing.play_all(self._tables, record, encode_moves(moves))
            if played < len(moves):
                raise PositionError(f"illegal move: {moves[played]}")
        self._spare, self.record, self._fullmove = self.record, record, fullmove

    def copy(self) -> "Game":
        """Return a new game with the same position and history."""
        other = Game(self._tables)
        copy_game(self.record, other.record)
        other._fullmove = self._fullmove
        return other

    def push(self, move: int) -> None:
        """Play a legal move, given in the core's encoding."""
        self._fullmove += self.side_to_move
        playing.play(self._tables, self.record, move)

    def push_random(self, plies: int, seed: int) -> int:
        """Play random moves, which depend on a seed, until the game ends; return the number of moves played."""
        from knightadder.core.api import datagen_game  # here, because only data generation needs these functions

        mover = self.side_to_move
        played = int(datagen_game.play_randomly(self._tables, self.record, plies, seed))
        self._fullmove += (mover + played) // 2
        return played

    def find(self, name: str) -> int:
        """Return the legal move that a UCI text names, in the core's encoding; 0 if there is none."""
        squares = parse_uci(name)
        return int(playing.find_move(self._tables, self.record, *squares)) if squares else 0

    def legal_moves(self) -> list[int]:
        """Return the legal moves in the core's encoding."""
        count = playing.list_moves(self._tables, self.record)
        moves: list[int] = array_of(self.record)["frames"]["moves"][0, 0, :count].tolist()
        return moves

    def legal_moves_uci(self, chess960: bool = False) -> list[str]:
        """Return the legal moves in UCI notation."""
        return [to_uci(move, chess960) for move in self.legal_moves()]

    @property
    def _position(self) -> np.ndarray:
        return array_of(self.record)["stack"][0, :1]

    @property
    def side_to_move(self) -> int:
        """0 for White, 1 for Black."""
        return int(self._position["stm"][0])

    @property
    def ply(self) -> int:
        """Number of plies since the start of the game, by the FEN's move number. White's first move is ply 0."""
        return 2 * (self._fullmove - 1) + self.side_to_move

    @property
    def board(self) -> list[int]:
        """The pieces by square from a1 = 0: colour * 8 + type, and 0 for an empty square."""
        board: list[int] = self._position["board"][0].tolist()
        return board

    @property
    def in_check(self) -> bool:
        """Whether the side to move is in check."""
        return bool(self._position["checkers"][0])

    @property
    def men(self) -> int:
        """Number of men on the board, including the kings."""
        return int(self._position["by_type"][0, 0]).bit_count()

    @property
    def opponent_is_bare(self) -> bool:
        """Whether the side not to move has only a king."""
        return int(self._position["by_color"][0, 1 - self.side_to_move]).bit_count() == 1

    def has_any(self, *types: int) -> bool:
        """Return whether either side has a piece of one of these types."""
        sets = self._position["by_type"][0]
        return any(sets[piece] for piece in types)

    @property
    def simply_won(self) -> bool:
        """Whether the side to move has a rook or a queen against a bare king."""
        return self.opponent_is_bare and self.has_any(ROOK, QUEEN)

    @property
    def material(self) -> int:
        """The material on the board, as `wdl.material_of_sets` counts it."""
        return material_of_sets(self._position["by_type"][0].tolist())

    @property
    def fifty_move_count(self) -> int:
        """Plies since the last capture or pawn move."""
        return int(self._position["rule50"][0])

    @property
    def has_repetition(self) -> bool:
        """Whether a position has occurred twice since the last capture or pawn move."""
        keys = [*self.record.keys[: self.record.key_count].tolist(), int(self.record.stack[0].key)]
        return len(set(keys)) < len(keys)

    @property
    def drawn(self) -> bool:
        """Whether the fifty-move rule, repetition or lack of material ends the game. Mate and stalemate are ignored."""
        return bool(playing.draw_reason(self._tables, self.record))

    def ending(self) -> Ending | None:
        """Return how the game has ended; None if it has not."""
        if not playing.list_moves(self._tables, self.record):
            return Ending.CHECKMATE if self.in_check else Ending.STALEMATE
        return _DRAWS[playing.draw_reason(self._tables, self.record)]

    def status(self) -> str:
        """Return a text that says whose move it is or how the game has ended."""
        side = ("White", "Black")[self.side_to_move]
        ending = self.ending()
        if ending in (Ending.CHECKMATE, Ending.STALEMATE):
            return f"{side} is {ending.value}d"
        text = f"{side} to move" + (", in check" if self.in_check else "")
        return f"{text}; drawn by {ending.value}" if ending else text

    def fen(self, chess960: bool = False) -> str:
        """Return the FEN of the position; with `chess960`, as Shredder-FEN."""
        position = self.record.stack[0]
        setup = fen.Setup(
            [int(piece) for piece in position.board],
            int(position.stm),
            int(position.castling),
            int(position.ep),
            int(position.rule50),
            self._fullmove,
        )
        return fen.write_fen(setup, chess960)

    def diagram(self, chess960: bool = False) -> str:
        """Return the board as text, with facts about the position and a list of its legal moves."""
        position = self.record.stack[0]
        lines = []
        for rank in range(7, -1, -1):
            row = " ".join(fen.LETTERS[piece] if piece else "." for piece in position.board[rank * 8 : rank * 8 + 8])
            lines.append(f"{rank + 1}  {row}")
        checkers = [fen.square_name(square) for square in range(64) if (int(position.checkers) >> square) & 1]
        return "\n".join(
            [
                *lines,
                "",
                "   a b c d e f g h",
                "",
                self.status(),
                f"Fen: {self.fen(chess960)}",
                f"Key: {int(position.key):016X}",
                f"Checkers: {' '.join(checkers)}".rstrip(),
                f"Moves: {' '.join(sorted(self.legal_moves_uci(chess960)))}".rstrip(),
            ]
        )

    def evaluate(self) -> int:
        """Return the static evaluation in centipawns, from the side to move's view."""
        from knightadder.core.api import static_eval  # here, because not every start needs these functions

        return int(static_eval.evaluate_position(self._tables, self.record))

    def evaluate_without(self, square: int) -> int:
        """Return the value as `evaluate` does, but without the piece on a square, which must not be a king. The side
        that is not to move may then be in check; this does not matter to the evaluation.
        """
        from knightadder.core.api import static_eval

        record = self._spare
        record.stack[0] = self.record.stack[0]
        position = record.stack[0]
        position.board[square] = 0
        position.castling = int(position.castling) & ~(1 << square)
        if position.ep == square ^ 8:  # the removed pawn has just passed over this square
            position.ep = NO_SQUARE
        playing.set_up_position(self._tables, record)
        return int(static_eval.evaluate_position(self._tables, record))

    def trace(self) -> np.record:
        """Return the TRACE record of the classical evaluation, with the counts of its terms."""
        from knightadder.core.api import static_eval

        trace: np.record = static_eval.static_trace(self._tables, self.record)
        return trace

    def renew_sums(self) -> None:
        """Recompute the sums of piece-square values after the tables have changed."""
        position = self.record.stack[0]
        position.psq = self._tables.piece_square["psq"][position.board, np.arange(64)].sum()

    def exchange_wins(self, name: str, threshold: int) -> bool:
        """Return whether the exchange that a legal move starts wins at least `threshold` centipawns."""
        move = self.find(name)
        if not move:
            raise PositionError(f"illegal move: {name}")
        return bool(playing.see(self._tables, self.record, move, threshold))

    def perft(
        self, depth: int, bulk: bool = True, chess960: bool = False, stop: NDArray[np.uint64] | None = None
    ) -> dict[str, int]:
        """Return the number of leaves of the legal move tree below each legal move, by the move in UCI notation.

        `depth` is in plies; an `EngineError` is raised above `MAX_PERFT_DEPTH`. With `bulk`, the moves of the last ply
        are counted without being made. The count ends early, with partial numbers, if the 64-bit word of `stop` is set
        or `interrupt` is called.
        """
        if not 1 <= depth <= MAX_PERFT_DEPTH:
            raise EngineError(f"perft: expected a depth from 1 to {MAX_PERFT_DEPTH}")
        if stop is None:
            stop = self._stop
            stop[0] = 0
        record = self._spare
        record.stop_address = stop.ctypes.data
        counts = {}
        for move in self.legal_moves():
            record.stack[0] = self.record.stack[0]
            playing.play(self._tables, record, move)
            counts[to_uci(move, chess960)] = int(perft(self._tables, record, 0, depth - 1, int(bulk)))
            if stop[0]:
                break
        record.stop_address = self._stop.ctypes.data  # the word of `stop` may not outlive the call
        return counts

    def interrupt(self) -> None:
        """End a running `perft` soon. Any thread may call this."""
        self._stop[0] = 1
