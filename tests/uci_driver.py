"""Drives the engine as a chess program that speaks UCI does."""

from dataclasses import dataclass

from engine_process import COMMAND, TIMEOUT, EngineProcess

__all__ = ["COMMAND", "TIMEOUT", "Analysis", "Search", "UciProcess", "parse_analysis"]


@dataclass(frozen=True)
class Analysis:
    """One `info` line with a score, as far as tests look into it."""

    depth: int
    multipv: int
    cp: int | None
    mate: int | None
    bound: str
    wdl: tuple[int, int, int] | None
    nodes: int
    pv: tuple[str, ...]


def parse_analysis(line: str) -> Analysis | None:
    """Read an `info` line with a score; any other line gives `None`."""
    words = line.split()
    if words[:1] != ["info"] or words[1:2] == ["string"] or "score" not in words:
        return None

    def number(name: str) -> int:
        return int(words[words.index(name) + 1])

    # Whole numbers that every interface reads; a missing or broken one fails here.
    for name in ("seldepth", "nps", "hashfull", "tbhits", "time"):
        number(name)
    wdl = None
    if "wdl" in words:
        wins, draws, losses = map(int, words[words.index("wdl") + 1 : words.index("wdl") + 4])
        wdl = (wins, draws, losses)
    return Analysis(
        depth=number("depth"),
        multipv=number("multipv"),
        cp=number("cp") if "cp" in words else None,
        mate=number("mate") if "mate" in words else None,
        bound=next((word for word in words if word in ("lowerbound", "upperbound")), "exact"),
        wdl=wdl,
        nodes=number("nodes"),
        pv=tuple(words[words.index("pv") + 1 :]) if "pv" in words else (),
    )


@dataclass(frozen=True)
class Search:
    """All that was answered to one `go`."""

    lines: list[str]

    @property
    def analysis(self) -> list[Analysis]:
        """The lines with a score."""
        return [analysis for analysis in map(parse_analysis, self.lines) if analysis is not None]

    @property
    def best_move(self) -> str:
        """The move behind `bestmove`, or `(none)`."""
        return self.lines[-1].split()[1]

    @property
    def ponder_move(self) -> str | None:
        """The move behind `ponder`."""
        words = self.lines[-1].split()
        return words[3] if len(words) > 2 else None


class UciProcess(EngineProcess):
    """A running engine that speaks UCI."""

    def ask(self, *lines: str | bytes) -> list[str]:
        """Send lines, and give what is answered before the answer to an `isready` after them."""
        self.send(*lines, "isready")
        return self.read_until("readyok")[:-1]

    def search(self, *lines: str) -> Search:
        """Send lines, the last of them a `go` that ends by itself or a `stop`, and wait for the best move."""
        self.send(*lines)
        return Search(self.read_until("bestmove"))

    def fen(self) -> str:
        """Give the position that `d` shows."""
        [fen] = [line.removeprefix("Fen: ") for line in self.ask("d") if line.startswith("Fen: ")]
        return fen
