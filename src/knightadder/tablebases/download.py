"""Downloads Syzygy tables from a mirror: resumes interrupted downloads, and checks each file's checksum."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from knightadder import __version__
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.tablebases.checksum import check_checksum, check_header, check_table
from knightadder.engine.tablebases.file import DTZ, WDL, TableError
from knightadder.files import locked, make_folder, move, reading, writing
from knightadder.foreign import whole_or_none
from knightadder.progress import progress
from knightadder.runs import going_on
from knightadder.tablebases.names import table_names
from knightadder.text import tell

# Called with a file's name, its bytes so far, and the size of the whole file if the mirror reports it.
OnBytes: TypeAlias = Callable[[str, int, int | None], object]

_LAYOUTS = ({WDL: "3-4-5-wdl/", DTZ: "3-4-5-dtz/"}, {WDL: "", DTZ: ""})  # a mirror's possible folders, by kind of table
_BLOCK = 1 << 16  # bytes read at a time
_TIMEOUT = 60  # seconds without an answer, after which the connection counts as broken
_TRIES = 2  # attempts for a file that arrives damaged
_OK, _PARTIAL, _NOT_FOUND, _RANGE_NOT_SATISFIABLE = 200, 206, 404, 416


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status: 1 if a file could not be downloaded."""
    from rich.filesize import decimal

    kinds = (WDL,) if arguments.wdl_only else (WDL, DTZ)
    names = [name + kind for men in range(3, arguments.men + 1) for name in table_names(men) for kind in kinds]
    make_folder(arguments.folder)
    fetched = bad = number = 0
    with (
        going_on(lambda: f"{number - bad} of {len(names)} files are in {arguments.folder}" if number else ""),
        progress(len(names), unit="files", stderr=True) as update,
    ):

        def on_bytes(name: str, done: int, total: int | None) -> None:
            update(number, f"{name}  {decimal(done)}" + (f" of {decimal(total)}" if total else ""))

        download = Download(arguments.url, arguments.folder, on_bytes)
        for number, name in enumerate(names):
            update(number, name)
            try:
                fetched += download.fetch(name)
            except TableError as error:
                bad += 1
                tell(f"{name}: {error}")
    there = f"{len(names) - bad} of {len(names)} files in {arguments.folder}"
    print(f"{there}; fetched {fetched}, {decimal(download.received)}")
    return 1 if bad else 0


class Download:
    """Fetches files from one mirror into one folder; OptionError if the URL does not begin with http or https.

    The URL names a folder with the files, directly or in a subfolder for each kind. `on_bytes` is called after each
    received block, see `OnBytes`; `received` counts bytes from the mirror.
    """

    def __init__(self, url: str, folder: Path, on_bytes: OnBytes = lambda name, done, total: None) -> None:
        self.received = 0
        self._url = url.rstrip("/") + "/"
        self._folder = folder
        self._on_bytes = on_bytes
        self._layouts = list(_LAYOUTS)
        self._seen = False
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https") and bool(parts.netloc) and re.fullmatch(r"[!-~]+", url)
        except ValueError:
            sound = None
        if not sound:
            raise OptionError(f"expected an http or https URL, not {url}")

    def fetch(self, name: str) -> bool:
        """Fetch or complete a file, unless it is present and undamaged; return whether bytes had to be fetched.
        OptionError if another run fetches it now.
        """
        target, part = self._folder / name, self._folder / f"{name}.part"
        with contextlib.suppress(TableError):
            check_table(target)
            with writing(part):
                part.unlink(missing_ok=True)
            return False
        with locked(part):
            for _ in range(_TRIES):
                self._receive(name, part)
                try:
                    check_checksum(part)
                except TableError:
                    with writing(part):
                        part.unlink()
                    continue
                with writing(target):
                    move(part, target)
                check_header(target)
                return True
        raise TableError("damaged on the mirror or during the download: its checksum is wrong")

    def _receive(self, name: str, part: Path) -> None:
        """Fetch the missing part of a file; after a lost connection, retry as long as each attempt brings bytes."""
        while True:
            before = _size(part)
            response = self._open(name, before)
            if response is None:  # the file has no more bytes; its checksum will be checked
                return
            with response:
                complete = self._copy(name, response, part, before)
            if complete:
                return
            if _size(part) <= before:
                raise TableError("the connection was lost each time")

    def _copy(self, name: str, response: HTTPResponse, part: Path, have: int) -> bool:
        """Write the mirror's data until it ends or the connection is lost; return whether the file is complete."""
        if response.status == _OK:  # the mirror sends the whole file, not only the requested part
            have = 0
        elif response.status != _PARTIAL or not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            raise TableError(f"unexpected answer from the mirror: {response.status} {response.reason}")
        length = whole_or_none(response.headers.get("Content-Length", ""))
        total = None if length is None else have + length
        broken = False
        with writing(part), part.open("ab" if have else "wb") as file:
            while True:
                try:
                    block = response.read1(_BLOCK)
                except (OSError, HTTPException):
                    broken = True
                    break
                if not block:
                    break
                file.write(block)
                have += len(block)
                self.received += len(block)
                self._on_bytes(name, have, total)
        return not broken if total is None else have >= total

    def _open(self, name: str, offset: int) -> HTTPResponse | None:
        """Ask the mirror for a file from byte `offset` on; return None if the file ends there."""
        headers = {"User-Agent": f"knightadder/{__version__}"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        places = [layout[Path(name).suffix] + name for layout in self._layouts]
        for i, place in enumerate(places):
            url = self._url + place
            try:
                response: HTTPResponse | None = urlopen(Request(url, headers=headers), timeout=_TIMEOUT)
            except HTTPError as error:
                error.close()
                if error.code == _NOT_FOUND:
                    continue
                if error.code != _RANGE_NOT_SATISFIABLE or not offset:
                    raise EngineError(f"{url}: {error.code} {error.reason}") from None
                response = None
            except (OSError, HTTPException, ValueError) as error:
                reason = error.reason if isinstance(error, URLError) else error
                text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
                raise EngineError(f"{url}: cannot be reached: {text}") from None
            self._seen = True
            self._layouts.insert(0, self._layouts.pop(i))
            return response
        if not self._seen:
            raise EngineError(f"{self._url}: no tables found; looked for {' and '.join(places)}")
        raise TableError("not on the mirror")


def _size(path: Path) -> int:
    with reading(path):
        return path.stat().st_size if path.exists() else 0
