"""BotSettings from a file and the command line."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from knightadder.engine.errors import OptionError
from knightadder.lichess.settings import BotSettings, read_settings


def test_the_command_line_comes_before_the_file(tmp_path):
    file = tmp_path / "bot.toml"
    file.write_text(
        'speeds = ["blitz"]\nmove-overhead = 300\nabort_after = 20\nponder = true\n'
        "[options]\nOwnBook = true\nUCI_Elo = 1500\n",
        "utf-8",
    )
    settings = read_settings(file, {"move_overhead": 200, "options": {"UCI_Elo": "1800"}})
    assert settings.speeds == ("blitz",)
    assert (settings.move_overhead, settings.abort_after, settings.ponder) == (200, 20.0, True)
    assert settings.engine_options() == {"Hash": 64, "Threads": 1, "OwnBook": True, "UCI_Elo": "1800"}


def test_the_guide_names_all_settings_and_its_example_is_valid(tmp_path):
    guide = (Path(__file__).parents[2] / "docs" / "lichess.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "bot.toml").write_text(example, "utf-8")
    assert read_settings(tmp_path / "bot.toml", {}).concurrency == 2
    rows = re.findall(r"^\| (`.+?`) \| (.*?) \|", guide, re.MULTILINE)
    named = {name for names, _ in rows for name in re.findall(r"`(\w+)`", names)}
    assert named == {setting.name for setting in fields(BotSettings)}
    defaults = BotSettings()
    for names, values in rows:
        for name, value in zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=False):
            if re.fullmatch(r"\d+", value):
                assert getattr(defaults, name) == int(value), name


def test_without_anything_there_are_the_defaults():
    assert read_settings(None, {}) == BotSettings()


@pytest.mark.parametrize("name", ["min_rating", "max_rating", "games", "nodes", "move_overhead", "resign_score"])
def test_numbers_that_turn_something_off_are_zero(name):
    assert getattr(read_settings(None, {name: 0}), name) == 0
    with pytest.raises(OptionError, match="-1"):
        read_settings(None, {name: -1})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("speeds = 'blitz'", "speeds: expected a list of words"),
        ("speeds = []", "speeds: expected at least one"),
        ("speeds = ['hyper']", "not hyper"),
        ("opponents = 'cats'", "opponents: expected all or humans or bots, not cats"),
        ("on_interrupt = 'explode'", "expected finish or resign"),
        ("ponder = 1", "ponder: expected true or false"),
        ("hash = true", "hash: expected a whole number"),
        ("hash = 0", "option Hash: 0 is not between"),
        ("concurrency = 0", "concurrency: expected a number from 1 to 32, not 0"),
        ("move_overhead = 6000", "move_overhead: expected a number from 0 to 5000, not 6000"),
        ("resign_score = -1", "option Resign Score: -1 is not between"),
        ("min_rating = 2000\nmax_rating = 1999", "min_rating: 2000 is above max_rating, 1999"),
        ("abort_after = 'soon'", "abort_after: expected a number"),
        ("abort_after = true", "abort_after: expected a number"),
        ("correspondence_seconds = 0", "correspondence_seconds: expected a number from 0.1 to 86400, not 0.0"),
        ("greeting = 3", "greeting: expected a text"),
        ("token = 'secret'", "unknown setting token; `knightadder lichess --help` lists the settings"),
        ("options = 3", "options: expected a table"),
        ("[options]\nNonsense = 1", "unknown option: Nonsense"),
        ("[options]\nHash = 1.5", "options: each value must be"),
        ("[options]\nPonder = true", "the bot sets Ponder itself"),
        ("url = 'lichess.org'", "is not the address of a server"),
        ("url = 'http://lichess.org'", "unencrypted"),
        ("speeds = [", "bot.toml"),
    ],
)
def test_bad_settings_are_one_clear_line(tmp_path, text, complaint):
    file = tmp_path / "bot.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(OptionError) as caught:
        read_settings(file, {})
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(OptionError, match="cannot read"):
        read_settings(tmp_path / "missing.toml", {})
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="binary"):
        read_settings(tmp_path / "binary.toml", {})
