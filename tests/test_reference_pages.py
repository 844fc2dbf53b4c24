"""The reference pages of the protocols say what the source says."""

import io
import re
from pathlib import Path

import pytest

from knightadder.engine.info import Bound, CurrentMove, Info, Message, Score
from knightadder.engine.limits import LEAST
from knightadder.engine.loader import Loader
from knightadder.engine.options import Options
from knightadder.protocols.conversation import Connection, Needs
from knightadder.protocols.uci_conversation import Uci
from knightadder.protocols.uci_text import format_info, parse_go
from knightadder.protocols.xboard import XBoard

DOCS = Path(__file__).parents[1] / "docs"
WHEN = {"at once": Needs.NOTHING, "loaded": Needs.ENGINE, "in order": Needs.ITS_TURN, "its turn": Needs.ITS_TURN}
WHEN["idle"] = Needs.IDLE_ENGINE


def rows(page, heading):
    """Give the cells of all tables below a heading, which may have several names in the first cell."""
    text = (DOCS / page).read_text("utf-8")
    section = re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    for line in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
        first, *others = re.split(r" ?\| ?", line)
        for name in re.findall(r"`(.+?)`", first):
            yield name, *others


@pytest.fixture
def conversations():
    loader = Loader(Options())
    return {
        "uci.md": Uci([], io.StringIO(), loader),
        "xboard.md": XBoard(Connection([], io.StringIO(), loader)),
    }


@pytest.mark.parametrize("page", ["uci.md", "xboard.md"])
def test_every_command_is_listed_with_what_it_waits_for(conversations, page):
    listed = [(name, WHEN[when]) for name, _, when, _ in rows(page, "Commands")]
    if page == "uci.md":
        listed.remove(("xboard", Needs.NOTHING))  # only as the very first command
    known = conversations[page]._known
    assert sorted(listed) == sorted((name, needs) for name, (needs, _) in known.items())


def test_every_argument_of_go_is_listed():
    listed = [name for name, *_ in rows("uci.md", "Arguments of `go`")]
    assert sorted(listed) == sorted([*LEAST, "infinite", "ponder", "searchmoves", "perft"])
    assert parse_go(" ".join(f"{name} 1" for name in listed if name not in ("infinite", "ponder"))).complaint == ""


def test_every_field_of_info_is_listed():
    reports = [
        Info(1, 2, 1, score, Bound.LOWER, (1, 998, 1), 3, 4, 5, 6, 7, ("e2e4",)) for score in (Score(1), Score(mate=1))
    ]
    lines = [format_info(report) for report in [*reports, CurrentMove(1, "e2e4", 1, 2, 3, 4, 5), Message("1")]]
    words = {word for line in lines for word in line.removeprefix("info ").split() if word.isalpha()}
    listed = {word for name, *_ in rows("uci.md", "Answers") for word in name.split()}
    assert listed == words | {"upperbound"}
