"""Options: declared as UCI writes them, and set from text."""

import pytest

from knightadder.engine.errors import OptionError
from knightadder.engine.options import BUILT_IN, DEFAULT_EVALUATION, OPTIONS, Option, Options
from knightadder.engine.strength import DEFAULT_ELO, MAX_ELO, MIN_ELO


def test_the_declarations_are_those_that_interfaces_expect() -> None:
    assert [option.uci() for option in OPTIONS] == [
        "option name Hash type spin default 16 min 1 max 33554432",
        "option name Clear Hash type button",
        "option name Threads type spin default 1 min 1 max 512",
        "option name Ponder type check default false",
        "option name MultiPV type spin default 1 min 1 max 256",
        "option name Move Overhead type spin default 20 min 0 max 5000",
        "option name nodestime type spin default 0 min 0 max 10000",
        "option name UCI_Chess960 type check default false",
        "option name UCI_AnalyseMode type check default false",
        "option name UCI_ShowWDL type check default false",
        "option name UCI_LimitStrength type check default false",
        f"option name UCI_Elo type spin default {DEFAULT_ELO} min {MIN_ELO} max {MAX_ELO}",
        "option name Skill Level type spin default 20 min 0 max 20",
        f"option name EvalType type combo default {DEFAULT_EVALUATION} var classical var pesto var nnue",
        "option name EvalFile type string default <built-in>",
        "option name OwnBook type check default false",
        "option name BookFile type string default <empty>",
        "option name BookDepth type spin default 255 min 1 max 255",
        "option name BestBookMove type check default false",
        "option name SyzygyPath type string default <empty>",
        "option name SyzygyProbeDepth type spin default 1 min 1 max 100",
        "option name SyzygyProbeLimit type spin default 7 min 0 max 7",
        "option name Syzygy50MoveRule type check default true",
    ]


SPIN = Option("Contempt", "spin", 0, -100, 100)
CHECK = Option("Ponder", "check", True)
COMBO = Option("Style", "combo", "Solid", var=("Solid", "Wild"))
TEXT = Option("SyzygyPath", "string", "")


def test_a_combo_is_declared_with_its_choices() -> None:
    assert COMBO.uci() == "option name Style type combo default Solid var Solid var Wild"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (SPIN, "-100", -100),
        (SPIN, "100", 100),
        (CHECK, "true", True),
        (CHECK, "FALSE", False),
        (COMBO, "wild", "Wild"),
        *((TEXT, text, text) for text in ("/a b/c", "Value", "")),
        (TEXT, "<empty>", ""),
        (TEXT, None, ""),
    ],
)
def test_texts_that_are_read(option: Option, text: str | None, value: object) -> None:
    assert option.parse(text) == value


@pytest.mark.parametrize(
    ("option", "texts", "message"),
    [
        (SPIN, ["-101", "101", "9" * 5000], "option Contempt: "),
        (SPIN, ["many"], "option Contempt: expected a whole number, not many$"),
        (SPIN, ["1.5"], "option Contempt: expected a whole number, not 1.5$"),
        (SPIN, ["", None], "option Contempt: expected a whole number, not nothing$"),
        (CHECK, ["yes", "1", "", None], "option Ponder: expected true or false"),
        (COMBO, ["tame", "", None], "option Style: expected Solid or Wild"),
    ],
)
def test_texts_that_are_refused(option: Option, texts: list[str | None], message: str) -> None:
    for text in texts:
        with pytest.raises(OptionError, match=f"^{message}"):
            option.parse(text)


def test_names_are_read_in_any_case_and_a_bad_value_changes_nothing() -> None:
    options = Options()
    assert options.set("move OVERHEAD", "100").name == "Move Overhead"
    with pytest.raises(OptionError):
        options.set("Move Overhead", "5001")
    assert options.move_overhead == 100
    with pytest.raises(OptionError, match=r"^unknown option: Contempt$"):
        options.set("Contempt", "0")


@pytest.mark.parametrize("text", ["<built-in>", "<empty>", "", None])
def test_the_network_goes_back_to_the_built_in_one(text: str | None) -> None:
    options = Options()
    options.set("EvalFile", "mine.nnue")
    assert options.eval_file == "mine.nnue"
    options.set("EvalFile", text)
    assert options.eval_file == BUILT_IN


def test_a_button_takes_anything_and_stores_nothing() -> None:
    options = Options()
    for text in (None, "now"):
        assert options.set("clear hash", text).type == "button"
    with pytest.raises(KeyError):
        options["Clear Hash"]


@pytest.mark.parametrize("char", ["\0", "\n", "\r"])
def test_an_option_is_one_line(char: str) -> None:
    options = Options()
    for name, text in (("SyzygyPath", f"a{char}b"), (f"a{char}b", None), ("Hash", f"32{char}")):
        with pytest.raises(OptionError, match=r"^an option must be one line of text without NUL$"):
            options.set(name, text)
    assert (options.syzygy_path, options.hash_mb) == ("", 16)
