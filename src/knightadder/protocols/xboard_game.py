"""The game that the interface sends move by move. It is stored so that all of it can be passed to the engine again."""

from typing import TYPE_CHECKING

from knightadder.protocols.castling import read_move

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine
    from knightadder.engine.info import Ending


class XBoardGame:
    """A game: its first position, its moves, and queries about the current position.

    All methods that change it need an idle engine and set the engine's position, except `push` with `silent`. `legal`
    contains the legal moves in UCI notation. `placement` is the first field of a FEN, and `ending` says how the game
    has ended. `illegal` says whether the last attempt to set up a position failed because the position was illegal.
    """

    illegal: bool
    legal: list[str]
    placement: str
    ending: "Ending | None"
    _fen_now: str

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._fen: str | None = None
        self._first_side, self._first_number = 0, 1
        self._moves: list[str] = []
        self.illegal = False
        self.sync()

    def restart(self, chess960: bool = False) -> None:
        """Begin at the usual start position; EngineError while the engine searches."""
        self._engine.set_option("UCI_Chess960", str(chess960).lower())
        self._begin(None)

    def set_up(self, fen: str) -> tuple[str, ...]:
        """Begin at a position; return a line for each kind of impossible part that was left out of it. PositionError if
        the position is illegal; no move is then possible until a legal position is set up.
        """
        self.illegal = True
        self.legal = []
        return self._begin(fen)

    def push(self, move: str, silent: bool = False) -> None:
        """Play one of the legal moves, given in UCI notation. With `silent`, the engine is not told, because it is
        already searching with this move played. Until `sync`, queries about the position are then out of date.
        """
        self._moves.append(move)
        if not silent:
            self.sync()

    def undo(self, plies: int) -> None:
        """Take back that many moves, which must exist."""
        del self._moves[-plies:]
        self.sync()

    def sync(self, expected: str | None = None) -> None:
        """Pass the game to the engine, and update what is known about the position. With `expected`, a legal move, the
        engine gets the position after that move. Queries still refer to the position before it.
        """
        moves = self._moves if expected is None else [*self._moves, expected]
        self._engine.set_position(self._fen, moves)
        if expected is None:
            self.legal = self._engine.legal_moves()
            self._fen_now = self._engine.fen()
            self.placement = self._fen_now.split()[0]
            self.ending = self._engine.ending()

    def find(self, text: str) -> str | None:
        """Return the legal move that a text in CECP's notation or in SAN stands for; None if there is none."""
        return read_move(text, self.legal, self.placement) or self._find_san(text)

    def _find_san(self, text: str) -> str | None:
        if not self.legal:
            return None
        import chess  # imported late, because this takes long and interfaces usually send coordinates

        board = chess.Board(self._fen_now, chess960=self._engine.options.chess960)
        try:
            move = board.uci(board.parse_san(text))
        except ValueError:  # no such move, or several
            return None
        return move if move in self.legal else None

    @property
    def plies(self) -> int:
        """Number of plies since the first position."""
        return len(self._moves)

    @property
    def side_to_move(self) -> int:
        """0 for White, 1 for Black."""
        return (self._first_side + len(self._moves)) % 2

    @property
    def move_number(self) -> int:
        """Number of the next move, as in a FEN."""
        return self._first_number + (self._first_side + len(self._moves)) // 2

    def moves_made(self, side: int) -> int:
        """Return the number of moves that a side has made since the first position."""
        return (len(self._moves) + (side == self._first_side)) // 2

    def _begin(self, fen: str | None) -> tuple[str, ...]:
        notes = self._engine.set_position(fen)
        self._fen, self._moves = fen, []
        fields = self._engine.fen().split()
        self._first_side, self._first_number = int(fields[1] == "b"), int(fields[5])
        self.illegal = False
        self.sync()
        return notes
