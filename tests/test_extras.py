"""What is said where a library is not installed."""

import os
import re
import subprocess
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


def test_matplotlib_is_silent_about_a_home_that_it_cannot_write_to():
    code = "from knightadder.extras import needed_by\nwith needed_by('the command'): import matplotlib.pyplot"
    places = {"HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}
    environment = {**os.environ, **places, "MPLBACKEND": "agg"}
    environment.pop("MPLCONFIGDIR", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def checkout(monkeypatch, tmp_path):
    """Give a folder of sources, of which this package seems to be a part."""
    (tmp_path / "my sources" / "src" / "knightadder").mkdir(parents=True)
    monkeypatch.setattr(extras, "_PACKAGE", tmp_path / "my sources" / "src" / "knightadder")
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    return tmp_path / "my sources"


def test_the_command_installs_a_checkout_in_place(monkeypatch, checkout):
    assert install_command("more") == "'/my env/bin/python' -m pip install 'knightadder[more]'"
    (checkout / "pyproject.toml").touch()
    assert install_command("more") == f"'/my env/bin/python' -m pip install -e '{checkout}[more]'"
    monkeypatch.setattr(extras, "_PACKAGE", checkout / "lib" / "knightadder")
    assert install_command("more") == "'/my env/bin/python' -m pip install 'knightadder[more]'"


@pytest.mark.usefixtures("checkout")
def test_the_command_can_be_run_where_there_is_no_pip_or_another_shell(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert install_command("more") == '"/my env/bin/python" -m pip install knightadder[more]'
    monkeypatch.setattr(sys, "executable", "python")
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None)
    assert install_command("more") == "uv pip install --python python knightadder[more]"
