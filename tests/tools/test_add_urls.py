"""The tool that adds the project's addresses to pyproject.toml and README.md when a release is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tool beside a file pyproject.toml, with the checkout's README.md."""
    (folder / "tools").mkdir(exist_ok=True)
    script = shutil.copy(ROOT / "tools" / "add_urls.py", folder / "tools")
    shutil.copy(ROOT / "README.md", folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    return subprocess.run(
        [sys.executable, script], env=environment | variables, capture_output=True, text=True, timeout=60
    )


GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "someone/knightadder"}


def test_the_addresses_are_those_of_the_repository(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    shutil.copy(ROOT / "pyproject.toml", file)
    before = tomllib.loads(file.read_text("utf-8"))
    assert "urls" not in before["project"]  # a checkout has no address of its own
    assert run(tmp_path, **GITHUB).returncode == 0
    after = tomllib.loads(file.read_text("utf-8"))
    urls = after["project"].pop("urls")
    assert after == before
    assert urls["Homepage"] == urls["Source"] == "https://github.com/someone/knightadder"
    assert urls["Issues"] == "https://github.com/someone/knightadder/issues"
    for label in "Documentation", "Changelog":
        address, _, path = urls[label].partition("/blob/HEAD/")
        assert address == urls["Homepage"] and (ROOT / path).is_file()


def test_the_links_of_the_readme_lead_to_the_repository(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert run(tmp_path, **GITHUB).returncode == 0
    before, after = ((folder / "README.md").read_text("utf-8") for folder in (ROOT, tmp_path))
    there = "https://github.com/someone/knightadder"
    assert f"![The board in the browser while it analyses a game]({there}/raw/HEAD/docs/images/" in after
    assert f"[GPL-3.0-or-later]({there}/blob/HEAD/LICENSE)" in after
    assert re.findall(r"\]\((?!https://)", after) == []
    assert re.sub(rf"{there}/(raw|blob)/HEAD/", "", after) == before


def test_a_second_table_or_a_missing_address_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    shutil.copy(ROOT / "pyproject.toml", file)
    missing = run(tmp_path, GITHUB_SERVER_URL="https://github.com")
    assert missing.returncode and missing.stderr == (
        "add_urls: the environment variable GITHUB_REPOSITORY is not set\n"
    )
    assert file.read_bytes() == (ROOT / "pyproject.toml").read_bytes()
    run(tmp_path, **GITHUB)
    written = file.read_bytes()
    twice = run(tmp_path, **GITHUB)
    assert twice.returncode and "already" in twice.stderr
    assert file.read_bytes() == written


def test_the_release_adds_them_before_it_builds() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    commands = [step.get("run") for step in workflow["jobs"]["build"]["steps"]]
    assert commands.index("python tools/add_urls.py") < commands.index("python tools/build_wheels.py dist")
