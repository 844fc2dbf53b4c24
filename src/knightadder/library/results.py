"""The results of a search by the library: lines, analyses and moves, in python-chess's terms.

Their text is short. Jupyter shows a board beside the lines. Both show scores in pawns from White's view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import chess
from chess.engine import Cp, InfoDict, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound, Info, Result
from knightadder.library.boards import board_of
from knightadder.library.drawing import lines_panel
from knightadder.library.frames import Cell, Rows, Tabular
from knightadder.library.scores import score_text

_PLIES_IN_TEXT, _PLIES_IN_TABLE = 6, 10
_FROM_BLACK = {Bound.EXACT: Bound.EXACT, Bound.LOWER: Bound.UPPER, Bound.UPPER: Bound.LOWER}  # bounds from White's view


@dataclass(frozen=True, slots=True, repr=False)
class Line(Tabular):
    """A principal variation with its score.

    Attributes
    ----------
    rank : int
        Rank among the analysed lines, from 1.
    depth, seldepth : int
        Nominal depth of the iteration and the deepest ply reached, in plies.
    score : chess.engine.PovScore
        Centipawns, or moves to mate, from the side to move's view.
    bound : Bound
        Whether the score is exact, or a lower or upper bound.
    wdl : chess.engine.PovWdl
        Expected wins, draws and losses in 1000 games.
    nodes, nps : int
        Positions visited since the search began, and positions per second.
    hashfull : int
        The share of the hash table in use, in per mille.
    tbhits : int
        Positions found in endgame tablebases.
    time : float
        Seconds since the search began.
    pv : tuple of chess.Move
        The moves; empty if the game is over.
    fen : str
        The position before the first move.
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
        """The first move; ``None`` if the game is over."""
        return self.pv[0] if self.pv else None

    @property
    def san(self) -> str:
        """The moves in standard algebraic notation with move numbers, such as ``1. e4 e5 2. Nf3``."""
        return self._san(len(self.pv))

    def to_dict(self) -> dict[str, Cell]:
        """Return the attributes by name, as plain values.

        The score is given as text (in pawns), and in centipawns (``cp``) or moves to mate (``mate``). Score, bound,
        ``wins``, ``draws`` and ``losses`` are from White's view. ``pv`` has the moves in UCI notation, ``san`` in
        algebraic notation.
        """
        score, wdl = self.score.white(), self.wdl.white()
        return {
            "fen": self.fen,
            "rank": self.rank,
            "depth": self.depth,
            "seldepth": self.seldepth,
            "score": score_text(self.score),
            "cp": score.score(),
            "mate": score.mate(),
            "bound": (self.bound if self.score.turn else _FROM_BLACK[self.bound]).value,
            "wins": wdl.wins,
            "draws": wdl.draws,
            "losses": wdl.losses,
            "nodes": self.nodes,
            "nps": self.nps,
            "hashfull": self.hashfull,
            "tbhits": self.tbhits,
            "time": self.time,
            "move": self.move.uci() if self.move else None,
            "pv": " ".join(move.uci() for move in self.pv),
            "san": self.san,
        }

    def to_info(self) -> InfoDict:
        """Return the line as a ``chess.engine.InfoDict``, the type that python-chess's engines return."""
        return InfoDict(
            depth=self.depth,
            seldepth=self.seldepth,
            multipv=self.rank,
            score=self.score,
            wdl=self.wdl,
            nodes=self.nodes,
            nps=self.nps,
            hashfull=self.hashfull,
            tbhits=self.tbhits,
            time=self.time,
            pv=list(self.pv),
        )

    def _san(self, plies: int) -> str:
        """Write the first moves, up to an illegal one: the end of a line may belong to another position."""
        board = board_of(self.fen)
        end, moves = board.copy(), []
        for move in self.pv[:plies]:
            if not end.is_legal(move):
                break
            moves.append(move)
            end.push(move)
        return board.variation_san(moves) + " …" * (len(self.pv) > plies)

    def __repr__(self) -> str:
        return f"<Line {self.rank}: {_summary(self)}, {self._san(_PLIES_IN_TEXT) or 'no move'}>"

    def _repr_html_(self) -> str:
        return _html([self])


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Tabular):
    """The result of an analysis.

    Attributes
    ----------
    lines : tuple of Line
        The latest line of each rank, best first; at least one after a search.
    best_move : chess.Move or None
        The move to play; ``None`` in checkmate and stalemate.
    ponder : chess.Move or None
        The expected reply.
    """

    lines: tuple[Line, ...]
    best_move: chess.Move | None
    ponder: chess.Move | None

    @property
    def best(self) -> Line:
        """The best line; ValueError if there is none."""
        if not self.lines:
            raise ValueError("the analysis has no line")
        return self.lines[0]

    @property
    def score(self) -> PovScore:
        """The score of the best line."""
        return self.best.score

    @property
    def pv(self) -> tuple[chess.Move, ...]:
        """The moves of the best line."""
        return self.best.pv

    @property
    def fen(self) -> str:
        """The position."""
        return self.best.fen

    def to_dict(self) -> dict[str, Cell | Rows]:
        """Return plain values: ``fen``, both moves in UCI notation, and ``lines``, as by `Line.to_dict`."""
        return {
            "fen": self.fen if self.lines else None,
            "best_move": self.best_move.uci() if self.best_move else None,
            "ponder": self.ponder.uci() if self.ponder else None,
            "lines": self._rows(),
        }

    def _rows(self) -> Rows:
        return [line.to_dict() for line in self.lines]

    def to_info(self) -> list[InfoDict]:
        """Return the lines as python-chess's ``SimpleEngine.analyse`` does with ``multipv``."""
        return [line.to_info() for line in self.lines]

    def __repr__(self) -> str:
        if not self.lines:
            return "<Analysis: no line>"
        lines = f"{len(self.lines)} lines" if len(self.lines) > 1 else "1 line"
        return f"<Analysis: {_name(self.best_move, self.fen)}, {_summary(self.best)}, {lines}>"

    def _repr_html_(self) -> str | None:
        return _html(self.lines) if self.lines else None


@dataclass(frozen=True, slots=True, repr=False)
class PlayResult(Tabular):
    """A move to play.

    Attributes
    ----------
    move : chess.Move or None
        The move; ``None`` in checkmate and stalemate.
    ponder : chess.Move or None
        The expected reply.
    line : Line
        The line that begins with the move, with its score.
    """

    move: chess.Move | None
    ponder: chess.Move | None
    line: Line

    def to_dict(self) -> dict[str, Cell]:
        """Return the move, the reply and the line as plain values; see `Line.to_dict`."""
        played = {"move": self.move.uci() if self.move else None, "ponder": self.ponder.uci() if self.ponder else None}
        return {**self.line.to_dict(), **played}

    def __repr__(self) -> str:
        return f"<PlayResult: {_name(self.move, self.line.fen)}, {_summary(self.line)}>"

    def _repr_html_(self) -> str:
        return _html([self.line])


def _summary(line: Line) -> str:
    return f"{score_text(line.score)}, depth {line.depth}"


def _name(move: chess.Move | None, fen: str) -> str:
    return board_of(fen).san(move) if move else "no move"


def _html(lines: Sequence[Line]) -> str:
    best = lines[0]
    rows = [(score_text(line.score), f"depth {line.depth}", line._san(_PLIES_IN_TABLE)) for line in lines]
    moves = [line.move for line in lines if line.move]
    return lines_panel(board_of(best.fen), moves, best.wdl.white().expectation(), rows)


def line_of(info: Info, fen: str) -> Line:
    """Return the line that the engine has reported for the position of a FEN."""
    turn = fen.split()[1] == "w"
    score = Mate(info.score.mate) if info.score.mate is not None else Cp(info.score.cp or 0)
    # The engine gives no probabilities if the game is over. The side to move is then checkmated or stalemated.
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


def analysis_of(lines: Iterable[Line], result: Result) -> Analysis:
    """Return the analysis by a search with these lines, best first, and this result."""
    best, ponder = [chess.Move.from_uci(name) if name else None for name in (result.best_move, result.ponder)]
    return Analysis(tuple(lines), best, ponder)
