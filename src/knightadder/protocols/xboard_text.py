"""The text of the Chess Engine Communication Protocol (CECP), without any state: parses commands, formats reports."""

import re
from collections.abc import Sequence

from knightadder import __version__
from knightadder.engine.errors import EngineError
from knightadder.engine.info import Bound, Ending, Info, Score
from knightadder.engine.options import OPTIONS, Option

_MATE = 100_000  # the score of a mate in 0 moves

# Features that the interface must know before it sends anything else. All others have the protocol's default.
FEATURES = (
    f'myname="Knightadder {__version__}"',
    "ping=1 setboard=1 playother=1 usermove=1 time=1 draw=1 reuse=1 analyze=1 name=1",
    "san=0 sigint=0 sigterm=0 colors=0 ics=0 pause=0 nps=0 debug=1 memory=1 smp=1",
    'variants="normal,fischerandom"',
    'egt="syzygy"',
)

# Engine options that have a separate command in CECP, or that do not change the output.
_NOT_OFFERED = frozenset({"Hash", "Threads", "Ponder", "UCI_Chess960", "UCI_AnalyseMode", "UCI_ShowWDL", "SyzygyPath"})
OFFERED = {option.name.lower(): option for option in OPTIONS if option.name not in _NOT_OFFERED}

_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?|\.\d{1,9}")
_LEVEL = re.compile(r"(?P<moves>\d{1,4})\s+(?P<minutes>\d{1,6})(:(?P<seconds>\d{1,2}))?\s+(?P<increment>\S+)")


def declare_option(option: Option) -> str:
    """Return the value of the feature ``option`` that declares an option to the interface."""
    match option.type:
        case "spin":
            value = f"spin {option.default} {option.min} {option.max}"
        case "check":
            value = f"check {int(bool(option.default))}"
        case "combo":
            value = f"combo {' /// '.join(f'*{word}' if word == option.default else word for word in option.var)}"
        case "string":
            value = f"string {option.default}"  # XBoard requires the space even before an empty value
        case _:
            value = option.type
    return f'"{option.name} -{value}"'


def parse_option(text: str) -> tuple[str, str | None]:
    """Parse the arguments of ``option``: the name and the value, None for a button."""
    name, sign, value = text.partition("=")
    return name.strip(), value if sign else None


def option_value(option: Option, value: str | None) -> str | None:
    """Convert the value of an option to UCI's form. In CECP, a switch is 1 or 0."""
    if option.type == "check":
        return {"1": "true", "0": "false"}.get((value or "").strip(), value)
    return value


def parse_level(text: str) -> tuple[int, int, int]:
    """Parse the arguments of ``level``: moves per time control (0 for the whole game), its time in ms, the increment in
    ms. EngineError if the text does not have the form MOVES MINUTES[:SECONDS] INCREMENT.
    """
    level = _LEVEL.fullmatch(text)
    if level is None or _NUMBER.fullmatch(level["increment"]) is None:
        raise EngineError("expected MOVES MINUTES[:SECONDS] INCREMENT")
    seconds = int(level["minutes"]) * 60 + int(level["seconds"] or 0)
    return int(level["moves"]), seconds * 1000, round(float(level["increment"]) * 1000)


def parse_seconds(text: str) -> int:
    """Parse the argument of ``st``, seconds and perhaps a fraction, into milliseconds; EngineError if it is invalid."""
    if _NUMBER.fullmatch(text) is None:
        raise EngineError("st expects a number of seconds")
    return max(round(float(text) * 1000), 1)


def parse_clock(name: str, text: str) -> int:
    """Parse a clock in centiseconds, which may be negative, into milliseconds; EngineError if it is invalid."""
    if re.fullmatch(r"-?\d{1,12}", text) is None:
        raise EngineError(f"{name} expects a number of centiseconds")
    return int(text) * 10


def parse_depth(text: str) -> int:
    """Parse the argument of ``sd``, a depth in plies, at least 1; EngineError if it is invalid."""
    if re.fullmatch(r"\d{1,9}", text) is None:
        raise EngineError("sd expects a number of plies")
    return max(int(text), 1)


def format_thinking(info: Info, moves: Sequence[str]) -> str:
    """Format a line of analysis, with its principal variation given in CECP's notation. A score that is only a bound is
    marked after the moves: ``!`` means at least, ``?`` at most.
    """
    mark = {Bound.EXACT: "", Bound.LOWER: " !", Bound.UPPER: " ?"}[info.bound]
    return f"{info.depth} {_score_number(info.score)} {info.time_ms // 10} {info.nodes} {' '.join(moves)}{mark}"


def _score_number(score: Score) -> int:
    """Return a score as one number: centipawns, or 100000 plus the moves to mate, negative for the mated side."""
    if score.mate is None:
        return score.cp or 0
    return _MATE + score.mate if score.mate > 0 else score.mate - _MATE


def format_ending(ending: Ending, side_to_move: int) -> str:
    """Format the result of a finished game, with the reason; side 0 is White."""
    match ending:
        case Ending.CHECKMATE:
            return "1-0 {White mates}" if side_to_move else "0-1 {Black mates}"
        case Ending.STALEMATE:
            return "1/2-1/2 {Stalemate}"
        case Ending.REPETITION:
            return "1/2-1/2 {Draw by repetition}"
        case Ending.FIFTY_MOVES:
            return "1/2-1/2 {Draw by fifty-move rule}"
        case Ending.DEAD_POSITION:
            return "1/2-1/2 {Draw by insufficient material}"
