"""What is said where a library is not installed."""

import sys

import pytest

from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by


@pytest.mark.parametrize(("library", "shown"), [("scipy", "SciPy"), ("matplotlib", "Matplotlib"), ("numba", "Numba")])
def test_a_library_of_an_extra_is_asked_for(monkeypatch, library, shown):
    monkeypatch.setitem(sys.modules, library, None)
    message = rf"^the command needs {shown}: pip install 'knightadder\[more\]'$"
    with pytest.raises(OptionError, match=message), needed_by("the command", "more"):
        __import__(f"{library}.part")


def test_what_else_is_missing_is_a_defect():
    with pytest.raises(ModuleNotFoundError), needed_by("the command"):
        __import__("no_such_library")
