"""Splits the text of Portable Game Notation into tokens.

Beyond the standard, it accepts glyphs such as ± instead of numbers, figurines, and zeros in castling moves. Any other
text becomes a word. No reader may skip words, because they may be moves in another language.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

# Maximum number of further lines in which a comment may still end after a line that looks like a tag. So a missing end
# spoils only one game.
_LOOKED_AHEAD = 2_000

# \x1a ends DOS text files; \x00 may be in a file that was being written when the system crashed.
_SPACE = r"[\s\ufeff\u200b-\u200f\u2060\x1a\x00]"
_DASH = "[-\u2010-\u2015\u2212]"

_GLYPHS = {
    1: "!",
    2: "?",
    3: "!! ‼",
    4: "?? ⁇",
    5: "!? ⁉",
    6: "?! ⁈",
    7: "□",
    10: "=",
    13: "∞",
    14: "⩲ += +/=",
    15: "⩱ =+ =/+",
    16: "± +/-",
    17: "∓ -/+",
    18: "+-",
    19: "-+",
    22: "⨀ ⊙",
    26: "○",
    32: "⟳ ↻",
    36: "↑",
    40: "→",
    44: "=/∞ ⯹ ©",
    132: "⇆ ⇄",
    138: "⊕ ⨁",
    140: "∆ △ Δ",
    142: "⌓",
    145: "RR",
    146: "N",
    201: "D",
}
_NAGS = {glyph: nag for nag, glyphs in _GLYPHS.items() for glyph in glyphs.split()}
_GLYPH = "|".join(
    re.escape(glyph).replace(r"\-", _DASH) + (r"(?!\w)" if glyph.isalpha() else r"(?![!?])" if glyph[0] in "!?" else "")
    for glyph in sorted(_NAGS, key=len, reverse=True)
)

_NAME = r"[A-Za-z0-9][A-Za-z0-9_+#=:-]*"
# A quotation mark within the value does not need a backslash if no bracket follows.
_TAG = rf'\[{_SPACE}*(?P<name>{_NAME}){_SPACE}*"(?P<value>(?:\\[^\n]|[^"\\\n]|"(?!{_SPACE}*\]))*)"{_SPACE}*\]'
# A tag whose value ends with a backslash, such as the name of a folder.
_LAST_TAG = rf'\[{_SPACE}*(?P<last_name>{_NAME}){_SPACE}*"(?P<last_value>[^\n]*)"{_SPACE}*\]{_SPACE}*$'
_TAG_START = re.compile(rf'{_SPACE}*\[{_SPACE}*{_NAME}{_SPACE}*"')

_CHECK = rf"(?:\+{{1,2}}(?!{_DASH}|[/=])|[#†‡])"
_SAN = rf"""(?P<san>
      [KQRBNP♔-♟]?[a-h]?[1-8]?(?:{_DASH}|[x:\u00d7])?[a-h][1-8](?:=?[QRBNqrbn]|[(][QRBN][)]|/[QRBN])?
    | O{_DASH}O(?:{_DASH}O)? | 0{_DASH}0(?:{_DASH}0)? | o{_DASH}o(?:{_DASH}o)?
    | (?P<null>--|Z0|0000|@@@@|null|pass)
    )(?:{_SPACE}?e\.?p\.?)?{_CHECK}?(?![A-Za-z0-9])"""
_RESULT = rf"(?:1{_DASH}0|0{_DASH}1|1/2(?:{_DASH}1/2)?|½(?:{_DASH}½)?|[10]:[10]|½:½)(?![\w/:])|\*"

_TOKEN = re.compile(
    rf"""{_SPACE}*(?:
      (?P<comment>\{{)
    | (?P<remark>;[^\n]*)
    | (?P<tag>{_TAG}|{_LAST_TAG})
    | (?P<open>\()
    | (?P<close>\))
    | \$(?P<nag>[0-9]{{1,3}})(?![0-9])
    | (?P<result>{_RESULT})
    | (?P<move>{_SAN})
    | (?P<number>[0-9]+)(?![\w/]){_SPACE}?\.?(?P<dots>{_SPACE}*(?:\.+|…))?
    | (?P<glyph>{_GLYPH})
    | (?P<dot>[.,…]+)
    | (?P<mark>[^\w\s(){{}}\[\]<>;"$*.,…\x00-\x20\x7f-\x9f\ufffd]+)
    | (?P<word>[^\s(){{}}\[\];]+|.)
    )?""",
    re.VERBOSE,
)
_FIGURINES = str.maketrans({"♙": "", "♟": "", "P": "", **dict(zip("♔♕♖♗♘♚♛♜♝♞", "KQRBNKQRBN", strict=True))})
_BRACE = re.compile("[{}]")


class TokenType(Enum):
    """The kind of a token."""

    EMPTY_LINE = auto()
    ESCAPE = auto()  # a line that begins with %
    TAG = auto()
    BAD_TAG = auto()  # a line that begins like a tag, but is not one
    REMARK = auto()  # a comment to the end of the line
    COMMENT_START = auto()  # the start of a comment, whose text is a separate token, perhaps on a later line
    COMMENT = auto()
    UNCLOSED = auto()  # a comment without an end; its text is its first line
    OPEN = auto()  # the beginning of a variation
    CLOSE = auto()
    NAG = auto()  # a numeric annotation glyph; its text is the number
    MARK = auto()  # a glyph without a number
    RESULT = auto()
    MOVE = auto()
    NUMBER = auto()  # the number of White's move
    BLACK_NUMBER = auto()
    WORD = auto()  # any other text


class Token(NamedTuple):
    """A token: its kind, its text (for a tag, the value), its line number, and the name of a tag."""

    kind: TokenType
    text: str
    line: int
    start: int  # column at which the previous token ends
    name: str = ""


def unescaped(value: str) -> str:
    """Return a tag's value without the backslashes that escape quotation marks and backslashes in PGN."""
    return re.sub(r'\\(["\\])', r"\1", value) if "\\" in value else value


def escaped(value: str) -> str:
    """Return a tag's value with quotation marks and backslashes escaped, as PGN requires."""
    return re.sub(r'["\\]', r"\\\g<0>", value)


def tokens(lines: Iterable[str], first: int = 1) -> Iterator[tuple[str, list[Token]]]:
    """Split lines, each with its end, into tokens; yield each line with its tokens.
    `first` is the first line's number. The text of a comment is a token of the line in which the comment ends.
    """
    source = iter(lines)
    ahead: deque[str] = deque()
    comment: list[str] | None = None  # the lines of the open comment
    begun = 0  # the line in which the comment begins
    number = first - 1
    trusted = False  # whether the open comment is known to have an end
    while True:
        line = ahead.popleft() if ahead else next(source, None)
        number += 1
        if line is None:
            if comment is not None:
                text = "".join(comment)
                yield (
                    "",
                    [
                        Token(TokenType.COMMENT, text, number - 1, 0),
                        Token(TokenType.UNCLOSED, str(begun), number - 1, 0),
                    ],
                )
            return
        found: list[Token] = []
        if comment is not None and not trusted and _TAG_START.match(line):
            trusted = _next_brace(line, ahead, source) == "}"
            if not trusted:
                found += (
                    Token(TokenType.COMMENT, "".join(comment), number, 0),
                    Token(TokenType.UNCLOSED, str(begun), number, 0),
                )
                comment = None
        if comment is None:
            if line.startswith("%"):
                yield line, [*found, Token(TokenType.ESCAPE, line, number, 0)]
                continue
            if not line.strip().strip("\ufeff"):
                yield line, [*found, Token(TokenType.EMPTY_LINE, "", number, 0)]
                continue
        at, end = 0, len(line)
        while at < end:
            if comment is not None:
                close = line.find("}", at)
                comment.append(line[at:] if close < 0 else line[at:close])
                if close < 0:
                    break
                found.append(Token(TokenType.COMMENT, "".join(comment), number, at))
                comment = None
                at = close + 1
                continue
            match = _TOKEN.match(line, at)
            assert match is not None
            name = match.lastgroup
            start = at
            at = match.end()
            if name is None:  # only white space is left
                break
            value = match[name]
            if name == "move":
                found.append(Token(TokenType.MOVE, _san(match), number, start))
            elif name in ("number", "dots"):
                kind = TokenType.BLACK_NUMBER if match["dots"] else TokenType.NUMBER
                found.append(Token(kind, match["number"].lstrip("0"), number, start))
            elif name == "nag":
                found.append(Token(TokenType.NAG, value, number, start))
            elif name == "glyph":
                found.append(Token(TokenType.NAG, str(_NAGS[re.sub(_DASH, "-", value)]), number, start))
            elif name == "comment":
                found.append(Token(TokenType.COMMENT_START, "", number, start))
                comment, begun, trusted = [], number, False
            elif name == "result":
                found.append(Token(TokenType.RESULT, _result(value), number, start))
            elif name == "tag":
                last = "" if match["name"] else "last_"
                text = unescaped(match[f"{last}value"])
                found.append(Token(TokenType.TAG, text, number, start, match[f"{last}name"]))
            elif name == "remark":
                found.append(Token(TokenType.REMARK, value[1:].strip(), number, start))
            elif name == "word" and value == "[" and not found:
                found.append(Token(TokenType.BAD_TAG, line[start:].strip(), number, start))
                break
            elif name != "dot":
                kind = {"open": TokenType.OPEN, "close": TokenType.CLOSE, "mark": TokenType.MARK}.get(
                    name, TokenType.WORD
                )
                found.append(Token(kind, value, number, start))
        yield line, found


def looks_like_tag(text: str) -> bool:
    """Return whether a line begins like a tag with its value."""
    return _TAG_START.match(text) is not None


def _next_brace(line: str, ahead: deque[str], source: Iterator[str]) -> str | None:
    """Return the next brace in this line or in later lines, which are read ahead; None if there is none."""
    for count in range(_LOOKED_AHEAD):
        if match := _BRACE.search(line):
            return match[0]
        if count == len(ahead):
            following = next(source, None)
            if following is None:
                return None
            ahead.append(following)
        line = ahead[count]
    return None


def _san(match: re.Match[str]) -> str:
    """Return a move in the form that python-chess reads."""
    if match["null"]:
        return "--"
    text = re.sub(_DASH, "-", match["san"]).replace("o", "O").replace("0", "O")
    return re.sub(r"[x:\u00d7]", "x", text).translate(_FIGURINES).translate({40: "=", 41: None, 47: "="})


def _result(text: str) -> str:
    text = re.sub(_DASH, "-", text).replace("½", "1/2").replace(":", "-")
    return "1/2-1/2" if text == "1/2" else text
