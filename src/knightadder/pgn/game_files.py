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
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from knightadder.engine.errors import OptionError
from knightadder.files import COMPRESSED, STANDARD, doing, without_links
from knightadder.text import tell

# The first bytes of compressed files. They, not the file's name, decide how to open it. A zstd file may begin with a
# skippable frame; pzstd writes such a frame before each frame of data.
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + number]) + b"\x2a\x4d\x18" for number in range(16)))
_OPENERS: dict[bytes, Callable[[BinaryIO], object]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    **dict.fromkeys(_ZSTD, lambda stream: io.BufferedReader(_ZstdReader(stream))),
}
_PACKED = {b"PK\x03\x04": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
_LONGEST_START = 8

_BLOCK = 1 << 20  # bytes of a block
_LINES = 20_000  # number of lines in a block that is decoded
_ZSTD_BYTES = 1024  # compressed bytes to read at a time; the decompressed data may be thirty thousand times as large
_ZSTD_WINDOW = 31  # maximum window, as written by `zstd --long=31`

#: The exceptions that reading a file can raise.
UNREADABLE = (OSError, EOFError, UnicodeError, lzma.LZMAError, zlib.error)

# UTF-32 comes first, because its mark begins with UTF-16's mark.
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
    """Open a text file; yield its lines, each ending with a newline, without byte order marks.

    The encoding is UTF-8, UTF-16 or UTF-32. A line that is not valid UTF-8 is read as Windows-1252, because joined
    files mix encodings. Files compressed by gzip, bzip2, xz or zstd are decompressed, whatever their names. OptionError
    if the file cannot be read.
    """
    with opened(file) as (stream, _), contextlib.closing(decoded(stream)) as lines:
        yield lines


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a file; yield its decompressed stream, and a function that returns how many stored bytes were read."""
    try:
        if file.is_dir():
            raise OptionError(f"cannot read {file}: it is a folder")
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(_copied(file, str(file))) if _is_pipe(file) else file
            stream: BinaryIO = stack.enter_context(place.open("rb"))
            yield _decompressing(stream), stream.tell
    except UNREADABLE as error:
        raise OptionError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def chunks_of(stream: BinaryIO) -> Generator[bytes, None, None]:
    """Read a stream of bytes in blocks. UTF-16 becomes UTF-8; otherwise each line keeps its encoding."""
    if _encoding_of(stream) is None:
        while block := stream.read(_BLOCK):
            yield block
        return
    with contextlib.closing(decoded(stream)) as lines:
        while part := "".join(islice(lines, _LINES)):
            yield part.encode()


def byte_lines(stream: BinaryIO) -> tuple[Iterator[bytes], bool]:
    """Return the lines of a stream of bytes, each with its end, and whether the lines are unchanged.
    They are converted if the stream is in UTF-16 or UTF-32, or has the line ends of old Macs; see `decoded`.
    """
    plain = _encoding_of(stream) is None and b"\r" not in stream.readline(_BLOCK).rstrip()
    stream.seek(0)
    return (stream if plain else (line.encode() for line in decoded(stream))), plain


def decompressed(content: bytes, most: int) -> bytes:
    """Return the decompressed content of a file, at most `most` bytes; one of `UNREADABLE` if that fails."""
    plain = _decompressing(io.BytesIO(content)).read(most + 1)
    if len(plain) > most:
        raise OSError(f"it has more than {most // 1024} KB")
    return plain


def _decompressing(stream: BinaryIO) -> BinaryIO:
    """Return the decompressed stream, or the stream itself if it is not compressed."""
    start = stream.read(_LONGEST_START)
    stream.seek(0)
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            raise OSError(f"it is compressed as {name}; unpack it first")
    opener = next((opener for mark, opener in _OPENERS.items() if start.startswith(mark)), None)
    return cast(BinaryIO, opener(stream)) if opener else stream


def _encoding_of(stream: BinaryIO) -> str | None:
    """Return the encoding of a whole stream; None if each line has its own encoding."""
    start = stream.read(4)
    stream.seek(0)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    if encoding is None and len(start) > 1 and 0 in start[:2] and any(start[:2]):
        encoding = "utf-16-be" if start[0] == 0 else "utf-16-le"  # UTF-16 without a byte order mark
    return encoding


def decoded(stream: BinaryIO) -> Generator[str, None, None]:
    """Read the lines of a stream of bytes as `lines_of` does; UnicodeError if it begins like UTF-16 but is not."""
    encoding = _encoding_of(stream)
    # Latin-1 decodes any bytes without loss, and has the same line ends as UTF-8.
    lines = io.TextIOWrapper(stream, encoding or "latin-1")
    try:
        for line in lines:
            yield line.lstrip("\ufeff") if encoding or line.isascii() else decoded_line(line.encode("latin-1"))
    except UnicodeDecodeError:  # Latin-1 has no such error
        name = str(encoding)[:6].upper()
        raise UnicodeError(f"it begins like {name}, but is not valid {name}") from None
    finally:
        lines.detach()  # the caller closes the stream


def decoded_line(raw: bytes) -> str:
    """Decode a line, as `lines_of` does."""
    return decoded_part(raw, slice(None)).lstrip("\ufeff")


def decoded_part(line: bytes, part: slice) -> str:
    """Decode a part of a line with the encoding of the whole line. The characters around the part are ASCII."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return codecs.charmap_decode(line[part], "strict", _WINDOWS_1252)[0]
    return line[part].decode()


class _ZstdReader(io.RawIOBase):
    """The decompressed content of a zstd file; EOFError if the file is truncated."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rewind()

    def _rewind(self) -> None:
        self._stream.seek(0)
        self._compressed = b""
        self._plain = memoryview(b"")
        self._frame: Any = None  # the decompressor of the open frame
        self._position = 0

    def readable(self) -> bool:
        """Return true: the stream can be read."""
        return True

    def seekable(self) -> bool:
        """Return true: `seek` can go back to the start."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go back to the start, or return the position."""
        if offset != 0 or whence == io.SEEK_END:
            raise io.UnsupportedOperation("a compressed stream can only go back to its beginning")
        if whence == io.SEEK_SET:
            self._rewind()
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer, and return the number of bytes read; 0 at the end."""
        while not self._plain:
            self._compressed = self._compressed or self._stream.read(_ZSTD_BYTES)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError("the compressed file is truncated")
                return 0
            if self._frame is None:
                self._frame = _zstd_decompressor()
            try:
                self._plain = memoryview(self._frame.decompress(self._compressed))
            except Exception as error:  # the errors of zstandard and of Python's module have no common base
                raise OSError(str(error)) from None
            self._compressed = b""
            if self._frame.eof:
                self._compressed, self._frame = self._frame.unused_data, None
        count = min(len(buffer), len(self._plain))
        buffer[:count], self._plain = self._plain[:count], self._plain[count:]
        self._position += count
        return count


def _zstd_decompressor() -> Any:
    """Return an object that decompresses one frame; OSError if no module can."""
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import DecompressionParameter, ZstdDecompressor

            return ZstdDecompressor(options={DecompressionParameter.window_log_max: _ZSTD_WINDOW})
        import zstandard
    except ModuleNotFoundError:  # an old environment, or a Python without the module
        raise OSError("it is compressed as zstd, which needs the package zstandard: pip install zstandard") from None
    return zstandard.ZstdDecompressor(max_window_size=1 << _ZSTD_WINDOW).decompressobj()


def without_compression(file: Path) -> Path:
    """Return a file's name without the suffix of its compression."""
    return file.with_suffix("") if file.suffix.lower() in COMPRESSED else file


def text_lines(file: Path) -> list[str]:
    """Read all lines of a file, without their ends; OptionError as in `lines_of`."""
    with lines_of(file) as lines:
        return [line.rstrip("\n") for line in lines]


def _is_pipe(file: Path) -> bool:
    """Return whether a file, such as a pipe of the shell or a terminal, can be read only once."""
    return file.is_fifo() or file.is_char_device()


@contextlib.contextmanager
def _copied(pipe: Path, name: str) -> Iterator[Path]:
    """Copy a pipe, or standard input (``-``), to a temporary file that can be read several times; yield its path.
    OptionError if that fails; it names the pipe `name`.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "games.pgn")
        with contextlib.ExitStack() as stack, doing("copy", name):
            source = sys.stdin.buffer if pipe == STANDARD else stack.enter_context(pipe.open("rb"))
            shutil.copyfileobj(source, stack.enter_context(file.open("wb")))
        yield file


@contextlib.contextmanager
def game_files(names: Sequence[Path]) -> Iterator[list[tuple[str, Path]]]:
    """Yield the files that a command names, each as its name for the user and its path. ``-`` is standard input.

    A pipe, as a shell's ``<(...)`` gives it, may be named, too. A file that is named twice counts once.
    """
    files: dict[Path, tuple[str, Path]] = {}
    with contextlib.ExitStack() as stack:
        for file in names:
            shown, place = "standard input" if file == STANDARD else str(file), without_links(file)
            if place in files:
                tell(f"{shown} is named twice, so it is read only once")
                continue
            is_once = file == STANDARD or _is_pipe(file)
            files[place] = shown, stack.enter_context(_copied(file, shown)) if is_once else file
        yield list(files.values())
