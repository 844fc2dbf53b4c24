"""What is released: the wheel that a platform gets, which needs no Numba, and the source distribution."""

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import build_wheels
import pytest
import yaml
from packaging import tags
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

import hatch_build
from knightadder import __version__
from knightadder.core.compilation import core
from knightadder.native.builder import TARGETS
from knightadder.native.images import Image
from knightadder.native.processors import host_target

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NETWORK = ROOT / "src" / "knightadder" / "data" / "default.nnue"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TIMEOUT = 250  # seconds, which only a defect takes

HOST = hatch_build.chosen_platform()

# Runs the command as an installation without Numba does.
WITHOUT_NUMBA = """
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.modules["numba"] = sys.modules["llvmlite"] = None
from knightadder import __file__, cli
assert __file__.startswith(sys.path[0])
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Build the source distribution and this platform's wheel; the image that the tests use stands for those of it."""
    core.load()
    folder, image = tmp_path_factory.mktemp("release"), core.read(core.image_file())

    def build_images(sources, folder, targets):
        for name in targets:
            core.write(folder / core.file_name(name), image)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_wheels, "build_images", build_images)
        build_wheels.build(folder, [HOST])
    [wheel], [source] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


@pytest.fixture(scope="module")
def installed(release, tmp_path_factory):
    """Install the wheel in a folder of its own, without what it requires, and give a function that runs it."""
    folder = tmp_path_factory.mktemp("installed")
    install = ["pip", "install", "--quiet", "--no-index", "--no-deps", "--target", folder, release[0]]
    subprocess.run([sys.executable, "-m", *install], check=True, timeout=TIMEOUT)

    def run(*arguments, text=None):
        command = [sys.executable, "-I", "-c", WITHOUT_NUMBA, folder, *arguments]
        before = sorted(folder.rglob("*.image*"))
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIMEOUT)
        assert sorted(folder.rglob("*.image*")) == before
        return done

    return run


def test_the_wheel_is_for_this_platform_and_any_python(release):
    wheel, _ = release
    name, version, _, kinds = parse_wheel_filename(wheel.name)
    assert (name, str(version)) == ("knightadder", __version__)
    assert {(kind.interpreter, kind.abi) for kind in kinds} == {("py3", "none")}
    assert kinds & set(tags.sys_tags())
    with zipfile.ZipFile(wheel) as archive:
        assert b"Root-Is-Purelib: false" in archive.read(f"knightadder-{__version__}.dist-info/WHEEL")


def test_the_wheel_carries_the_images_and_nothing_that_tools_left(release, tmp_path):
    with zipfile.ZipFile(release[0]) as archive:
        names = archive.namelist()
        found = [Path(archive.extract(name, tmp_path)) for name in names if ".image" in name]
    assert {file.name for file in found} == set(map(core.file_name, hatch_build.PLATFORMS[HOST].targets))
    assert None not in map(core.read, found)
    assert [name for name in names if "__pycache__" in name or not name.startswith("knightadder")] == []
    assert NETWORK.relative_to(ROOT / "src").as_posix() in names


def test_the_wheel_requires_no_numba(release):
    with zipfile.ZipFile(release[0]) as archive:
        metadata = email.message_from_bytes(archive.read(f"knightadder-{__version__}.dist-info/METADATA"))
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist")]
    plain = {requirement.name for requirement in required if "extra" not in str(requirement.marker)}
    assert plain == {Requirement(text).name for text in PROJECT["project"]["dependencies"]}
    assert plain.isdisjoint({"numba", "llvmlite"})


def test_the_source_distribution_has_what_builds_and_tests_it(release):
    with tarfile.open(release[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {file.relative_to(ROOT).as_posix() for file in (ROOT / "src").rglob("*.py")}
    sources.add(NETWORK.relative_to(ROOT).as_posix())
    needed = {
        "pyproject.toml",
        "hatch_build.py",
        "Makefile",
        ".ci/run",
        "README.md",
        "LICENSE",
        "tests/test_packaging.py",
    }
    assert (sources | needed) - names == set()
    assert [name for name in names if ".image" in name or name.endswith(".pyc")] == []


def test_the_installed_engine_searches_what_the_sources_search(installed):
    of_sources = subprocess.run(
        [sys.executable, "-m", "knightadder", "bench", "4"], capture_output=True, text=True, check=True, timeout=TIMEOUT
    )
    done = installed("bench", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split()[0] == of_sources.stdout.splitlines()[-1].split()[0]


def test_the_installed_engine_gets_ready_without_a_word_of_compiling(installed):
    done = installed(text="uci\nisready\n")
    assert done.returncode == 0, done.stderr
    assert "readyok" in done.stdout.splitlines()
    assert "compiling" not in done.stdout


def test_each_platform_has_images_that_its_processors_run():
    used = {target for platform in hatch_build.PLATFORMS.values() for target in platform.targets}
    assert used == set(TARGETS)
    for name, platform in hatch_build.PLATFORMS.items():
        system, _, machine = name.partition("-")
        for target in platform.targets:
            assert target.startswith("windows-") == (system == "windows")
            assert ("x86-64" in target) == (machine in ("x86_64", "amd64"))


@pytest.mark.parametrize("name", ["linux-riscv64", "windows-arm64", "linux-x86_64-32-bit"])
def test_where_it_cannot_run_the_installation_says_so_first(monkeypatch, name):
    monkeypatch.setenv("KNIGHTADDER_TARGET", name)
    hook = hatch_build.CustomBuildHook(str(ROOT), {}, None, None, "", "wheel")
    with pytest.raises(SystemExit, match=f"runs on linux-x86_64, .*; not on {name}"):
        hook.dependencies()


@pytest.mark.parametrize(("named", "tuned"), [("", True), (HOST, False)])
def test_what_is_built_for_a_platform_by_name_is_not_tuned_for_this_processor(monkeypatch, named, tuned):
    seen = []

    def build(folder, targets, report, *options):
        seen.append("--tune" in options)
        for name in targets:
            core.write(folder / core.file_name(name), Image({}, b"code"))

    monkeypatch.setattr(core, "build", build)
    monkeypatch.setenv("KNIGHTADDER_TARGET", named)
    hook = hatch_build.CustomBuildHook(str(ROOT), {}, None, None, "", "wheel")
    build_data = {"force_include": {}}
    hook.initialize("standard", build_data)
    hook.finalize("standard", build_data, "")
    assert seen == [tuned]
    assert len(build_data["force_include"]) == len(hatch_build.PLATFORMS[HOST].targets)


def test_an_editable_installation_gets_one_image_beside_the_sources_unless_it_has_it(monkeypatch, tmp_path):
    built = []

    def build(folder, targets, report, *options):
        built.append((targets, options))
        core.write(folder / core.file_name(*targets), Image({}, b"code"))

    monkeypatch.setattr(core, "build", build)
    monkeypatch.setattr(core, "folder", tmp_path)
    hook = hatch_build.CustomBuildHook(str(ROOT), {}, None, None, "", "wheel")
    for _ in range(2):
        hook.initialize("editable", {})
    assert built == [([host_target()], ("--tune",))]
    assert [file.name for file in tmp_path.iterdir()] == [core.file_name(host_target())]


def test_a_wheel_gets_no_images_of_other_sources(monkeypatch, tmp_path):
    with monkeypatch.context() as other:
        other.setattr(core, "digest", "other")
        for target in hatch_build.PLATFORMS[HOST].targets:
            core.write(tmp_path / core.file_name(target), Image({}, b"code"))
    monkeypatch.setenv("KNIGHTADDER_IMAGES", str(tmp_path))
    hook = hatch_build.CustomBuildHook(str(ROOT), {}, None, None, "", "wheel")
    with pytest.raises(SystemExit, match="was not made from these sources"):
        hook.initialize("standard", {"force_include": {}})


def test_sources_are_compiled_by_their_own_builder(tmp_path):
    """Although this process has imported another one."""
    package = tmp_path / "src" / "knightadder" / "core"
    package.mkdir(parents=True)
    for folder in (package, *package.parents[:1]):
        (folder / "__init__.py").touch()
    own = """
class core:
    def build(folder, targets, report):
        for name in targets:
            (folder / name).write_text("compiled")
"""
    (package / "compilation.py").write_text(own)
    build_wheels.build_images(tmp_path / "src", tmp_path, ["one", "other"])
    assert [(tmp_path / name).read_text() for name in ("one", "other")] == ["compiled", "compiled"]
    (package / "compilation.py").write_text(own.replace("for name in targets", "raise RuntimeError"))
    with pytest.raises(SystemExit, match="cannot be compiled"):
        build_wheels.build_images(tmp_path / "src", tmp_path, ["one"])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.name)
def test_workflows_use_actions_of_a_fixed_commit(workflow):
    text = workflow.read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"].values()
    used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
    assert used
    for action in used:
        name, _, commit = action.partition("@")
        assert len(commit) == 40 and int(commit, 16), name
        assert f"{action} # v" in text, f"the version of {name} is not said"


def test_the_image_for_workers_is_made_from_what_a_build_needs_and_nothing_else():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    license_files = PROJECT["project"]["license-files"]
    assert kept == {"src", "pyproject.toml", "hatch_build.py", PROJECT["project"]["readme"], *license_files}
    recipe = (ROOT / "Containerfile").read_text()
    [extra] = re.findall(r"\[(\w+)\]", recipe)
    assert "cluster" == extra in PROJECT["project"]["optional-dependencies"]
