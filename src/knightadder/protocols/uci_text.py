"""The text of the Universal Chess Interface, without any state: parses commands, and formats the engine's reports."""

import re
from collections import deque
from dataclasses import dataclass, replace

from knightadder.engine.errors import EngineError
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result
from knightadder.engine.limits import LEAST, Limits
from knightadder.text import one_line

_GO_NUMBERS = frozenset({*LEAST, "perft"})
_GO_WORDS = frozenset({*_GO_NUMBERS, "infinite", "ponder", "searchmoves"})
_NO_LIMITS = frozenset({"winc", "binc", "movestogo"})  # numbers that end no search by themselves

_VALUE = re.compile(r"\svalue(?!\S)")

HELP = """\
Knightadder speaks the Universal Chess Interface (UCI), for use from a chess program. By hand:
  position startpos | fen FEN [moves M1 M2 ...]   set up a position
  go [depth N] [movetime MS] [nodes N] [infinite] ...   search the position; stop ends the search
  go perft N                        count the leaves of the move tree, move by move
  d, eval                           show the position; explain its static evaluation
  setoption name NAME value VALUE   change an option; uci lists all options
  bench [DEPTH]                     search a fixed set of positions
  quit"""


@dataclass(frozen=True, slots=True)
class Go:
    """A parsed ``go`` command: the limits, or the depth of a ``go perft``. `complaint` tells the user which words were
    not understood; it is empty if all were.
    """

    limits: Limits
    perft: int | None
    complaint: str


def parse_go(text: str) -> Go:
    """Parse the arguments of ``go``, in any order.

    If a field is repeated, the last one counts. Decimals are truncated, and numbers outside the sensible range are
    clamped. ``movestogo 0`` means sudden death. ``depth``, ``nodes``, ``mate`` and ``movetime`` below 1, and two clocks
    of 0, count only if the search is not infinite and nothing else limits it, because some programs fill in every
    field. A field without a number is ignored. But if it would have been the only limit, the search gets the depth 1:
    the interface expects that the search ends.
    """
    numbers: dict[str, int] = {}
    flags = {"infinite": False, "ponder": False}
    searchmoves: list[str] = []
    unread: set[str] = set()
    ignored: list[str] = []
    words = deque(text.split())
    while words:
        word = words.popleft()
        if word in flags:
            flags[word] = True
        elif word == "searchmoves":
            while words and words[0] not in _GO_WORDS:
                searchmoves.append(words.popleft())
        elif word in _GO_NUMBERS:
            value = words.popleft() if words and words[0] not in _GO_WORDS else ""
            try:
                numbers[word] = int(value.partition(".")[0])
            except ValueError:
                unread.add(word)
                ignored.append(f"{word} {value}".strip())
        else:
            ignored.append(word)
    perft = numbers.pop("perft", None)
    unset = {name for name in ("depth", "nodes", "mate", "movetime") if numbers.get(name, 1) < 1}
    if numbers.get("wtime") == 0 and numbers.get("btime") == 0:
        unset |= {"wtime", "btime"}
    if flags["infinite"] or not unset.issuperset(numbers.keys() - _NO_LIMITS):
        numbers = {name: number for name, number in numbers.items() if name not in unset}
    movestogo = numbers.get("movestogo", 0)
    limits = Limits(
        wtime=numbers.get("wtime"),
        btime=numbers.get("btime"),
        winc=numbers.get("winc", 0),
        binc=numbers.get("binc", 0),
        movestogo=movestogo if movestogo > 0 else None,
        depth=numbers.get("depth"),
        nodes=numbers.get("nodes"),
        mate=numbers.get("mate"),
        movetime=numbers.get("movetime"),
        infinite=flags["infinite"],
        ponder=flags["ponder"],
        searchmoves=tuple(searchmoves),
    )
    complaint = f"ignored {', '.join(ignored)}" if ignored else ""
    if limits.unlimited and not limits.infinite and unread - _NO_LIMITS:
        limits = replace(limits, depth=1)
        complaint += "; searching to depth 1, because no limit is left"
    return Go(limits, None if perft is None else max(perft, 1), complaint)


def parse_position(text: str) -> tuple[str | None, list[str]]:
    """Parse the arguments of ``position``: the FEN, or ``None`` for the start position, and the moves. EngineError if
    the command names neither ``startpos`` nor a FEN, or has other words where ``moves`` is expected.
    """
    words = text.split()
    setup = words[: words.index("moves")] if "moves" in words else words
    moves = words[len(setup) + 1 :]
    if setup == ["fen"]:
        raise EngineError("position: expected a FEN after fen")
    if setup[:1] == ["fen"]:
        return " ".join(setup[1:]), moves
    if setup[:1] != ["startpos"]:
        raise EngineError("position: expected startpos or fen")
    if setup[1:]:
        raise EngineError(f"position: expected moves after startpos, not {setup[1]}")
    return None, moves


def parse_setoption(text: str) -> tuple[str, str | None]:
    """Parse the arguments of ``setoption``: name and value; the value is ``None`` if the word ``value`` is missing.
    Spaces inside the value are kept, because it may be a path. EngineError if there is no name.
    """
    before = _VALUE.search(text)
    words = (text[: before.start()] if before else text).split()
    if len(words) < 2 or words[0] != "name":
        raise EngineError("setoption: expected name NAME value VALUE")
    return " ".join(words[1:]), text[before.end() :].strip() if before else None


def format_info(info: Info | CurrentMove | Message) -> str:
    """Format one report of a search as a line of UCI."""
    if isinstance(info, Message):
        return f"info string {one_line(info.text)}"
    if isinstance(info, CurrentMove):
        return (
            f"info depth {info.depth} currmove {info.move} currmovenumber {info.number} nodes {info.nodes} "
            f"nps {info.nps} hashfull {info.hashfull} time {info.time_ms}"
        )
    score = f"cp {info.score.cp}" if info.score.mate is None else f"mate {info.score.mate}"
    bound = "" if info.bound is Bound.EXACT else f" {info.bound.value}bound"
    wdl = "" if info.wdl is None else " wdl {} {} {}".format(*info.wdl)
    pv = f" pv {' '.join(info.pv)}" if info.pv else ""
    return (
        f"info depth {info.depth} seldepth {info.seldepth} multipv {info.multipv} score {score}{bound}{wdl} "
        f"nodes {info.nodes} nps {info.nps} hashfull {info.hashfull} tbhits {info.tbhits} time {info.time_ms}{pv}"
    )


def format_result(result: Result) -> str:
    """Format the end of a search as a line of UCI."""
    if result.best_move is None:
        return "bestmove (none)"
    return f"bestmove {result.best_move}" + (f" ponder {result.ponder}" if result.ponder else "")
