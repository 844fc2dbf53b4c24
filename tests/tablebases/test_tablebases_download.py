"""Downloads from a server in another thread, which may break connections off, send damaged bytes, and so on."""

from __future__ import annotations

import errno
import io
import math
import os
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from knightadder import progress
from knightadder.cli import main
from knightadder.engine.errors import EngineError
from knightadder.engine.tablebases.file import TableError
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.tablebases import download as tablebases_download
from knightadder.tablebases.download import Download

Output = pytest.CaptureFixture[str]
FILES = {path.name: path.read_bytes() for path in sorted(SHIPPED.glob("K?vK.rtb?"))}
NAME = "KRvK.rtbz"
WHOLE = FILES[NAME]


class Mirror(ThreadingHTTPServer):
    """A server of the shipped tables, in two folders; tests change what it does.

    Attributes
    ----------
    files : dict of str to bytes
        By path.
    requests : list of tuple
        The path and the range, or None, of each request.
    status : int
        200, or what every request is answered with.
    ranges : bool
        Whether it knows ranges.
    most : float
        The part of what is due that it sends before it breaks off.
    damaged : int
        How many answers are damaged.
    chunked : bool
        Whether it sends chunks, without the length in front.
    length : str or None
        The length that it tells, if not the right one.
    before_first : callable or None
        Called before the first answer.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        folders = {".rtbw": "3-4-5-wdl", ".rtbz": "3-4-5-dtz"}
        self.files = {f"/{folders[name[-5:]]}/{name}": data for name, data in FILES.items()}
        self.requests: list[tuple[str, str | None]] = []
        self.status, self.ranges, self.most, self.damaged, self.chunked = 200, True, 1.0, 0, False
        self.length: str | None = None
        self.before_first: Callable[[], object] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        mirror = self.server
        asked = self.headers["Range"]
        mirror.requests.append((self.path, asked))
        if (call := mirror.before_first) is not None:
            mirror.before_first = None
            call()
        data = mirror.files.get(self.path)
        if data is None or mirror.status != 200:
            self.send_error(404 if mirror.status == 200 else mirror.status)
            return
        start = int(re.findall(r"\d+", asked)[0]) if asked and mirror.ranges else 0
        if start >= len(data):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if mirror.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", mirror.length or str(len(data) - start))
        self.end_headers()
        body = data[start:]
        if mirror.damaged:
            mirror.damaged -= 1
            body = body[:-20] + bytes([body[-20] ^ 1]) + body[-19:]
        sent = body[: math.ceil(len(body) * mirror.most)]
        if mirror.chunked:
            end = b"0\r\n\r\n" if sent == body else b""
            sent = b"%x\r\n%s\r\n%s" % (len(sent), sent, end)
        self.wfile.write(sent)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("no_proxy", "*")
    with Mirror() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a" / "tables"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def download(mirror: Mirror, folder: Path, *more: str) -> int:
    return main(["tablebases", "download", str(folder), "--men", "3", "--url", mirror.url, *more])


def test_a_second_run_at_the_same_time_is_refused(mirror: Mirror, folder: Path, capsys: Output) -> None:
    statuses: list[int] = []
    mirror.before_first = lambda: statuses.append(download(mirror, folder))
    assert download(mirror, folder) == 0
    assert statuses == [2]
    assert re.search(r"^knightadder: \S+\.part is in use by another run$", capsys.readouterr().err, re.M)
    assert content(folder) == FILES
    assert len(mirror.requests) == len(FILES)


# --- what is fetched -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terminal", [False, True])
def test_all_files_once(
    mirror: Mirror, folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    if terminal:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("FORCE_COLOR", "1")
    else:
        monkeypatch.setattr(progress, "_LINE_SECONDS", 0)
    assert download(mirror, folder) == 0
    assert content(folder) == FILES
    assert len(mirror.requests) == len(FILES)
    out, err = capsys.readouterr()
    assert out == f"10 of 10 files in {folder}; fetched 10, 26.4 kB\n"
    assert "KRvK.rtbz" in err
    if not terminal:
        lines = err.splitlines()
        assert lines[0] == "0/10 files  KBvK.rtbw"
        assert "9/10 files  KRvK.rtbz" in lines
        assert re.fullmatch(r"9/10 files  KRvK\.rtbz  (\S+ \w+) of \1", lines[-1])
    mirror.requests.clear()
    assert download(mirror, folder) == 0
    assert mirror.requests == []
    assert capsys.readouterr().out == f"10 of 10 files in {folder}; fetched 0, 0 bytes\n"


def test_a_mirror_without_folders(mirror: Mirror, folder: Path) -> None:
    mirror.files = {f"/syzygy/{name}": data for name, data in FILES.items()}
    assert main(["tablebases", "download", str(folder), "--men", "3", "--url", f"{mirror.url}/syzygy/"]) == 0
    assert content(folder) == FILES
    assert len(mirror.requests) == len(FILES) + 1


def test_wdl_only(mirror: Mirror, folder: Path) -> None:
    assert download(mirror, folder, "--wdl-only") == 0
    assert content(folder) == {name: data for name, data in FILES.items() if name.endswith(".rtbw")}


def test_the_tables_with_more_men_are_asked_for_by_name(mirror: Mirror, folder: Path) -> None:
    assert main(["tablebases", "download", str(folder), "--men", "5", "--url", mirror.url]) == 1
    asked = {path.rpartition("/")[2] for path, _ in mirror.requests}
    assert len(asked) == 290
    assert {"KPPPvK.rtbw", "KQRvKN.rtbz", "KBvKN.rtbw"} <= asked
    assert content(folder) == FILES


@pytest.mark.parametrize("damaged", [b"", b"<html>", WHOLE[:-64], WHOLE[:-20] + b"\xff" + WHOLE[-19:]])
def test_a_damaged_file_is_fetched_again(mirror: Mirror, folder: Path, damaged: bytes) -> None:
    shutil.copytree(SHIPPED, folder)
    (folder / NAME).write_bytes(damaged)
    assert Download(mirror.url, folder).fetch(NAME)
    assert (folder / NAME).read_bytes() == WHOLE
    assert not (folder / f"{NAME}.part").exists()


# --- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        (WHOLE[:1000], ["bytes=1000-"]),
        (b"", [None]),
        (b"\0" * 1000, ["bytes=1000-", None]),  # of another file
        (WHOLE, [f"bytes={len(WHOLE)}-"]),  # only the name is wrong
        (WHOLE + b"\0", [f"bytes={len(WHOLE) + 1}-", None]),
    ],
)
def test_an_incomplete_file_is_completed(mirror: Mirror, tmp_path: Path, part: bytes, asked: list[str | None]) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(part)
    assert Download(mirror.url, tmp_path).fetch(NAME)
    assert content(tmp_path) == {NAME: WHOLE}
    assert [ranges for _, ranges in mirror.requests] == asked


def test_a_mirror_that_ignores_ranges(mirror: Mirror, tmp_path: Path) -> None:
    mirror.ranges = False
    (tmp_path / f"{NAME}.part").write_bytes(WHOLE[:1000])
    assert Download(mirror.url, tmp_path).fetch(NAME)
    assert content(tmp_path) == {NAME: WHOLE}
    assert len(mirror.requests) == 1


@pytest.mark.parametrize("chunked", [False, True])
def test_a_mirror_that_breaks_off_halfway(mirror: Mirror, tmp_path: Path, chunked: bool) -> None:
    mirror.most, mirror.chunked = 0.5, chunked
    assert Download(mirror.url, tmp_path).fetch(NAME)
    assert content(tmp_path) == {NAME: WHOLE}
    starts = [int(ranges[6:-1]) if ranges else 0 for _, ranges in mirror.requests]
    assert starts == sorted(set(starts))
    assert len(starts) > 5


def test_a_mirror_that_breaks_off_and_ignores_ranges(mirror: Mirror, tmp_path: Path) -> None:
    mirror.most, mirror.ranges = 0.5, False
    with pytest.raises(TableError, match="connection was lost"):
        Download(mirror.url, tmp_path).fetch(NAME)
    assert len(mirror.requests) == 2


def test_a_mirror_that_sends_nothing(mirror: Mirror, folder: Path, capsys: Output) -> None:
    mirror.most = 0.0
    assert download(mirror, folder) == 1
    out, err = capsys.readouterr()
    assert err.count("the connection was lost each time\n") == len(FILES)
    assert out == f"0 of 10 files in {folder}; fetched 0, 0 bytes\n"


def test_an_interrupted_download_goes_on(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tablebases_download, "_BLOCK", 100)

    def interrupt(name: str, done: int, total: int | None) -> None:
        assert (name, total) == (NAME, len(WHOLE))
        if done >= 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Download(mirror.url, tmp_path, interrupt).fetch(NAME)
    (part,) = tmp_path.iterdir()
    size = part.stat().st_size
    assert part.read_bytes() == WHOLE[:size]
    assert Download(mirror.url, tmp_path).fetch(NAME)
    assert content(tmp_path) == {NAME: WHOLE}
    assert [ranges for _, ranges in mirror.requests] == [None, f"bytes={size}-"]


def test_an_interrupted_command_says_how_to_go_on(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def interrupt(self: Download, name: str) -> bool:
        if len(content(tmp_path)) == 2:
            raise KeyboardInterrupt
        return fetch(self, name)

    fetch = Download.fetch
    monkeypatch.setattr(Download, "fetch", interrupt)
    del mirror.files["/3-4-5-dtz/KBvK.rtbz"]
    assert download(mirror, tmp_path) == 130
    assert f"2 of 10 files are in {tmp_path}; the same command continues from there\n" in capsys.readouterr().err


# --- what cannot be had --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 1_000_000])
def test_damaged_bytes_are_never_taken(mirror: Mirror, tmp_path: Path, times: int) -> None:
    mirror.damaged = times
    if times == 1:
        assert Download(mirror.url, tmp_path).fetch(NAME)
    else:
        with pytest.raises(TableError, match="its checksum is wrong"):
            Download(mirror.url, tmp_path).fetch(NAME)
    assert content(tmp_path) == ({NAME: WHOLE} if times == 1 else {})
    assert len(mirror.requests) == 2


def test_a_file_under_the_name_of_another(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files[f"/3-4-5-dtz/{NAME}"] = FILES["KQvK.rtbz"]
    with pytest.raises(TableError, match="the pieces in its header do not match its name"):
        Download(mirror.url, tmp_path).fetch(NAME)


def test_a_file_that_the_mirror_lacks(mirror: Mirror, folder: Path, capsys: Output) -> None:
    del mirror.files["/3-4-5-wdl/KPvK.rtbw"]
    assert download(mirror, folder) == 1
    out, err = capsys.readouterr()
    assert "knightadder: KPvK.rtbw: not on the mirror" in err.splitlines()
    assert out.startswith("9 of 10 files")
    assert set(FILES) - set(content(folder)) == {"KPvK.rtbw"}


def test_a_mirror_without_tables(mirror: Mirror, folder: Path, capsys: Output) -> None:
    mirror.files = {}
    assert download(mirror, folder) == 1
    assert f"knightadder: {mirror.url}/: no tables found; " in capsys.readouterr().err
    assert len(mirror.requests) == 2


@pytest.mark.parametrize("status", [503, 416])  # 416 is the answer to a range after the end; no range was asked for
def test_a_mirror_that_is_busy(mirror: Mirror, folder: Path, capsys: Output, status: int) -> None:
    mirror.status = status
    assert download(mirror, folder) == 1
    said = f"/KBvK.rtbw: {status} {HTTPStatus(status).phrase}"
    assert capsys.readouterr().err.splitlines()[-1].endswith(said)


def test_a_mirror_that_does_not_answer(
    mirror: Mirror, folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tablebases_download, "_TIMEOUT", 0.01)
    over = threading.Event()
    mirror.before_first = over.wait
    assert download(mirror, folder) == 1
    over.set()
    assert capsys.readouterr().err.splitlines()[-1].endswith("/KBvK.rtbw: cannot be reached: timed out")


def test_a_mirror_that_is_busy_costs_no_bytes(mirror: Mirror, tmp_path: Path) -> None:
    part = tmp_path / f"{NAME}.part"
    part.write_bytes(WHOLE[:1000])
    mirror.status = 503
    with pytest.raises(EngineError, match="503 Service Unavailable"):
        Download(mirror.url, tmp_path).fetch(NAME)
    assert part.read_bytes() == WHOLE[:1000]


def test_no_network(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # not listening
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert main(["tablebases", "download", str(tmp_path), "--men", "3", "--url", url]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"knightadder: {url}/3-4-5-wdl/KBvK.rtbw: cannot be reached: {os.strerror(errno.ECONNREFUSED)}"


def test_an_impossible_port(tmp_path: Path, capsys: Output) -> None:
    assert main(["tablebases", "download", str(tmp_path), "--men", "3", "--url", "http://127.0.0.1:x"]) == 1
    assert capsys.readouterr().err.endswith("/KBvK.rtbw: cannot be reached: nonnumeric port: 'x'\n")


@pytest.mark.parametrize("url", ["", "tables", "file:///etc", "http://", "http://[1", "http://a/b c", "ftp://a/b"])
def test_what_is_not_a_url(tmp_path: Path, capsys: Output, url: str) -> None:
    assert main(["tablebases", "download", str(tmp_path), "--url", url]) == 2
    assert capsys.readouterr().err.startswith("knightadder: expected an http or https URL, not")


def test_a_folder_that_cannot_be_made(mirror: Mirror, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "file").touch()
    assert download(mirror, tmp_path / "file") == 2
    assert download(mirror, tmp_path / "file" / "folder") == 2
    assert capsys.readouterr().err.count("knightadder: cannot use ") == 2


def test_what_cannot_be_written(mirror: Mirror, folder: Path, capsys: Output) -> None:
    (folder / "KBvK.rtbw" / "more").mkdir(parents=True)
    assert download(mirror, folder) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"knightadder: cannot write {folder / 'KBvK.rtbw'}: ")


def test_a_full_disk(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, block: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    original = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode: Full() if mode == "wb" else original(path, mode))
    with pytest.raises(EngineError, match=f"cannot write .*part: {os.strerror(errno.ENOSPC)}$"):
        Download(mirror.url, tmp_path).fetch(NAME)


def test_men_are_three_to_five(capsys: Output) -> None:
    for men in ("2", "6", "x"):
        with pytest.raises(SystemExit):
            main(["tablebases", "download", "folder", "--men", men])
    assert "invalid" in capsys.readouterr().err
