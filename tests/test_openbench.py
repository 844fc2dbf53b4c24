"""`make EXE=name` and the executable, as OpenBench's client uses them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import chess
import pytest
from engine_process import TIMEOUT
from random_network import random_network

from knightadder.core.compilation import core
from knightadder.core.evaluation.network_file import network_bytes

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the executable is a shell script")

sys.path.insert(0, str(ROOT))
import hatch_build  # noqa: E402


@dataclass(frozen=True)
class Client:
    """A client's folder, with executables in ``Engines``; see `client`."""

    folder: Path
    builds: Path
    images: Path

    def make(self, *variables: str) -> subprocess.CompletedProcess[str]:
        """Build in a checkout that is deleted afterwards; the executable is moved to ``Engines``.

        The client has no environment of its own here, and nothing is compiled: this process has done so already.
        """
        checkout = self.folder / "checkout"
        checkout.mkdir()
        for name in ("Makefile", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, checkout)
        shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("__pycache__", "*.image*"))
        ready = [f"ENVIRONMENT={sys.prefix}", f"BUILDS={self.builds}"]
        done = subprocess.run(
            ["make", "-j", *variables, *ready],
            cwd=checkout,
            # Without what `make test` tells a make that it starts.
            env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
            | {"KNIGHTADDER_IMAGES": str(self.images)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        for executable in checkout.glob("Knightadder-*"):
            shutil.move(executable, self.folder / "Engines")
        shutil.rmtree(checkout)
        return done

    def run(self, name: str, *arguments: str, **options: object) -> str:
        """Run an executable; its output, errors included, is ASCII."""
        done = subprocess.run(
            [f"./Engines/{name}", *arguments],
            **{"cwd": self.folder, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "timeout": TIMEOUT}
            | options,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout.decode("ascii")

    def openings(self, name: str, count: int, seed: int, book: str = "None") -> list[str]:
        """Ask for openings, and give the FENs."""
        lines = self.run(name, f"genfens {count} seed {seed} book {book} ", "quit").splitlines()
        return [line.partition("info string genfens ")[2] for line in lines if line.startswith("info string genfens ")]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    core.load()
    image = core.read(core.image_file())
    assert image
    client = Client(*(tmp_path_factory.mktemp(name) for name in ("client", "builds", "images")))
    (client.folder / "Engines").mkdir()
    for target in hatch_build.PLATFORMS[hatch_build.chosen_platform()].targets:
        core.write(client.images / core.file_name(target), image)
    return client


@pytest.fixture(scope="module")
def engine(client: Client) -> str:
    """Build an executable; gives its name."""
    done = client.make("EXE=Knightadder-0123ABCD", f"CC={sys.executable}")
    assert done.returncode == 0, done.stderr
    return "Knightadder-0123ABCD"


def nodes_and_nps(output: str) -> tuple[int, int]:
    """Give what the client finds: in the last lines that have them."""
    plain = re.sub(r"[^a-zA-Z0-9 \n]+", " ", output)
    nodes, nps = re.findall(r"(\d+)\s+nodes", plain), re.findall(r"(\d+)\s+nps", plain)
    return int(nodes[-1]), int(nps[-1])


def test_bench_gives_the_same_nodes_in_several_processes_at_once(client: Client, engine: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = [nodes_and_nps(output) for output in pool.map(lambda _: client.run(engine, "bench", "9"), range(2))]
    assert found[0][0] == found[1][0] > 10_000
    assert all(nps > 0 for _, nps in found)


def test_openings_come_as_the_client_reads_them(client: Client, engine: str) -> None:
    fens = client.openings(engine, 20, 1978520213)
    assert len(fens) == 20
    for fen in fens:
        assert len(fen.split()) == 6
        assert chess.Board(fen).is_valid()
    assert client.openings(engine, 20, 1978520213) == fens
    assert client.openings(engine, 20, 1978520214) != fens


def test_the_book_is_found_from_where_the_client_is(client: Client, engine: str) -> None:
    (client.folder / "Books").mkdir()
    (client.folder / "Books" / "pawns.epd").write_text("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - hmvc 0; fmvn 1;\n")
    fens = client.openings(engine, 5, 7, "Books/pawns.epd")
    assert len(fens) == 5
    assert {man.piece_type for fen in fens for man in chess.Board(fen).piece_map().values()} <= {chess.PAWN, chess.KING}


def test_uci_works_from_any_folder_whatever_lies_there(client: Client, engine: str, tmp_path: Path) -> None:
    for name in ("knightadder", "chess", "numpy", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    executable = client.folder / "Engines" / engine
    done = subprocess.run(
        [executable], input=b"uci\nisready\ngo depth 2\n", cwd=tmp_path, capture_output=True, timeout=TIMEOUT
    )
    words = done.stdout.decode().split()
    assert (done.returncode, done.stderr) == (0, b"")
    assert {"uciok", "readyok", "bestmove"} <= set(words)
    assert "compiling" not in words


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="shows no command lines as files")
def test_the_client_can_stop_it_by_its_name(client: Client, engine: str) -> None:
    command = [f"./Engines/{engine}"]
    with subprocess.Popen(command, cwd=client.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"uci\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"id name")  # so the shell has become Python
        assert engine in Path(f"/proc/{process.pid}/cmdline").read_text()
        process.stdin.close()
        process.stdout.read()


def test_evalfile_is_the_network_of_this_executable_only(client: Client, engine: str) -> None:
    network = client.folder / "net work.nnue"
    network.write_bytes(network_bytes(random_network()))
    own = client.folder / "own.nnue"
    shutil.copy(ROOT / "src/knightadder/data/default.nnue", own)
    nodes = {engine: nodes_and_nps(client.run(engine, "bench", "3"))[0]}
    for name, file in (("Knightadder-0123ABCD-11112222", network), ("Knightadder-0123ABCD-33334444", own)):
        done = client.make(f"EXE={name}", f"EVALFILE={file}")
        assert (done.returncode, done.stderr) == (0, "")
        nodes[name] = nodes_and_nps(client.run(name, "bench", "3"))[0]
    network.unlink()
    assert nodes["Knightadder-0123ABCD-33334444"] == nodes[engine] != nodes["Knightadder-0123ABCD-11112222"]
    assert nodes_and_nps(client.run(engine, "bench", "3"))[0] == nodes[engine]
    assert nodes_and_nps(client.run("Knightadder-0123ABCD-11112222", "bench", "3"))[0] not in (nodes[engine], 0)


def test_a_network_that_cannot_be_used_ends_the_build(client: Client, engine: str, tmp_path: Path) -> None:
    network = tmp_path / "bad.nnue"
    network.write_bytes(b"nonsense")
    done = client.make("EXE=Knightadder-bad", f"EVALFILE={network}")
    assert done.returncode != 0
    first, *others = done.stderr.splitlines()
    assert first.startswith("EVALFILE: ") and str(network) in first
    assert all(line.startswith("make: ") for line in others)
    assert not (client.folder / "Engines" / "Knightadder-bad").exists()


def test_without_a_name_make_lists_its_targets() -> None:
    listed = subprocess.check_output(["make", "--silent", "-C", ROOT], text=True, timeout=TIMEOUT)
    assert {"run", "test", "bench"} <= set(re.findall(r"make (\w+)", listed))
