"""The results of a search by the library: lines, analyses and moves, in python-chess's terms.

As text they are short, in Jupyter a board beside the lines; both write scores in pawns from White's view.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import chess
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound, Info
from knightadder.library.boards import board_of
from knightadder.library.drawing import board_with_table
from knightadder.library.scores import score_text

_PLIES_IN_TEXT, _PLIES_IN_TABLE = 6, 10


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """A principal variation with its score.

    Attributes
    ----------
    rank : int
        Place among the lines analysed, from 1.
    depth, seldepth : int
        Nominal depth of the iteration and the deepest ply reached, in plies.
    score : chess.engine.PovScore
        Centipawns, or moves to mate, from the side to move's view.
    bound : Bound
        Whether the score is exact, or a lower or upper bound.
    wdl : chess.engine.PovWdl
        Expected wins, draws and losses in 1000 games.
    nodes, nps : int
        Positions visited since the search began, and per second.
    hashfull : int
        The part of the hash table in use, in per mille.
    tbhits : int
        Positions found in endgame tablebases.
    time : float
        Seconds since the search began.
    pv : tuple of chess.Move
        The moves; empty when the game is over.
    fen : str
        The position that they begin with.
    """

    rank: int
    depth: int
    seldepth: int
    score: PovScore
    bound: Bound
    wdl: PovWdl
    nodes: int
    nps: int
    hashfull: int
    tbhits: int
    time: float
    pv: tuple[chess.Move, ...]
    fen: str

    @property
    def move(self) -> chess.Move | None:
        """The first move; ``None`` when the game is over."""
        return self.pv[0] if self.pv else None

    def __repr__(self) -> str:
        names = [move.uci() for move in self.pv[:_PLIES_IN_TEXT]] + ["…"] * (len(self.pv) > _PLIES_IN_TEXT)
        return f"<Line {self.rank}: {_summary(self)}, {' '.join(names) or 'no move'}>"

    def _repr_html_(self) -> str:
        return _html([self])


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """The result of an analysis.

    Attributes
    ----------
    lines : tuple of Line
        The latest line of each rank, the best first; at least one.
    best_move : chess.Move or None
        The move to play; ``None`` when there is none, in checkmate and stalemate.
    ponder : chess.Move or None
        The reply to expect.
    """

    lines: tuple[Line, ...]
    best_move: chess.Move | None
    ponder: chess.Move | None

    @property
    def best(self) -> Line:
        """The best line."""
        return self.lines[0]

    @property
    def score(self) -> PovScore:
        """The score of the best line."""
        return self.best.score

    @property
    def pv(self) -> tuple[chess.Move, ...]:
        """The moves of the best line."""
        return self.best.pv

    def __repr__(self) -> str:
        lines = f"{len(self.lines)} lines" if len(self.lines) > 1 else "1 line"
        return f"<Analysis: {_name(self.best_move)}, {_summary(self.best)}, {lines}>"

    def _repr_html_(self) -> str:
        return _html(self.lines)


@dataclass(frozen=True, slots=True, repr=False)
class PlayResult:
    """A move to play.

    Attributes
    ----------
    move : chess.Move or None
        The move; ``None`` when there is none, in checkmate and stalemate.
    ponder : chess.Move or None
        The reply to expect.
    line : Line
        The line that begins with the move, with its score.
    """

    move: chess.Move | None
    ponder: chess.Move | None
    line: Line

    def __repr__(self) -> str:
        return f"<PlayResult: {_name(self.move)}, {_summary(self.line)}>"

    def _repr_html_(self) -> str:
        return _html([self.line])


def _summary(line: Line) -> str:
    return f"{score_text(line.score)}, depth {line.depth}"


def _name(move: chess.Move | None) -> str:
    return move.uci() if move else "no move"


def _html(lines: Sequence[Line]) -> str:
    """Draw the position, with an arrow for the best move, beside the lines of an analysis."""
    board = board_of(lines[0].fen)
    rows = []
    for line in lines:
        moves = board.variation_san(line.pv[:_PLIES_IN_TABLE]) + " …" * (len(line.pv) > _PLIES_IN_TABLE)
        rows.append((score_text(line.score), f"depth {line.depth}", moves))
    return board_with_table(board, lines[0].move, rows)


def line_of(info: Info, fen: str) -> Line:
    """Convert a line of the engine.

    Parameters
    ----------
    info : Info
        As the engine reports it.
    fen : str
        The position.
    """
    turn = fen.split()[1] == "w"
    score = Mate(info.score.mate) if info.score.mate is not None else Cp(info.score.cp or 0)
    # The engine gives no probabilities if the game is over: then the side to move is checkmated or stalemated.
    wdl = info.wdl or ((0, 0, 1000) if score.is_mate() else (0, 1000, 0))
    return Line(
        rank=info.multipv,
        depth=info.depth,
        seldepth=info.seldepth,
        score=PovScore(score, turn),
        bound=info.bound,
        wdl=PovWdl(Wdl(*wdl), turn),
        nodes=info.nodes,
        nps=info.nps,
        hashfull=info.hashfull,
        tbhits=info.tbhits,
        time=info.time_ms / 1000,
        pv=tuple(map(chess.Move.from_uci, info.pv)),
        fen=fen,
    )
