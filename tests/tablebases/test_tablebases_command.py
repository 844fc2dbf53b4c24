"""The names of all tables."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from knightadder.tablebases.names import table_names


@pytest.mark.parametrize(("men", "count"), [(3, 5), (5, 110), (7, 1001)])
def test_there_is_one_table_for_each_material(men: int, count: int) -> None:
    names = table_names(men)
    assert len(names) == count
    assert names == sorted(names)
    sides = [frozenset(Counter(name.split("v")).items()) for name in names]
    expected = set()
    for pieces in itertools.product("QRBNP", repeat=men - 2):
        for split in range(men - 1):
            white, black = ("K" + "".join(sorted(part, key="QRBNP".index)) for part in (pieces[:split], pieces[split:]))
            expected.add(frozenset(Counter((white, black)).items()))
    assert set(sides) == expected


def test_the_stronger_side_comes_first() -> None:
    assert table_names(3) == ["KBvK", "KNvK", "KPvK", "KQvK", "KRvK"]
    assert {"KBBvK", "KBvKN", "KRvKB", "KQvKR", "KNvKP", "KPvKP"} <= set(table_names(4))
    assert {"KBBvKQ", "KNNvKP", "KPPvKQ", "KQRvKP"} <= set(table_names(5))
