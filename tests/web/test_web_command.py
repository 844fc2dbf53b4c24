"""The subcommand ``play``: the board as a process of its own, on a free port."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from board_tab import PATIENCE, Tab, connect_to
from websockets.exceptions import ConnectionClosed

from knightadder import cli


@contextlib.contextmanager
def _start(*arguments):
    """Start the board; whatever becomes of the test, it ends."""
    # BROWSER is what the standard library opens pages with; %s stands for the address.
    environment = {**os.environ, "BROWSER": "echo opened %s"}
    command = [sys.executable, "-m", "knightadder", "play", "--port", "0", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def _address(process):
    """Give the address that the process prints first."""
    return re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())[0]


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")
def test_ctrl_c_ends_tabs_as_well():
    with _start("--no-browser", "--hash", "1") as process:
        with connect_to(_address(process)) as socket:
            tab = Tab(socket)
            tab.until("engine", lambda message: message["state"] == "ready")
            tab.send("analyse", on=True)
            tab.until("lines")
            process.send_signal(signal.SIGINT)
            with pytest.raises(ConnectionClosed):
                tab.until("error")
        assert (*process.communicate(timeout=PATIENCE), process.returncode) == ("", "", 0)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")
def test_several_ctrl_c_end_the_board_like_one():
    with _start("--no-browser", "--hash", "1") as process:
        with connect_to(_address(process)) as socket:
            tab = Tab(socket)
            tab.send("analyse", on=True)
            tab.until("lines")
            for _ in range(5):
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.02)
        assert (*process.communicate(timeout=PATIENCE), process.returncode) == ("", "", 0)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")
def test_ctrl_c_ends_an_engine_that_is_being_loaded():
    with _start("--no-browser") as process, connect_to(_address(process)) as socket:
        Tab(socket).until("engine", lambda message: message["state"] == "loading")
        process.send_signal(signal.SIGINT)
        assert (*process.communicate(timeout=PATIENCE), process.returncode) == ("", "", 0)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")
def test_the_browser_is_opened():
    with _start() as process:
        address = _address(process)
        opened = process.stdout.readline()  # other users can see this address
        assert opened.startswith(f"opened {address.partition('=')[0]}=") and address not in opened
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")
def test_who_opens_the_board_to_the_network_is_warned():
    with _start("--no-browser", "--host", "0.0.0.0") as process:
        assert _address(process)
        assert "not encrypted" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


def test_a_port_that_is_taken_is_one_line(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert cli.main(["play", "--no-browser", "--port", str(port)]) == 2
    assert re.fullmatch(
        rf"knightadder: cannot listen on 127\.0\.0\.1, port {port}: .*; --port 0 .*\n", capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--host", "no such host"], "cannot listen on no such host"),
        (["--host", "a..b"], "cannot listen on a..b: "),
        (["--threads", "100000"], "Threads"),
        (["--hash", "1000000000"], "Hash"),
        (["--eval-file", "missing.nnue"], "cannot read missing.nnue: No such file or directory"),
    ],
)
def test_bad_arguments_are_one_line(arguments, complaint, capsys):
    assert cli.main(["play", "--no-browser", "--port", "0", *arguments]) == 2
    error = capsys.readouterr().err
    assert complaint in error and error.count("\n") == 1


def test_no_port_beyond_65535(capsys):
    with pytest.raises(SystemExit):
        cli.main(["play", "--port", "65536"])
    assert "--port" in capsys.readouterr().err
