"""Finds the start and end of each game of a file, even if there is other text between the games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from knightadder.pgn.tokens import Token, TokenType, looks_like_tag, tokens

# Tokens that belong to the game that follows them.
REMARKS = {TokenType.ESCAPE, TokenType.REMARK, TokenType.COMMENT_START, TokenType.COMMENT, TokenType.EMPTY_LINE}


@dataclass(frozen=True, slots=True)
class GameText:
    """The whole text of a game, without empty lines around it, and its number and first line in the file, from 1."""

    number: int
    line: int
    text: str

    def place(self, file: object) -> str:
        """Return the place of the game for messages: its file, its number and its line."""
        return f"{file}, game {self.number}, line {self.line}"


def split_lines(lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, str, int | None]]:
    """Split lines, each with its end, into games; `first` is the number of the first line.

    Yield the number of a game's first line, the game's text, and the number of the line in which the next game begins,
    or None if there is no next game, or other text before it in that line.
    """
    parts: list[str] = []
    begins, part = first, _Part()
    for number, (line, found) in enumerate(tokens(lines, first), first):
        begins = begins if parts else number
        cut = 0
        for token in found:
            if part.ends_before(token, line):
                parts.append(line[cut : token.start])
                text = "".join(parts).strip("\n")
                if text:
                    yield begins, text, number if token.start == 0 else None
                begins, parts, part, cut = number, [], _Part(), token.start
            part.add(token)
        if parts or line[cut:].strip():
            parts.append(line[cut:])
    if parts:
        yield begins, "".join(parts).strip("\n"), None


@dataclass(slots=True)
class _Part:
    """The state of the splitter within a game."""

    tags: set[str] = field(default_factory=set)
    malformed: bool = False  # whether a tag is malformed
    begun: bool = False  # whether the moves have begun
    moved: bool = False
    result: bool = False
    closed: bool = False  # whether an empty line follows the result
    empty_line: bool = False  # whether an empty line precedes this token
    depth: int = 0  # nesting depth of variations

    def ends_before(self, token: Token, line: str) -> bool:
        """Return whether a token of a line belongs to the next game."""
        kind = token.kind
        if kind is TokenType.EMPTY_LINE:
            return False
        if self.closed:
            return True
        first = not line[: token.start].strip()
        if kind is TokenType.TAG or (kind is TokenType.BAD_TAG and (self.result or looks_like_tag(token.text))):
            known = token.name in self.tags
            if self.begun:
                return self.result or (first and (known or not self.tags or self.empty_line))
            return self.empty_line and kind is TokenType.TAG and (known or self.malformed)
        if kind is TokenType.NUMBER and token.text == "1" and first and self.moved:
            return self.result or (self.empty_line and self.depth == 0)
        return False

    def add(self, token: Token) -> None:
        kind = token.kind
        if kind is TokenType.EMPTY_LINE:
            self.empty_line = True
            self.closed = self.result
            return
        self.empty_line = False
        if kind is TokenType.TAG:
            self.tags.add(token.name)
        elif kind is TokenType.BAD_TAG:
            self.malformed = True
        elif kind not in REMARKS:
            self.begun = True
            self.moved = self.moved or kind is TokenType.MOVE
            self.depth = max(self.depth + (kind is TokenType.OPEN) - (kind is TokenType.CLOSE), 0)
            self.result = self.result or (kind is TokenType.RESULT and self.depth == 0)
