"""The tool that tests a change from two commits to a row of the strength log, with fake engines that do not think."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
import try_change

from knightadder.workshop.match.journal import MatchLog, Record

FAKE_ENGINE = Path(__file__).parents[1] / "workshop" / "fake_engine.py"

# A package whose file `bench` is what `knightadder bench` prints, and whose file `words` is for the fake engine.
MAIN = f"""
import runpy, sys
from pathlib import Path

package = Path(__file__).parent
if sys.argv[1:2] == ["bench"]:
    with open(package.parents[2] / "benches", "a") as benches:
        print(package.parent.name, *sys.argv[2:], file=benches)
    print("1/1  e2e4  1 nodes")
    print(package.joinpath("core", "bench.json").read_text(), "nodes 99 nps")
else:
    sys.argv[1:] = package.joinpath("core", "words.json").read_text().split("|")
    runpy.run_path({str(FAKE_ENGINE)!r})
"""

HEADING = "| Date | Change | Bench | Time | Book | Games | W-D-L | Elo (95 %) | LLR [hypotheses] | Verdict |"
LOG = f"""# Strength log

## Changes

{HEADING}
|---|---|---|---|---|--:|--:|--:|---|---|
| 2026-01-02 | first | 1 | | | | | | | kept |

Text.

## Evaluation

{HEADING}
|---|---|---|---|---|--:|--:|--:|---|---|
"""

# The scores make a side resign as soon as both agree for five moves.
WINS, LOSES = "score=cp 900", "score=cp -900"


class Repository:
    """A repository with commits of a fake package.

    Attributes
    ----------
    root : Path
        Its folder.
    log : Path
        The strength log.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "docs" / "strength-log.md"
        self.log.parent.mkdir(parents=True)
        self.log.write_text(LOG)
        self.core = root / "src" / "knightadder" / "core"
        self.core.mkdir(parents=True)
        (self.core.parent / "__init__.py").touch()
        (self.core.parent / "__main__.py").write_text(MAIN)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        """Run git, and return what it prints."""
        who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def write(self, bench: int, words: str) -> None:
        """Write a version that is not committed."""
        (self.core / "bench.json").write_text(str(bench))
        (self.core / "words.json").write_text(words)

    def commit(self, bench: int, *words: str) -> str:
        """Commit a version, and return the hash."""
        self.write(bench, "|".join(words))
        self.git("add", "src")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"Version {bench}")
        return self.git("rev-parse", "HEAD")

    def rows(self) -> list[str]:
        """Return what has been added to the table of changes."""
        before, after = LOG.split("\n\nText.")
        text = self.log.read_text()
        assert text.startswith(before) and text.endswith(f"\n\nText.{after}")
        return text[len(before) : len(text) - len(after) - len("\n\nText.")].strip().splitlines()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Give a repository with the branches main, at bench 1, and new, at bench 2 and checked out."""
    repository = Repository(tmp_path / "checkout")
    repository.commit(1, LOSES)
    repository.git("checkout", "--quiet", "-b", "new")
    repository.commit(2, WINS)
    return repository


@pytest.fixture
def run(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Give the function that runs the tool, and gives its status, standard output and standard error."""
    monkeypatch.setattr(try_change, "ROOT", repository.root)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = try_change.main([*arguments, "--folder", str(tmp_path / "kept")])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


Run = Callable[..., tuple[int, str, str]]


# Seven pairs that are won decide it, or three that are lost.
QUICK = ("--bounds", "0", "200")


def cells(row: str) -> list[str]:
    return row.strip("| ").split(" | ")


def games_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()[1:]]


def test_a_better_version_passes_and_gets_its_row(
    repository: Repository, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # the versions run from their folders nevertheless
    status, out, err = run("games", "Wins: more!", *QUICK)
    assert (status, err) == (0, "")
    [row] = repository.rows()
    _, change, bench, limits, book, games, score, _, llr, verdict = cells(row)
    assert (change, bench, limits, book) == ("Wins: more!", "2", "N=200000, 16 MB", "built-in")
    assert (games, score, llr, verdict) == ("14", "14-0-0", "3.43 [0, 200] normalized", "passed")
    assert "Version 2)\nBench: 2\n" in out and "Version 1)\nBench: 1\n" in out
    assert out.endswith(f"{row}\n")
    assert len(games_of(tmp_path / "kept" / "wins-more")) == 14


@pytest.mark.parametrize(
    ("words", "bounds", "limits"),
    [
        (["--adds"], "[0, 8]", "N=200000"),
        (["--simplifies"], "[-5, 0]", "N=200000"),
        (["--bounds", "1", "3", "--nodes", "5"], "[1, 3]", "N=5"),
        (["--adds", "--clock", "1000+1", "--option", "Unknown=1"], "[0, 8]", "1000+1"),
    ],
)
def test_bounds_and_limits_are_stated_before(
    repository: Repository, run: Run, tmp_path: Path, words: list[str], bounds: str, limits: str
) -> None:
    status, out, _ = run("games", "change", *words, "--hash", "3", "--max-games", "2")
    assert status == 1
    [row] = repository.rows()
    others = ", Unknown=1" if "--option" in words else ""
    assert cells(row)[3] == f"{limits}, 3 MB{others}" and cells(row)[5:7] == ["2", "2-0-0"]
    assert cells(row)[8].endswith(f" {bounds} normalized") and cells(row)[9] == "not decided"
    header = json.loads((tmp_path / "kept" / "change" / "games.jsonl").read_text().splitlines()[0])
    assert header["rules"]["draw"] == {"move_number": 40, "move_count": 8, "score": 10}
    assert header["rules"]["resign"] == {"move_count": 5, "score": 800, "two_sided": True}
    for engine, commit in zip(header["engines"], ("new", "main"), strict=True):
        assert engine["limits"] == limits and engine["options"]["Hash"] == "3"
        assert engine["dir"] == str(tmp_path / "kept" / "versions" / repository.git("rev-parse", commit))
    assert f"{bounds} normalized, {limits}, 3 MB{others}, built-in, at most 2 games" in out


def test_a_worse_version_is_dropped(repository: Repository, run: Run) -> None:
    status, _, _ = run("games", "change", *QUICK, "--new", "main", "--base", "new")
    assert status == 1
    [row] = repository.rows()
    assert (cells(row)[2], cells(row)[6], cells(row)[-1]) == ("1", "0-0-6", "failed, dropped")


@pytest.mark.parametrize(("guilty", "score"), [("new", "0-0-6"), ("base", "14-0-0")])
def test_faults_are_the_verdict(repository: Repository, run: Run, guilty: str, score: str) -> None:
    faulty = repository.commit(3, "do=illegal", "at=every")
    other = "base" if guilty == "new" else "new"
    status, out, _ = run("games", "change", *QUICK, f"--{guilty}={faulty}", f"--{other}=HEAD~1")
    assert status == 1
    [row] = repository.rows()
    assert (cells(row)[6], cells(row)[-1]) == (score, f"fault: {guilty} {cells(row)[5]} illegal")
    assert re.search(rf"^ +{guilty} +{cells(row)[5]} illegal ", out, re.MULTILINE)


def test_an_interrupted_test_goes_on(
    repository: Repository, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = MatchLog.add_game

    def add_and_interrupt(self: MatchLog, record: Record, *rest: int) -> None:
        add(self, record, *rest)
        if len(self.records) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(MatchLog, "add_game", add_and_interrupt)
    status, _, err = run("games", "change", *QUICK)
    assert status == 130
    assert "the same command continues from there" in err
    assert repository.rows() == []
    before = games_of(tmp_path / "kept" / "change")
    assert len(before) >= 3
    monkeypatch.setattr(MatchLog, "add_game", add)

    # Meanwhile the branch main goes on, but not what the new version is compared with.
    repository.git("checkout", "--quiet", "main")
    repository.commit(3, WINS)
    repository.git("checkout", "--quiet", "new")
    status, out, _ = run("games", "change", *QUICK)
    assert status == 0 and "Bench:" not in out
    [row] = repository.rows()
    assert cells(row)[6] == "14-0-0"
    assert games_of(tmp_path / "kept" / "change")[: len(before)] == before
    assert (tmp_path / "kept" / "benches").read_text().count("\n") == 2


def test_a_test_is_not_continued_as_another(repository: Repository, run: Run) -> None:
    run("games", "a change", *QUICK, "--max-games", "2", "--nodes", "5")
    for words, differing in (
        (["a change", *QUICK, "--max-games", "2"], "limits"),
        (["a change", "--adds", "--max-games", "2", "--nodes", "5"], "bounds"),
        (["a change", *QUICK, "--max-games", "4", "--nodes", "5"], "max-games"),
        (["a change", *QUICK, "--max-games", "2", "--nodes", "5", "--hash", "2"], "hash"),
        (["a change", *QUICK, "--max-games", "2", "--nodes", "5", "--openings", "seed=2"], "openings"),
        (["a change", *QUICK, "--max-games", "2", "--nodes", "5", "--chess960"], "chess960"),
        (["A change!", *QUICK, "--max-games", "2", "--nodes", "5"], "change"),
        (["a change", *QUICK, "--max-games", "2", "--nodes", "5", "--new", "HEAD~2"], "new"),
    ):
        if differing == "new":
            repository.commit(3, WINS)
            repository.commit(4, WINS)
            words[-1] = "HEAD"
        status, _, err = run("games", *words)
        assert status == 2
        assert f"belongs to a run with other settings ({differing}): use the same, or give the change" in err
    assert len(repository.rows()) == 1


def test_a_test_that_has_ended_is_not_logged_again(repository: Repository, run: Run, tmp_path: Path) -> None:
    assert run("games", "change", *QUICK)[::2] == (0, "")
    played = games_of(tmp_path / "kept" / "change")
    repository.log.write_text(repository.log.read_text().replace(" passed |", " passed; kept since it is short |"))
    status, out, _ = run("games", "change", *QUICK)
    assert status == 0 and out.endswith(" passed |\n")
    assert [cells(row)[-1] for row in repository.rows()] == ["passed; kept since it is short"]
    assert games_of(tmp_path / "kept" / "change") == played


def test_a_row_is_added_once_even_if_the_tool_is_killed_then(
    repository: Repository, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_json = try_change.write_json

    def killed(file: Path, content: dict[str, Any]) -> None:
        if content.get("logged"):
            raise KeyboardInterrupt
        write_json(file, content)

    monkeypatch.setattr(try_change, "write_json", killed)
    assert run("games", "change", *QUICK, "--max-games", "2")[0] == 130
    assert len(repository.rows()) == 1
    monkeypatch.setattr(try_change, "write_json", write_json)
    assert run("games", "change", *QUICK, "--max-games", "2")[0] == 1
    assert len(repository.rows()) == 1


def test_the_checkout_may_change_meanwhile(repository: Repository, run: Run) -> None:
    repository.write(9, LOSES)
    status, out, err = run("games", "change", "--adds")
    assert (status, out) == (2, "")
    assert "src has uncommitted changes" in err
    status, out, _ = run("games", "change", *QUICK, "--max-games", "2", "--new", "new")
    assert cells(repository.rows()[0])[2] == "2" and cells(repository.rows()[0])[6] == "2-0-0"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["change", "--adds", "--new", "nothing"], "there is no commit nothing"),
        (
            ["change", "--adds", "--new", "main"],
            "main would be tested against itself: name a different commit with --base",
        ),
        (["change", "--adds", "--base", "HEAD"], "HEAD would be tested against itself"),
        (["a | b", "--adds"], "describe the change in one line, without vertical bars"),
        (["?", "--adds"], "describe the change in one line, without vertical bars"),
        (["change", "--bounds", "8", "0"], "--sprt: elo0 must be less than elo1"),
        (["change", "--adds", "--max-games", "3"], "--games 3: expected an even number"),
        (["change", "--adds", "--max-games", "802"], "built-in has only 400 openings, enough for 800 games"),
        (["change", "--adds", "--openings", "file=missing.epd"], "cannot read missing.epd: No such file"),
        (["change", "--adds", "--clock", "soon"], "soon"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_built(
    repository: Repository, run: Run, tmp_path: Path, words: list[str], message: str
) -> None:
    status, out, err = run("games", *words)
    assert (status, out) == (2, "")
    assert message in err and err.startswith("try_change: ") and err.count("\n") == 1
    assert not (tmp_path / "kept" / "benches").exists()


def test_a_log_without_a_table_is_refused_first(repository: Repository, run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.md"
    log.write_text(LOG.replace("## Changes", "## Other"))
    status, _, err = run("games", "change", "--adds", "--log", str(log))
    assert (status, err) == (2, "try_change: the strength log has no table of changes\n")
    assert not (tmp_path / "kept").exists()


def test_the_table_of_this_repository_is_found() -> None:
    lines = try_change.read_log(Path(__file__).parents[2] / "docs" / "strength-log.md")
    place = try_change.row_place(lines)
    assert lines[place - 1].startswith("| 2") and lines[place] == ""
    assert lines[:place].count("## Changes") == 1 and "## Evaluation" in lines[place:]


def test_versions_that_play_the_same_need_no_games(repository: Repository, run: Run) -> None:
    repository.commit(2, LOSES)
    status, _, err = run("games", "change", "--adds", "--base", "HEAD~1")
    assert (status, err) == (2, "try_change: the benches are equal, so both play the same: compare them by speed\n")


@pytest.mark.parametrize("words", [("--clock", "1000"), ("--option", "EvalType=classical")])
def test_bench_does_not_show_how_time_is_managed_or_what_an_option_changes(
    repository: Repository, run: Run, words: tuple[str, ...]
) -> None:
    repository.commit(2, LOSES)
    assert run("games", "change", "--adds", "--base", "HEAD~1", "--max-games", "2", *words)[0] == 1
    (row,) = repository.rows()
    assert ("MB, EvalType=classical |" in row) == ("--option" in words)


def test_a_version_that_cannot_be_built(repository: Repository, run: Run) -> None:
    (repository.core / "bench.json").unlink()
    repository.git("commit", "--quiet", "--all", "--message", "Broken")
    status, _, err = run("games", "change", "--adds")
    assert status == 1
    assert err.splitlines()[-1].endswith(" (Broken): knightadder bench failed")


def test_speed_is_measured_in_turns(
    repository: Repository, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = repository.commit(2, WINS, "seed=3")
    base = repository.git("rev-parse", "HEAD~1")
    # new, base; base, new; new, base
    times = iter([0.0, 1.0, 1.0, 2.1, 2.1, 3.3, 3.3, 4.3, 4.3, 5.3, 5.3, 6.6])
    monkeypatch.setattr(try_change, "user_seconds", lambda: next(times))
    status, out, _ = run("speed", "--base", "HEAD~1", "--pairs", "3", "--depth", "7")
    assert status == 0
    assert "2/3  base 1.20 s, new 1.00 s\n" in out
    assert out.endswith(
        "new version has 1.200 times the speed, 75% [1.100, 1.300]: user time of bench 7, 3 pairs in turns\n"
    )
    order = (tmp_path / "kept" / "benches").read_text().splitlines()
    assert order == [base, new, f"{new} 7", f"{base} 7", f"{base} 7", f"{new} 7", f"{new} 7", f"{base} 7"]


def test_speed_of_versions_that_play_differently_is_refused(run: Run) -> None:
    status, _, err = run("speed")
    assert status == 2 and "the benches differ, so the searches differ" in err


@pytest.mark.parametrize(("count", "rank"), [(3, 1), (6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (50, 18)])
def test_the_interval_of_a_median(count: int, rank: int) -> None:
    # The ranks are those of published tables of the sign test at 5 %.
    low, high, sure = try_change.median_interval([float(number) for number in range(count, 0, -1)])
    assert (low, high) == (rank, count + 1 - rank)
    assert sure == pytest.approx(1 - 2 * scipy.stats.binom.cdf(rank - 1, count, 0.5))
