"""Finds games of players with similar names, one of which begins with all moves of the other: probably the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import TypeAlias

# A game: the FEN of its first position, its moves in two bytes each, and its number.
Text: TypeAlias = tuple[str, bytes, int]
# A function from the number of a game to both players' names and the year, which is 0 if unknown.
Facts: TypeAlias = Callable[[int], tuple[str, str, int]]

LEAST_PLIES = 20  # minimum number of plies that two games must share
_COMPARED = 16  # maximum number of shorter games with which a game is compared
_SIMILAR = 0.75  # minimum similarity of two surnames, from 0 to 1
_YEARS = 1  # maximum difference in years between the dates of the same game in two sources


def similar_games(texts: Sequence[Text], facts: Facts) -> list[list[int]]:
    """Return groups of games that are probably the same, as lists of their numbers, the longest game first."""
    groups: dict[int, list[int]] = {}  # the group of each game
    # In this order, a game comes after every game whose moves it continues. The games between the two also continue the
    # moves of the first.
    order = sorted(text for text in texts if len(text[1]) >= 2 * LEAST_PLIES)
    lengths = {number: len(moves) for _, moves, number in order}
    beginnings: list[Text] = []
    for text in order:
        fen, moves, number = text
        while beginnings and (beginnings[-1][0] != fen or not moves.startswith(beginnings[-1][1])):
            beginnings.pop()
        own = groups[number] = [number]
        for _, _, other in beginnings[-_COMPARED:]:
            group = groups[other]
            if group is not own and all(_alike(facts(one), facts(each)) for one in group for each in own):
                own.extend(group)
                for each in group:
                    groups[each] = own
        beginnings.append(text)
    different = {id(group): group for group in groups.values() if len(group) > 1}.values()
    found = [sorted(group, key=lambda each: (-lengths[each], each)) for group in different]
    return sorted(found, key=min)


def _alike(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    if one[2] and other[2] and abs(one[2] - other[2]) > _YEARS:
        return False
    return all(_same_player(*names) for names in zip(one[:2], other[:2], strict=True))


@cache
def _same_player(one: str, other: str) -> bool:
    """Return whether two names may belong to the same player; an unknown name matches every name."""
    first, second = _surname(one), _surname(other)
    return not first or not second or SequenceMatcher(None, first, second).ratio() >= _SIMILAR


def _surname(name: str) -> str:
    """Return the surname of ``Carlsen, Magnus``, ``Magnus Carlsen`` or ``Carlsen M.``, without accents."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    words = re.findall(r"\w+", plain.partition(",")[0].casefold())
    return next((word for word in reversed(words) if len(word) > 1), "".join(words))
