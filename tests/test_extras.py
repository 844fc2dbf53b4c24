"""What is said where a library is not installed."""

import re
import sys

import pytest

from knightadder import extras
from knightadder.engine.errors import OptionError
from knightadder.extras import install_command, needed_by


@pytest.mark.parametrize(("library", "shown"), [("scipy", "SciPy"), ("matplotlib", "Matplotlib"), ("numba", "Numba")])
def test_a_library_of_an_extra_is_asked_for(monkeypatch, library, shown):
    monkeypatch.setitem(sys.modules, library, None)
    message = f"^the command needs {shown}: {re.escape(install_command('more'))}$"
    with pytest.raises(OptionError, match=message), needed_by("the command", "more"):
        __import__(f"{library}.part")


def test_what_else_is_missing_is_a_defect():
    with pytest.raises(ModuleNotFoundError), needed_by("the command"):
        __import__("no_such_library")


def test_the_command_installs_a_checkout_in_place(monkeypatch, tmp_path):
    checkout = tmp_path / "my sources"
    for folder in ("src", "lib"):
        (checkout / folder / "knightadder").mkdir(parents=True)
    monkeypatch.setattr(extras, "_PACKAGE", checkout / "src" / "knightadder")
    assert install_command("more") == "pip install 'knightadder[more]'"
    (checkout / "pyproject.toml").touch()
    assert install_command("more") == f"pip install -e '{checkout}[more]'"
    monkeypatch.setattr(extras, "_PACKAGE", checkout / "lib" / "knightadder")
    assert install_command("more") == "pip install 'knightadder[more]'"
