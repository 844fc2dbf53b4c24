"""Engine options: their declarations in UCI's terms, and their values."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from knightadder.engine.errors import OptionError
from knightadder.engine.strength import DEFAULT_ELO, FULL_SKILL, MAX_ELO, MIN_ELO, Handicap, handicap_for

Value: TypeAlias = int | bool | str
T = TypeVar("T")

EVALUATION_NAMES = ("classical", "pesto", "nnue")
DEFAULT_EVALUATION = "nnue"  # the evaluation of the engine and of the library
BUILT_IN = "<built-in>"  # stands for the network file that comes with the engine
MAX_HASH_MB = 33_554_432  # maximum of the option Hash, in MiB
MAX_LINES = 256  # maximum of the option MultiPV


def value_text(value: object) -> str:
    """Return the value of an option as UCI writes it: ``true`` and ``false`` in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of an option, with the names of python-chess's ``chess.engine.Option``.

    `type` is ``"spin"`` (a whole number from `min` to `max`), ``"check"`` (a switch), ``"combo"`` (one of the words
    `var`), ``"string"`` or ``"button"`` (an action, without a default).
    """

    name: str
    type: str
    default: Value | None = None
    min: int | None = None
    max: int | None = None
    var: tuple[str, ...] = ()

    def uci(self) -> str:
        """Return the line that declares the option to a UCI interface."""
        line = f"option name {self.name} type {self.type}"
        if self.type == "button":
            return line
        line += f" default {value_text(self.default) or '<empty>'}"
        if self.type == "spin":
            line += f" min {self.min} max {self.max}"
        return line + "".join(f" var {word}" for word in self.var)

    def parse(self, text: str | None) -> Value | None:
        """Return the value that a text stands for; OptionError if the option does not accept it. Case is ignored.

        For a string option, a missing or empty text and ``<empty>`` mean the default. A button accepts any text,
        because some interfaces send a value with it; the result is then None.
        """
        match self.type:
            case "spin":
                return self._number(text)
            case "check":
                return self._word(text, ("true", "false")) == "true"
            case "combo":
                return self._word(text, self.var)
            case "string":
                return self.default if text in (None, "", "<empty>") else text
        return None

    def _number(self, text: str | None) -> int:
        assert self.min is not None and self.max is not None
        try:
            value = int(text or "")
        except ValueError:
            raise OptionError(f"option {self.name}: expected a whole number, not {text or 'nothing'}") from None
        if not self.min <= value <= self.max:
            raise OptionError(f"option {self.name}: {text} is not between {self.min} and {self.max}")
        return value

    def _word(self, text: str | None, words: tuple[str, ...]) -> str:
        for word in words:
            if word.lower() == (text or "").lower():
                return word
        raise OptionError(f"option {self.name}: expected {' or '.join(words)}, not {text or 'nothing'}")


_NOT_IN_A_LINE = "\0\n\r"  # on most systems, file names cannot contain these characters either

OPTIONS = (
    Option("Hash", "spin", 16, 1, MAX_HASH_MB),
    Option("Clear Hash", "button"),
    Option("Threads", "spin", 1, 1, 512),
    Option("Ponder", "check", False),
    Option("MultiPV", "spin", 1, 1, MAX_LINES),
    Option("Move Overhead", "spin", 20, 0, 5000),
    Option("nodestime", "spin", 0, 0, 10_000),
    Option("UCI_Chess960", "check", False),
    Option("UCI_AnalyseMode", "check", False),
    Option("UCI_ShowWDL", "check", False),
    Option("UCI_LimitStrength", "check", False),
    Option("UCI_Elo", "spin", DEFAULT_ELO, MIN_ELO, MAX_ELO),
    Option("Skill Level", "spin", FULL_SKILL, 0, FULL_SKILL),
    Option("EvalType", "combo", DEFAULT_EVALUATION, var=EVALUATION_NAMES),
    Option("EvalFile", "string", BUILT_IN),
    Option("OwnBook", "check", False),
    Option("BookFile", "string", ""),
    Option("BookDepth", "spin", 255, 1, 255),
    Option("BestBookMove", "check", False),
    Option("SyzygyPath", "string", ""),
    Option("SyzygyProbeDepth", "spin", 1, 1, 100),
    Option("SyzygyProbeLimit", "spin", 7, 0, 7),
    Option("Syzygy50MoveRule", "check", True),
)


class _Setting(Generic[T]):
    """An attribute of `Options`: the value of an option, of the type `kind`."""

    def __init__(self, name: str, kind: type[T]) -> None:
        self._name, self._kind = name, kind

    def __get__(self, options: "Options", owner: type["Options"]) -> T:
        value = options[self._name]
        assert isinstance(value, self._kind)
        return value


class Options:
    """The values of options, by default all of the engine's. Each starts at its default."""

    hash_mb = _Setting("Hash", int)  # size of the transposition table in MiB
    threads = _Setting("Threads", int)
    ponder = _Setting("Ponder", bool)  # whether the interface may let the engine think on the opponent's time
    multipv = _Setting("MultiPV", int)  # number of best lines to find
    move_overhead = _Setting("Move Overhead", int)  # milliseconds to reserve for delays of each move
    node_time = _Setting("nodestime", int)  # nodes that count as a millisecond; 0 for real time
    chess960 = _Setting("UCI_Chess960", bool)  # whether castling is read and written as king takes rook
    analyse_mode = _Setting("UCI_AnalyseMode", bool)  # whether the engine analyses rather than plays a game
    show_wdl = _Setting("UCI_ShowWDL", bool)  # whether analysis gives expected wins, draws and losses
    limit_strength = _Setting("UCI_LimitStrength", bool)  # whether to play at the strength of `elo`
    elo = _Setting("UCI_Elo", int)
    skill_level = _Setting("Skill Level", int)  # 20 is full strength; ignored if `limit_strength` is set
    evaluation = _Setting("EvalType", str)  # one of `EVALUATION_NAMES`
    eval_file = _Setting("EvalFile", str)  # the network of the evaluation ``nnue``
    own_book = _Setting("OwnBook", bool)  # whether to play moves from the book
    book_depth = _Setting("BookDepth", int)  # plies of a game during which the book is used
    best_book_move = _Setting("BestBookMove", bool)  # whether to play the book's heaviest move instead of a random one
    syzygy_path = _Setting("SyzygyPath", str)  # the user's folders, joined by the system's separator
    syzygy_probe_depth = _Setting("SyzygyProbeDepth", int)  # minimum remaining depth to probe the largest tablebases
    syzygy_probe_limit = _Setting("SyzygyProbeLimit", int)  # maximum number of men, including kings, to probe
    syzygy_50_move_rule = _Setting("Syzygy50MoveRule", bool)  # whether the fifty-move rule makes some wins draws

    def __init__(self, declared: Iterable[Option] = OPTIONS) -> None:
        self._declared = {option.name.lower(): option for option in declared}
        self._values = {option.name: option.default for option in self._declared.values() if option.default is not None}

    def set(self, name: str, text: str | None) -> Option:
        """Set an option from text, as in UCI's ``setoption``, and return its declaration. Case does not matter in
        `name`. An `OptionError` is raised, and the old value kept, if the option does not exist or does not accept the
        value.
        """
        option, value = self.read(name, text)
        if value is not None:
            self._values[option.name] = value
        return option

    def begin_with(self, name: str, value: int) -> None:
        """Set a number before the engine is loaded, and make it the default; OptionError if it is not accepted."""
        option = self.set(name, str(value))
        self._declared[name.lower()] = replace(option, default=value)

    @property
    def declarations(self) -> tuple[Option, ...]:
        """The declarations of all options."""
        return tuple(self._declared.values())

    def read(self, name: str, text: str | None) -> tuple[Option, Value | None]:
        """Return the declaration of an option and the value that a text stands for; errors are as for `set`."""
        if any(char in f"{name}{text or ''}" for char in _NOT_IN_A_LINE):
            raise OptionError("an option must be one line of text without NUL")
        option = self._declared.get(name.lower())
        if option is None:
            raise OptionError(f"unknown option: {name}")
        return option, option.parse(text)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    @property
    def handicap(self) -> Handicap | None:
        """The handicap for the strength that the user has set, or None for full strength."""
        if self.limit_strength:
            return handicap_for(self.elo)
        if self.skill_level < FULL_SKILL:
            return handicap_for(MIN_ELO + (MAX_ELO - MIN_ELO) * self.skill_level / FULL_SKILL)
        return None
