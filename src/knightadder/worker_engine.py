"""The engine of each worker of a run: this engine, or an external one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

import chess
import chess.engine
from chess.engine import InfoDict, PovWdl, Wdl

from knightadder.engine.errors import EngineError
from knightadder.engine.info import Bound
from knightadder.library.board_engine import Engine
from knightadder.library.results import Analysis, Line
from knightadder.library.scores import MOST_DEPTH, limited
from knightadder.uci.uci_engine import UciEngine

_SHOW_WDL = "UCI_ShowWDL"
_MOST_INFOS = 100_000  # only the last of more lines of a search count, so that endless lines do not fill the memory


class WorkerEngine:
    """The engine of a worker, which starts when it is first needed. It can be pickled before that.

    `command` starts an external engine; None means this engine. `options` are its UCI options. Without ``Hash`` among
    them, the size of its hash table is `hash_mb`, or the nearest size that an external engine supports. `other` is the
    external engine, and `own_options` are the options of this engine besides ``Hash``. `said` holds this engine's
    messages about these options.
    """

    def __init__(self, command: str | None, options: Mapping[str, str], hash_mb: int = 16) -> None:
        self.other = None if command is None else UciAnalyst(command, options, hash_mb)
        self.own_options = {} if self.other else {name: value for name, value in options.items() if name != "Hash"}
        self.said: list[str] = []
        self._hash_mb = int(options.get("Hash", hash_mb))
        self._own: Engine | None = None

    def get(self) -> Engine | UciAnalyst:
        """Return the engine; OptionError if there is too little memory, or an option cannot be set."""
        if self.other is not None:
            return self.other
        if self._own is None:
            self._own = open_engine(self._hash_mb)
            if self.own_options:
                self.said = self._own.configure(self.own_options)
        return self._own

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        if self.other is not None:
            self.other.close()


def open_engine(hash_mb: int) -> Engine:
    """Return this engine with a hash table of this size."""
    return Engine(hash_mb=hash_mb)


class UciAnalyst(UciEngine):
    """A UCI engine that analyses as `knightadder.Engine` does; parameters and errors are as for `UciEngine`. The option
    ``UCI_ShowWDL`` is switched on if the engine has it, and ``Hash`` is left out if the engine has none. `hash_mb` is
    as for `WorkerEngine`.
    """

    def __init__(self, command: str, options: Mapping[str, str], hash_mb: int = 16) -> None:
        super().__init__(command, options)
        self._hash_mb = hash_mb
        self._game = object()

    def _configuration(self, engine: chess.engine.UciProtocol) -> dict[str, str]:
        options = self._options | {_SHOW_WDL: "true"}
        if "Hash" in engine.options and "Hash" not in options:
            known = engine.options["Hash"]
            size = max(self._hash_mb, known.min or 0)
            options["Hash"] = str(size if known.max is None else min(size, known.max))
        return {key: value for key, value in options.items() if key in engine.options or key not in ("Hash", _SHOW_WDL)}

    def new_game(self) -> None:
        """Let the next search begin a new game."""
        self._game = object()

    def analyse(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> Analysis:
        """Analyse a position in which the game is not over, or some of its moves.

        Return the lines of the deepest iteration that has all of them, without bounds if possible. The errors are those
        of `UciEngine.search`. An EngineError is also raised if the engine gives no score.
        """
        told = deque[InfoDict](maxlen=_MOST_INFOS)
        moves = None if root_moves is None else list(root_moves)
        place = board.fen()
        best = self.search(board, limit, told.append, place=place, multipv=multipv, root_moves=moves, game=self._game)
        lines = [info for info in told if info.get("pv") and "score" in info]
        exact = [info for info in lines if "lowerbound" not in info and "upperbound" not in info]
        wanted = min(multipv, len(moves) if moves is not None else board.legal_moves.count())
        ranked = _last_complete(exact, wanted) or _last_complete(lines, 1)
        if not ranked:
            raise EngineError(f"the engine failed on {place}: no score")
        found = tuple(line_of(rank, info, place) for rank, info in enumerate(ranked, 1))
        return Analysis(found, best or found[0].move, found[0].pv[1] if len(found[0].pv) > 1 else None)


def _last_complete(infos: Iterable[InfoDict], wanted: int) -> list[InfoDict]:
    """Return the lines of the last iteration that has the wanted number of lines, or else of the fullest one."""
    iterations: dict[int, dict[int, InfoDict]] = {}
    for info in infos:
        iterations.setdefault(info.get("depth", 0), {})[info.get("multipv", 1)] = info
    found: dict[int, InfoDict] = {}
    for _, lines in sorted(iterations.items()):
        if len(lines) >= min(wanted, len(found) or 1):
            found = lines
    return [found[rank] for rank in sorted(found)]


def line_of(rank: int, info: InfoDict, fen: str) -> Line:
    """Return a line of analysis from an engine's information that has a score and moves; `fen` is its position.
    Numbers that no other engine would report are limited, or left out.
    """
    score = limited(info["score"])
    wdl = info.get("wdl")
    if wdl is None or not all(0 <= count <= 1000 for count in wdl.relative):
        wdl = PovWdl(Wdl(0, 0, 0), score.turn)
    return Line(
        rank=rank,
        depth=min(max(info.get("depth", 0), 0), MOST_DEPTH),
        seldepth=info.get("seldepth", 0),
        score=score,
        bound=Bound.LOWER if "lowerbound" in info else Bound.UPPER if "upperbound" in info else Bound.EXACT,
        wdl=wdl,
        nodes=info.get("nodes", 0),
        nps=info.get("nps", 0),
        hashfull=info.get("hashfull", 0),
        tbhits=info.get("tbhits", 0),
        time=info.get("time", 0.0),
        pv=tuple(info["pv"]),
        fen=fen,
    )
