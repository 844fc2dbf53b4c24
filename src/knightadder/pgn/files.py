"""Opens users' text files: compressed or not, in the encodings that chess programs write."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from knightadder.engine.errors import OptionError

# What files begin with, whatever their names are.
_OPENERS: dict[bytes, Callable[[BinaryIO], object]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
_LONGEST_START = 8

#: What reading a file may raise.
UNREADABLE = (OSError, EOFError, UnicodeError, lzma.LZMAError, zlib.error)

# UTF-32 first: its mark begins with the one of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# Windows-1252, with the control characters of Latin-1 for the five bytes that it leaves undefined.
_WINDOWS_1252 = "".join(bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(256))


@contextlib.contextmanager
def lines_of(file: Path) -> Iterator[Iterator[str]]:
    r"""Open a text file to read its lines.

    Parameters
    ----------
    file : Path
        In UTF-8; a line that is not is read as Windows-1252, because joined files mix encodings. Also UTF-16 and
        UTF-32. A file compressed by gzip, bzip2 or xz is decompressed, whatever its name.

    Yields
    ------
    iterator of str
        The lines, each with its end, which is ``\n``, and without byte order marks.

    Raises
    ------
    OptionError
        If the file cannot be read.
    """
    if file.is_dir():
        raise OptionError(f"cannot read {file}: it is a folder")
    try:
        with file.open("rb") as stream, contextlib.closing(decoded(_decompressing(stream))) as lines:
            yield lines
    except UNREADABLE as error:
        raise OptionError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def decompressed(content: bytes, most: int) -> bytes:
    """Decompress the content of a file as `lines_of` does; one of `UNREADABLE` if that fails or gives too many bytes.

    Parameters
    ----------
    content : bytes
        The content, which need not be compressed.
    most : int
        Number of bytes that the result may have.
    """
    plain = _decompressing(io.BytesIO(content)).read(most + 1)
    if len(plain) > most:
        raise OSError(f"it has more than {most // 1024} KB")
    return plain


def _decompressing(stream: BinaryIO) -> BinaryIO:
    """Return a stream of what a compressed one has; the stream itself if it is not compressed."""
    start = stream.read(_LONGEST_START)
    stream.seek(0)
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            raise OSError(f"it is compressed as {name}; unpack it first")
    opener = next((opener for mark, opener in _OPENERS.items() if start.startswith(mark)), None)
    return cast(BinaryIO, opener(stream)) if opener else stream


def decoded(stream: BinaryIO) -> Generator[str, None, None]:
    """Read the lines of a stream of bytes, as `lines_of` does; UnicodeError if it begins as UTF-16 and is not."""
    start = stream.read(4)
    stream.seek(0)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    if encoding is None and len(start) > 1 and 0 in start[:2] and any(start[:2]):
        encoding = "utf-16-be" if start[0] == 0 else "utf-16-le"  # without its mark
    # Latin-1 decodes any bytes without loss, and its line ends are those of UTF-8.
    lines = io.TextIOWrapper(stream, encoding or "latin-1")
    try:
        for line in lines:
            if encoding is None and not line.isascii():
                raw = line.encode("latin-1")
                try:
                    line = raw.decode()
                except UnicodeDecodeError:
                    line = codecs.charmap_decode(raw, "strict", _WINDOWS_1252)[0]
            yield line.lstrip("\ufeff")
    finally:
        lines.detach()  # the caller closes the stream


def without_compression(file: Path) -> Path:
    """Return the name that a file has when it is decompressed."""
    return file.with_suffix("") if file.suffix.lower() in (".gz", ".bz2", ".xz") else file


def text_lines(file: Path) -> list[str]:
    """Read all lines of a file, without their ends; OptionError as `lines_of`."""
    with lines_of(file) as lines:
        return [line.rstrip("\n") for line in lines]


@contextlib.contextmanager
def standard_input() -> Iterator[Path]:
    """Copy standard input to a file, because commands read their games several times.

    Yields
    ------
    Path
        The file, which is removed at the end of the ``with`` block.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "games.pgn")
        with file.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield file


@contextlib.contextmanager
def game_files(names: Sequence[str]) -> Iterator[list[tuple[str, Path]]]:
    """Find the files of games that a command names.

    Parameters
    ----------
    names : sequence of str
        Their names; ``-`` is standard input, which is copied to a file.

    Yields
    ------
    list of (str, Path)
        Each file, after its name for the user.
    """
    with contextlib.ExitStack() as stack:
        yield [
            ("stdin", stack.enter_context(standard_input())) if name == "-" else (name, Path(name)) for name in names
        ]
