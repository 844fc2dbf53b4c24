"""Search parameters: each within its range, and set in the tables by name."""

from __future__ import annotations

import pytest
from core_helpers import TABLES

from knightadder.core.search.parameters import PARAMETERS

pytestmark = pytest.mark.nojit


def test_names_are_unique_and_values_within_range() -> None:
    assert len({parameter.name for parameter in PARAMETERS}) == len(PARAMETERS)
    for parameter in PARAMETERS:
        assert parameter.low <= parameter.value <= parameter.high, parameter
        assert parameter.low < parameter.high


def test_the_tables_hold_them() -> None:
    assert TABLES.parameters.dtype.names == tuple(parameter.name for parameter in PARAMETERS)
    for parameter in PARAMETERS:
        assert TABLES.parameters[parameter.name] == parameter.value
