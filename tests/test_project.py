"""The project as a whole: its version, its documents, its files."""

import argparse
import itertools
import re
import shlex
import subprocess
import tomllib
import warnings
from pathlib import Path

import pytest

import knightadder
from knightadder.cli import build_parser
from knightadder.engine.options import OPTIONS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GUIDES = sorted(file for file in ROOT.glob("docs/**/*.md") if "_build" not in file.parts)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / folder / "README.md" for folder in ("benchmarks", "tools")), *GUIDES])


def test_the_version_has_one_source():
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/knightadder/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", knightadder.__version__)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document):
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name).resolve() if name else document
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in [
                re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
            ]


@pytest.mark.parametrize("document", GUIDES, ids=lambda document: document.relative_to(ROOT).as_posix())
def test_included_code_is_there(document):
    text = document.read_text("utf-8")
    for name, options in re.findall(r"^ *```{literalinclude} (\S+)\n((?: *:.*\n)*)", text, re.MULTILINE):
        code = (document.parent / name).read_text("utf-8")
        for kind, value in re.findall(r"^ *:([a-z-]+): (.+)$", options, re.MULTILINE):
            if kind in ("start-at", "start-after", "end-at", "end-before"):
                assert value.strip('"') in code
            elif kind == "pyobject":
                assert re.search(rf"^ *(def|class) {value.rpartition('.')[2]}\b", code, re.MULTILINE), value


def test_the_options_are_documented_as_they_are():
    table, _, _ = (ROOT / "docs/options.md").read_text("utf-8").partition("## Under XBoard")
    rows = re.findall(r"^\| `(.+?)` \| (.*?) ?\| (.*?) ?\|", table, re.MULTILINE)
    assert rows == [(option.name, *_default_and_range(option)) for option in OPTIONS]


def _default_and_range(option):
    match option.type:
        case "spin":
            return str(option.default), f"{option.min} to {option.max}"
        case "check":
            return str(option.default).lower(), ""
        case "combo":
            return option.default, ", ".join(option.var)
        case "string":
            return f"`{option.default}`" if option.default else "empty", ""
        case "button":
            return "", ""


def test_every_command_is_documented():
    (commands,) = [
        action.choices for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    guides = "\n".join(guide.read_text("utf-8") for guide in GUIDES)
    documented = [command for name, command in commands.items() if f"knightadder {name}" in guides]
    assert [name for name, command in commands.items() if command not in documented] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_are_accepted(document):
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", document.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            command, *words = shlex.split(line, comments=True) or [""]
            if command.endswith("knightadder") and words and "--help" not in words:
                build_parser().parse_args(list(itertools.takewhile(lambda word: word[0] not in "<>|", words)))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(ROOT).as_posix())
def test_the_options_of_tools_exist(document):
    sources = (file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))  # tools share some of their options
    shared = {option for source in sources for option in re.findall(r'"(--[a-z][a-z-]+)"', source)}
    text = re.sub(r"\\\n\s*", " ", document.read_text("utf-8"))
    for name, words in re.findall(r"((?:\w+/)?\w+\.py)((?: [^`\n]+)?)", text):
        for file in [ROOT / name, ROOT / "tools" / name, ROOT / "benchmarks" / name]:
            if file.parent.name in ("tools", "benchmarks") and file.exists():
                known = set(re.findall(r"--[a-z][a-z-]+", file.read_text("utf-8"))) | shared
                given, _, _ = re.sub(r"\s#.*", "", words).partition(" -- ")
                assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", given)) <= known, name


@pytest.mark.parametrize(
    ("module", "ours"),
    [
        ("knightadder.core.movegen", True),
        ("knightadder", True),
        ("test_project", True),
        ("uci_driver", True),
        (str(ROOT / "src" / "knightadder" / "core" / "movegen"), True),
        ("starlette.routing", False),
        ("knightadder_plugin", False),
        (str(ROOT / ".venv" / "lib" / "site-packages" / "numba" / "core" / "typing"), False),
    ],
)
def test_only_warnings_of_our_own_are_errors(module, ours):
    def warn():
        warnings.warn_explicit("it will go", DeprecationWarning, f"{module}.py", 1, module=module)

    if ours:
        with pytest.raises(DeprecationWarning):
            warn()
    else:
        with warnings.catch_warnings(record=True) as caught:
            warn()
        assert [warning.category for warning in caught] == [DeprecationWarning]


@pytest.mark.parametrize("script", [".ci/run"])
def test_scripts_are_valid_and_executable(script):
    file = ROOT / script
    assert file.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(file)], check=True)
