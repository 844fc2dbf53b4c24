"""Engine options: their declarations in UCI's terms, and the values that the user has set."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from knightadder.engine.errors import OptionError
from knightadder.engine.strength import (
    DEFAULT_ELO,
    FULL_SKILL,
    MAX_ELO,
    MIN_ELO,
    Handicap,
    handicap_for,
)

Value: TypeAlias = int | bool | str

EVALUATION_NAMES = ("classical", "pesto", "nnue")
DEFAULT_EVALUATION = "nnue"  # of the engine and of the library
BUILT_IN = "<built-in>"  # in place of the file of a network: the one that comes with the engine


@dataclass(frozen=True, slots=True)
class Spin:
    """A whole number between two bounds, both included."""

    name: str
    default: int
    minimum: int
    maximum: int

    def uci(self) -> str:
        """Give the line that declares the option to a UCI interface."""
        return f"option name {self.name} type spin default {self.default} min {self.minimum} max {self.maximum}"

    def parse(self, text: str | None) -> int:
        """Read a value.

        Raises
        ------
        OptionError
            If the text is not a whole number or is outside the bounds.
        """
        try:
            value = int(text or "")
        except ValueError:
            raise OptionError(f"option {self.name}: expected a whole number, not {text or 'nothing'}") from None
        if not self.minimum <= value <= self.maximum:
            raise OptionError(f"option {self.name}: {text} is not between {self.minimum} and {self.maximum}")
        return value


@dataclass(frozen=True, slots=True)
class Check:
    """A switch."""

    name: str
    default: bool

    def uci(self) -> str:
        """Give the line that declares the option to a UCI interface."""
        return f"option name {self.name} type check default {str(self.default).lower()}"

    def parse(self, text: str | None) -> bool:
        """Read ``true`` or ``false``, in any case.

        Raises
        ------
        OptionError
            If the text is neither.
        """
        values = {"true": True, "false": False}
        try:
            return values[(text or "").lower()]
        except KeyError:
            raise OptionError(f"option {self.name}: expected true or false, not {text or 'nothing'}") from None


@dataclass(frozen=True, slots=True)
class Button:
    """An action without a value."""

    name: str

    def uci(self) -> str:
        """Give the line that declares the option to a UCI interface."""
        return f"option name {self.name} type button"

    def parse(self, text: str | None) -> None:
        """Accept any text: some interfaces send a value with a button, which means nothing."""


@dataclass(frozen=True, slots=True)
class Text:
    """Free text; UCI writes the empty text as ``<empty>``."""

    name: str
    default: str

    def uci(self) -> str:
        """Give the line that declares the option to a UCI interface."""
        return f"option name {self.name} type string default {self.default or '<empty>'}"

    def parse(self, text: str | None) -> str:
        """Read a text; a missing or empty value and ``<empty>`` give the default."""
        return self.default if text in (None, "", "<empty>") else str(text)


@dataclass(frozen=True, slots=True)
class Combo:
    """One of several words."""

    name: str
    default: str
    choices: tuple[str, ...]

    def uci(self) -> str:
        """Give the line that declares the option to a UCI interface."""
        choices = "".join(f" var {choice}" for choice in self.choices)
        return f"option name {self.name} type combo default {self.default}{choices}"

    def parse(self, text: str | None) -> str:
        """Read one of the choices, in any case, and give it as declared.

        Raises
        ------
        OptionError
            If the text is none of them.
        """
        for choice in self.choices:
            if choice.lower() == (text or "").lower():
                return choice
        raise OptionError(f"option {self.name}: expected {' or '.join(self.choices)}, not {text or 'nothing'}")


_NOT_IN_A_LINE = "\0\n\r"  # also not allowed in file names, on most systems

Option: TypeAlias = Spin | Check | Button | Text | Combo

OPTIONS: tuple[Option, ...] = (
    Spin("Hash", 16, 1, 33_554_432),
    Button("Clear Hash"),
    Spin("Threads", 1, 1, 512),
    Check("Ponder", False),
    Spin("MultiPV", 1, 1, 256),
    Spin("Move Overhead", 20, 0, 5000),
    Check("UCI_Chess960", False),
    Check("UCI_AnalyseMode", False),
    Check("UCI_ShowWDL", False),
    Check("UCI_LimitStrength", False),
    Spin("UCI_Elo", DEFAULT_ELO, MIN_ELO, MAX_ELO),
    Spin("Skill Level", FULL_SKILL, 0, FULL_SKILL),
    Combo("EvalType", DEFAULT_EVALUATION, EVALUATION_NAMES),
    Text("EvalFile", BUILT_IN),
    Check("OwnBook", False),
    Text("BookFile", ""),
    Spin("BookDepth", 255, 1, 255),
    Check("BestBookMove", False),
    Text("SyzygyPath", ""),
    Spin("SyzygyProbeDepth", 1, 1, 100),
    Spin("SyzygyProbeLimit", 7, 0, 7),
    Check("Syzygy50MoveRule", True),
)


class Options:
    """The values of all options; each starts at its default."""

    def __init__(self) -> None:
        self._declared: dict[str, Option] = {option.name.lower(): option for option in OPTIONS}
        self._values: dict[str, Value] = {
            option.name: option.default for option in OPTIONS if not isinstance(option, Button)
        }

    def set(self, name: str, text: str | None) -> Option:
        """Set an option from text, as UCI's ``setoption`` gives it.

        Parameters
        ----------
        name : str
            Name of the option, in any case.
        text : str or None
            The value; ``None`` where none was given.

        Returns
        -------
        Option
            The declaration of the option that was set, or of the button that was pressed.

        Raises
        ------
        OptionError
            If the option does not exist, or does not accept the value; the old value stays.
        """
        option, value = self.read(name, text)
        if value is not None:
            self._values[option.name] = value
        return option

    def begin_with(self, name: str, value: int) -> None:
        """Set a numerical option before the engine is loaded, and declare the value as its default.

        Raises
        ------
        OptionError
            If the option does not accept the value.
        """
        option = self.set(name, str(value))
        assert isinstance(option, Spin)
        self._declared[name.lower()] = replace(option, default=value)

    @property
    def declarations(self) -> tuple[Option, ...]:
        """The declarations of all options."""
        return tuple(self._declared.values())

    def read(self, name: str, text: str | None) -> tuple[Option, Value | None]:
        """Read a value as `set` does, without setting it; parameters and errors are those of `set`.

        Returns
        -------
        tuple
            The declaration of the option, and the value; None for a button.
        """
        if any(char in f"{name}{text or ''}" for char in _NOT_IN_A_LINE):
            raise OptionError("an option is one line of text, without NUL")
        option = self._declared.get(name.lower())
        if option is None:
            raise OptionError(f"unknown option: {name}")
        return option, option.parse(text)

    def __getitem__(self, name: str) -> Value:
        """Give the value of the option with this name, spelt as declared."""
        return self._values[name]

    @property
    def hash_mb(self) -> int:
        """Size of the transposition table in MiB."""
        return int(self["Hash"])

    @property
    def threads(self) -> int:
        """Number of search threads."""
        return int(self["Threads"])

    @property
    def ponder(self) -> bool:
        """Whether the interface may let the engine think on the opponent's time."""
        return bool(self["Ponder"])

    @property
    def multipv(self) -> int:
        """Number of best lines to analyse."""
        return int(self["MultiPV"])

    @property
    def move_overhead(self) -> int:
        """Milliseconds to reserve on each move for the delay between interface and engine."""
        return int(self["Move Overhead"])

    @property
    def chess960(self) -> bool:
        """Whether castling is read and written as king takes rook."""
        return bool(self["UCI_Chess960"])

    @property
    def analyse_mode(self) -> bool:
        """Whether the engine analyses rather than plays a game."""
        return bool(self["UCI_AnalyseMode"])

    @property
    def show_wdl(self) -> bool:
        """Whether analysis gives expected wins, draws and losses."""
        return bool(self["UCI_ShowWDL"])

    @property
    def limit_strength(self) -> bool:
        """Whether to play at the strength of `elo`."""
        return bool(self["UCI_LimitStrength"])

    @property
    def elo(self) -> int:
        """The Elo to play at, if `limit_strength` is set."""
        return int(self["UCI_Elo"])

    @property
    def skill_level(self) -> int:
        """Strength from 0 to 20, 20 being full strength; ignored if `limit_strength` is set."""
        return int(self["Skill Level"])

    @property
    def handicap(self) -> Handicap | None:
        """The handicap for the strength that the user has set; None for full strength."""
        if self.limit_strength:
            return handicap_for(self.elo)
        if self.skill_level < FULL_SKILL:
            return handicap_for(MIN_ELO + (MAX_ELO - MIN_ELO) * self.skill_level / FULL_SKILL)
        return None

    @property
    def evaluation(self) -> str:
        """The static evaluation, one of `EVALUATION_NAMES`."""
        return str(self["EvalType"])

    @property
    def eval_file(self) -> str:
        """The network's file for the evaluation ``nnue``, or `BUILT_IN`."""
        return str(self["EvalFile"])

    @property
    def own_book(self) -> bool:
        """Whether to play moves from the book."""
        return bool(self["OwnBook"])

    @property
    def book_file(self) -> str:
        """The opening book in Polyglot's format; empty for none."""
        return str(self["BookFile"])

    @property
    def book_depth(self) -> int:
        """Plies of a game during which the book is used."""
        return int(self["BookDepth"])

    @property
    def best_book_move(self) -> bool:
        """Whether to always play the book's heaviest move, instead of a random one by weight."""
        return bool(self["BestBookMove"])

    @property
    def syzygy_path(self) -> str:
        """Folders of Syzygy tablebases, joined by the system's path separator; if empty, only the package's own."""
        return str(self["SyzygyPath"])

    @property
    def syzygy_probe_depth(self) -> int:
        """Least remaining depth in plies at which search probes the largest tablebases."""
        return int(self["SyzygyProbeDepth"])

    @property
    def syzygy_probe_limit(self) -> int:
        """Most men, kings included, of a position to probe in tablebases; 0 for never."""
        return int(self["SyzygyProbeLimit"])

    @property
    def syzygy_50_move_rule(self) -> bool:
        """Whether the fifty-move rule counts, which makes some wins draws."""
        return bool(self["Syzygy50MoveRule"])
