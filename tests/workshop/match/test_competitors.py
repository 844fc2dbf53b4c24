"""Engines as they are described: command line, TOML file, what is wrong with them."""

import sys
from pathlib import Path

import pytest

from knightadder.digests import source_digest
from knightadder.engine.errors import OptionError
from knightadder.workshop.match.competitors import Competitor, read_competitors
from knightadder.workshop.match.time_control import Allowance, TimeControl

PYTHON = sys.executable


def test_an_engine_without_a_command_is_this_program():
    ours, other = read_competitors([[], ["name=B", f"cmd='{PYTHON}' -c 'x y'"]], ["nodes=5"])
    assert (ours.name, ours.command[1:]) == ("Knightadder", ("-m", "knightadder"))
    assert (other.name, other.command[1:]) == ("B", ("-c", "x y"))


@pytest.mark.parametrize(
    ("own", "common", "threads"),
    [
        ({}, {}, 1),
        ({"threads": "4"}, {"Threads": "2"}, 4),
        ({}, {"Threads": "max"}, 1),
        ({}, {"Threads": "9" * 5000}, 1),
    ],
)
def test_threads_are_those_of_the_option(own, common, threads):
    assert Competitor("A", ("a",), options=own, common_options=common).threads == threads


def test_arguments_follow_the_command():
    ours, other = read_competitors(
        [["args=xboard --no-banner"], ["name=B", f"cmd='{PYTHON}' -m x", "args='two words' -v"]], ["nodes=5"]
    )
    assert ours.command[1:] == ("-m", "knightadder", "xboard", "--no-banner")
    assert other.command[1:] == ("-m", "x", "two words", "-v")
    with pytest.raises(OptionError, match="No closing quotation"):
        read_competitors([["args='x"], ["name=B"]], ["nodes=5"])


def test_all_keys(tmp_path):
    first, second = read_competitors(
        [
            ["name=A", f"dir={tmp_path}", "tc=40/8+0.1", "margin=7", "option.Move Overhead=3", "env.PYTHONPATH=x:y=z"],
            ["name=B", "env.HOME=there"],
        ],
        ["st=2", "depth=9", "margin=30", "option.Hash=64", "env.HOME=here"],
    )
    assert first.folder == Path(tmp_path)
    assert first.options == {"Move Overhead": "3"}
    assert first.common_options == second.common_options == {"Hash": "64"}
    assert first.environment == {"PYTHONPATH": "x:y=z", "HOME": "here"}
    assert second.environment == {"HOME": "there"}
    # An engine's own limits replace the common ones, all of them.
    assert first.allowance == Allowance(TimeControl(8, 0.1, 40), margin=0.007)
    assert second.allowance == Allowance(move_time=2.0, depth=9, margin=0.03)


def test_a_file_describes_engines_by_the_same_keys(tmp_path):
    file = tmp_path / "engines.toml"
    file.write_text(
        f"""
        [[engine]]
        name = "A"
        cmd = "'{PYTHON}' -V"
        option = {{ Hash = 16, OwnBook = false }}
        env = {{ X = "1" }}
        nodes = 100

        [[engine]]
        name = "B"
        usual = false
        """
    )
    ours, a = read_competitors([["name=ours"]], ["nodes=5"], file)
    assert (a.name, a.options, a.environment, a.allowance.nodes) == (
        "A",
        {"Hash": "16", "OwnBook": "false"},
        {"X": "1"},
        100,
    )
    assert ours.allowance.nodes == 5
    assert [each.name for each in read_competitors([["name=ours"]], ["nodes=5"], file, ["B"])] == ["ours", "B"]
    with pytest.raises(OptionError, match="--only C: there is no such engine in "):
        read_competitors([[]], ["nodes=5"], file, ["C"])


def test_a_lower_strength_is_known():
    one, two = read_competitors([["name=A"], ["name=B", "option.uci_limitstrength=False"]], ["nodes=5"])
    assert not one.weakened and not two.weakened
    one, two = read_competitors(
        [[], ["name=B", "option.uci_limitstrength=False"]], ["nodes=5", "option.UCI_LimitStrength=true"]
    )
    assert one.weakened and not two.weakened


@pytest.mark.parametrize(
    ("engines", "each", "message"),
    [
        ([], ["nodes=1"], "needs two engines"),
        ([["name=A"]], ["nodes=1"], "needs two engines"),
        ([["name=A"], ["name=A"]], ["nodes=1"], "two engines are called A"),
        ([[], []], ["nodes=1"], "two engines are called Knightadder"),
        ([["name=A"], ["name=B"]], [], "A has no limit"),
        ([["name=A"], ["name=B"]], ["nodes=0"], "nodes=0: expected 1 or more"),
        ([["name=A"], ["name=B"]], ["st=nan"], "st=nan"),
        ([["name=A"], ["name=B"]], ["tc=8:"], "tc=8:"),
        ([["name=A"], ["name=B"]], ["name=C", "nodes=1"], "unknown key name"),
        ([["name=A", "hash=3"], ["name=B"]], ["nodes=1"], "unknown key hash; the keys are name, cmd, .*option.NAME"),
        ([["name=a|b"], ["name=B"]], ["nodes=1"], "a name must not contain vertical bars"),
        ([["dir=/no/such/place"], ["name=B"]], ["nodes=1"], "there is no such folder"),
        ([["cmd=no-such-program"], ["name=B"]], ["nodes=1"], "no such program: no-such-program"),
    ],
)
def test_what_is_refused(engines, each, message):
    with pytest.raises(OptionError, match=message):
        read_competitors(engines, each)


@pytest.mark.parametrize("text", ["[[engine", "engine = 3", "[engine]\nname = 'A'"])
def test_files_that_are_refused(tmp_path, text):
    file = tmp_path / "engines.toml"
    file.write_text(text)
    with pytest.raises(OptionError, match=r"engines\.toml"):
        read_competitors([[]], ["nodes=1"], file)
    with pytest.raises(OptionError, match="cannot read"):
        read_competitors([[]], ["nodes=1"], tmp_path / "missing.toml")


def test_starting_sets_the_options(fake_command):
    competitor = Competitor(
        "A", tuple(fake_command()), options={"hash": "4"}, common_options={"Threads": "1", "Hash": "8"}
    )
    with competitor.start(chess960=True) as client:
        client.new_game(60)
        client.send("position fen 1k5r/8/8/8/8/8/8/RK6 w A - 0 1", "go nodes 1")
        assert client.read_until("bestmove", 60)


def test_an_engine_lacks_an_option_of_its_own(fake_command):
    with pytest.raises(OptionError, match=r"^A: Fake 1\.0 has no option Threads$"):
        Competitor("A", tuple(fake_command()), options={"Threads": "1"}).start()


def test_the_identity_tells_engines_apart():
    base = read_competitors([["name=A"], ["name=B"]], ["nodes=5"])[0].identity()
    for words in (["name=C"], ["name=A", "option.Hash=2"], ["name=A", "depth=3"], ["name=A", "env.X=1"]):
        assert read_competitors([words, ["name=B"]], ["nodes=5"])[0].identity() != base


# --- what the engines are made of ----------------------------------------------------------------------------------


def _sources(*words):
    return read_competitors([["name=A", *words], ["name=B"]], ["nodes=5"])[0].sources()


@pytest.fixture
def copy(tmp_path):
    """Give a folder with something that looks like another copy of this program."""
    (tmp_path / "knightadder" / "core").mkdir(parents=True)
    source = tmp_path / "knightadder" / "core" / "a.py"
    source.write_text("a = 1")
    return source


@pytest.mark.parametrize("name", ["engine.py", "engine.bat", "ENGINE.EXE"])
def test_a_changed_program_or_script_is_another_engine(tmp_path, name):
    script = tmp_path / name
    script.write_text("one")
    for words in ([f"cmd='{PYTHON}' '{script}'"], [f"cmd='{PYTHON}' {name}", f"dir={tmp_path}"]):
        script.write_text("one")
        before = _sources(*words)
        assert _sources(*words) == before
        script.write_text("two")
        assert _sources(*words) != before


@pytest.mark.parametrize("option", ["EvalFile", "evalfile", "EvalFileSmall"])
def test_a_changed_network_is_another_engine(tmp_path, option):
    network = tmp_path / "a.nnue"
    for words in ([f"option.{option}={network}"], [f"option.{option}=a.nnue", f"dir={tmp_path}"]):
        for command in ([], [f"cmd='{PYTHON}' -V"]):
            network.write_bytes(b"one")
            before = _sources(*words, *command)
            network.write_bytes(b"two")
            assert _sources(*words, *command) != before


def test_the_network_of_all_engines_counts(tmp_path):
    network, sources = tmp_path / "a.nnue", []
    for content in (b"one", b"two"):
        network.write_bytes(content)
        sources.append(read_competitors([[], ["name=B"]], ["nodes=5", f"option.EvalFile={network}"])[0].sources())
    assert sources[0] != sources[1]


def test_a_log_that_an_engine_writes_is_no_part_of_it(tmp_path):
    log = tmp_path / "engine.log"
    for words in ([f"cmd='{PYTHON}' -V --log {log}"], [f"cmd='{PYTHON}' -V", f"option.LogFile={log}"]):
        log.write_text("one")
        before = _sources(*words)
        log.write_text("two")
        assert _sources(*words) == before


def test_the_sources_of_this_program_count(copy, monkeypatch):
    folder = copy.parents[2]
    ours = _sources()
    assert ours.endswith(f" {source_digest()}")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # a folder counts nevertheless
    for words in ([f"dir={folder}"], [f"env.PYTHONPATH=/nowhere:{folder}"]):
        copy.write_text("a = 1")
        before = _sources(*words)
        assert before != ours
        copy.write_text("a = 2")
        changed = _sources(*words)
        assert changed != before
        network = copy.parents[1] / "data" / "default.nnue"
        network.parent.mkdir(exist_ok=True)
        network.write_bytes(words[0].encode())
        assert _sources(*words) != changed


@pytest.mark.parametrize("words", [[], [f"cmd='{PYTHON}' -m knightadder"]])
def test_the_program_of_a_folder_runs_though_the_search_path_of_python_is_safe(
    tmp_path, fake_command, monkeypatch, words
):
    _, fake = fake_command()
    (tmp_path / "knightadder" / "core").mkdir(parents=True)
    (tmp_path / "knightadder" / "__init__.py").touch()
    (tmp_path / "knightadder" / "__main__.py").write_text(Path(fake).read_text())
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    competitor = read_competitors([["name=A", f"dir={tmp_path}", *words], ["name=B"]], ["nodes=5"])[0]
    with competitor.start() as client:
        assert client.name == "Fake 1.0"


@pytest.mark.parametrize(("safe", "found"), [("", True), ("1", False)])
def test_the_working_directory_counts_if_python_looks_there(copy, monkeypatch, safe, found):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(copy.parents[2])
    monkeypatch.setenv("PYTHONSAFEPATH", safe)
    assert (_sources() == _sources("env.PYTHONSAFEPATH=1")) is not found


def test_without_a_clock_another_limit_is_needed():
    first, second = read_competitors([["name=A"], ["name=B", "timemargin=9"]], ["tc=inf", "nodes=5", "margin=7"])
    assert first.allowance == Allowance(nodes=5, margin=0.007)
    assert second.allowance == Allowance(nodes=5, margin=0.009)
    with pytest.raises(OptionError, match=r"^A would think forever: with tc=inf, also give st=, nodes= or depth=$"):
        read_competitors([["name=A"], ["name=B"]], ["tc=inf"])
