"""Text from outside, such as the output of an engine or the headers of a game, made safe to show."""

import sys
import unicodedata
from collections.abc import Sequence

MOST = 1000  # maximum length of a line for the user: enough for a path and a reason


def tell(text: str) -> None:
    """Show the user a line on standard error, after the name of the program."""
    # The line end is a part of the text, because another thread may write between two writes.
    print(f"knightadder: {one_line(text, MOST)}\n", end="", file=sys.stderr)


def one_line(text: str, most: int = 300) -> str:
    """Return text from outside as one line: line breaks become spaces, other unprintable characters are escaped. After
    `most` characters, the text is cut and ends with ``...``.
    """
    line = " ".join(part.strip() for part in text[: 2 * most].splitlines() if part.strip())
    line = "".join(char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in line)
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[:most]}..."


def utf8(text: str) -> bytes:
    """Return text as UTF-8. Characters that UTF-8 lacks, which names of files may contain, become escapes."""
    return text.encode(errors="backslashreplace")


def command_line(words: Sequence[str]) -> str:
    """Return the words of a command as one line, quoted for the system's shell."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    import shlex

    return shlex.join(words)


def counted(count: int, thing: str) -> str:
    """Return a number of things: ``1 game`` or ``2 games``."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def plain_name(name: str) -> str:
    """Return a player's name in a form that ignores case, additional spaces, spaces around commas, which some programs
    leave out, different encodings of accents, and zero characters of damaged files, which SQLite cannot compare.
    """
    parts = unicodedata.normalize("NFC", name.replace("\0", "")).casefold().split(",")
    return ", ".join(" ".join(part.split()) for part in parts)
