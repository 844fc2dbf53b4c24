"""The connection to an engine: answers, ends, silence."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import chess
import chess.engine
import psutil
import pytest
from waiting import eventually

from knightadder.engine.errors import EngineError, OptionError
from knightadder.text import command_line
from knightadder.uci import client as client_module
from knightadder.uci.client import EngineEndedError, EngineSilentError, UciClient, resolve_command, split_words
from knightadder.uci.uci_engine import UciEngine

WAIT = 60


def _python(code):
    return [sys.executable, "-c", code]


def test_the_handshake_learns_name_and_options(start_fake):
    client = start_fake()
    assert client.name == "Fake 1.0"
    assert {key: option.name for key, option in client.options.items()} == {
        name.lower(): name for name in ("Hash", "Clear Hash", "EvalType", "UCI_Chess960")
    }


DECLARED = """\
option name Hash type spin default 16 min 1 max 1024
option name Offset type spin default 0 min -5 max 5
option name Clear Hash type button
option name Ponder type check default false
option name Style type combo default Normal var Normal var Very Risky
option name Book File type string default
option name Factor type spin default 0.5 min 0 max 1e9
option name Endless type spin default 1 min 1
option name Empty type combo default x
option name Colour type rgb default red
uciok"""
REPEATER = f"""\
import sys
for line in sys.stdin:
    print({DECLARED!r} if line == "uci\\n" else line.rstrip(), flush=True)
"""


@pytest.fixture
def repeater():
    """Give a client of an engine that has options of all types, and repeats what it is told."""
    with UciClient(_python(REPEATER)) as client:
        client.handshake(WAIT)
        yield client


@pytest.mark.parametrize(
    ("name", "value", "sent"),
    [
        ("HASH", "64", "Hash value 64"),
        ("offset", "-5", "Offset value -5"),
        ("clear hash", "", "Clear Hash"),
        ("Clear Hash", "1", "Clear Hash"),
        ("Ponder", "True", "Ponder value true"),
        ("style", "very risky", "Style value Very Risky"),
        ("Book File", "My Book.bin", "Book File value My Book.bin"),
        ("Book File", "", "Book File value <empty>"),
        ("Factor", "0.75", "Factor value 0.75"),
        ("Endless", "1000000", "Endless value 1000000"),
        ("Empty", "y", "Empty value y"),
        ("Colour", "#ff0000", "Colour value #ff0000"),
    ],
)
def test_options_are_written_as_the_engine_calls_them(repeater, name, value, sent):
    repeater.set_options({name: value})
    assert repeater.read_until("setoption", WAIT) == [f"setoption name {sent}"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Hash", "0", "option Hash: 0 is not between 1 and 1024"),
        ("hash", "1025", "option Hash: 1025 is not between 1 and 1024"),
        ("Hash", "many", "option Hash: expected a whole number, not many"),
        ("Hash", "", "option Hash: expected a whole number, not nothing"),
        ("Ponder", "yes", "option Ponder: expected true or false, not yes"),
        ("Style", "Risky", "option Style: expected Normal or Very Risky, not Risky"),
        ("Threads", "1", f"{Path(sys.executable).name} has no option Threads"),
    ],
)
def test_a_value_that_an_option_does_not_have_is_an_error(repeater, name, value, message):
    with pytest.raises(OptionError) as error:
        repeater.set_options({name: value})
    assert str(error.value) == message


def test_all_lines_up_to_the_answer_are_given(start_fake):
    client = start_fake()
    client.new_game(WAIT)
    client.send("position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4", "go nodes 1")
    info, best = client.read_until("bestmove", WAIT)
    assert info.startswith("info depth 1")
    assert best.split()[1] in {"e8d7", "e8d8", "e8e7", "e8f7", "e8f8"}


def test_an_engine_that_ends_says_its_last_words():
    with UciClient(_python("import sys; sys.exit('out of luck')")) as client:
        with pytest.raises(EngineEndedError, match="ended with status 1: out of luck"):
            client.read_until("uciok", WAIT)
        client.process.wait(WAIT)
        assert not client.running
        with pytest.raises(EngineEndedError):
            for _ in range(1000):
                client.send("isready")


def test_a_silent_engine_is_killed():
    with UciClient(_python("import time; time.sleep(3600)")) as client:
        with pytest.raises(EngineSilentError, match=r"no uciok within 0\.1 s"):
            client.read_until("uciok", 0.1)
        client.process.wait(WAIT)
        assert not client.running


def test_the_processes_that_an_engine_has_started_are_killed_too():
    child = [sys.executable, "-c", "import time; print('id name child', flush=True); time.sleep(3600)"]
    with UciClient(_python(f"import subprocess; subprocess.run({child!r})")) as client:
        client.read_until("id name child", WAIT)
        client.kill()
        with pytest.raises(EngineEndedError):  # the child also has the pipe
            client.read_until("uciok", WAIT)


HANGS = """\
import sys, time

for line in sys.stdin:
    if line == "uci\\n":
        print("uciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line.startswith("go"):
        print("info depth 1 score cp 0 pv e2e4", flush=True)
        time.sleep(3600)
"""


def test_an_engine_that_hangs_behind_a_script_is_killed_at_the_end_of_its_search(tmp_path):
    script, searching = tmp_path / "hangs.py", threading.Event()
    script.write_text(HANGS, "utf-8")

    def runs():
        processes = psutil.process_iter(["cmdline"])
        return any(str(script) in (process.info["cmdline"] or ()) for process in processes)

    wrapper = _python(f"import subprocess; subprocess.run([{sys.executable!r}, {str(script)!r}])")
    with UciEngine(command_line(wrapper), {}) as engine:
        engine.begin(chess.Board(), None, lambda info: searching.set(), place="the start")
        assert searching.wait(WAIT)
        assert runs()
    eventually(lambda: not runs())


def test_an_engine_that_talks_but_does_not_answer_is_killed():
    with UciClient(_python("while True: print('info string x' * 20)")) as client, pytest.raises(EngineSilentError):
        client.read_until("bestmove", 0.2)


def test_killing_wakes_up_who_waits():
    with UciClient(_python("import time; time.sleep(3600)")) as client:
        threading.Timer(0.1, client.kill).start()
        with pytest.raises(EngineEndedError):
            client.read_until("uciok", WAIT)


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_what_an_engine_left_behind_is_killed():
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()']); print('left', flush=True)"
    with UciClient(_python(code)) as client:
        client.read_until("left", WAIT)
        os.waitid(os.P_PID, client.process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not reaped
        client.kill()
        with pytest.raises(EngineEndedError):  # what it left has its pipes
            client.read_until("uciok", WAIT)


# What this engine starts belongs to another group, as everything does on Windows whose parent has ended. It keeps the
# pipes until the client closes its own ends.
_LEAVES_ITS_PIPES = """\
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "input()"], start_new_session=True, stderr=subprocess.DEVNULL)
print("left", flush=True)
"""


@pytest.mark.parametrize("end", ["", "input()"])
def test_no_wait_depends_on_who_else_has_the_pipe(end):
    with UciClient(_python(_LEAVES_ITS_PIPES + end)) as client:
        client.read_until("left", WAIT)
        with pytest.raises(EngineSilentError):
            client.read_until("uciok", 0.1)
        for _ in range(2):
            with pytest.raises(EngineEndedError):
                client.read_until("uciok", WAIT)
    assert client.process.returncode is not None


def test_an_engine_that_nobody_listens_to_has_to_wait(monkeypatch):
    monkeypatch.setattr(client_module, "_MOST_LINES", 10)
    with UciClient(_python("for count in range(100): print(count)\nwhile True: print('more')")) as client:
        assert client.read_until("more", WAIT) == [*map(str, range(100)), "more"]


def test_lines_that_are_too_long_or_incomplete_are_ignored(monkeypatch):
    monkeypatch.setattr("knightadder.uci.short_lines.LONGEST_LINE", 100)
    lines = ["x" * 99, "x" * 100, "x" * 101, "x" * 250, "", "readyok"]
    with UciClient(_python(f"print(*{lines}, sep='\\n', flush=True); print(end='bestmove e7e8')")) as client:
        assert client.read_until("readyok", WAIT) == [*lines[:2], "", "readyok"]
        with pytest.raises(EngineEndedError):
            client.read_until("bestmove", WAIT)


def test_only_the_last_of_very_many_lines_are_kept(monkeypatch):
    monkeypatch.setattr(client_module, "_MOST_BYTES", 50)
    with UciClient(_python("print(*range(1000, 2000), 'bestmove e2e4', sep='\\n', flush=True)")) as client:
        assert client.read_until("bestmove", WAIT) == [*map(str, range(1993, 2000)), "bestmove e2e4"]
        client.process.wait(WAIT)
        with pytest.raises(EngineEndedError):
            client.read_until("bestmove", WAIT)


def test_standard_error_does_not_grow_from_game_to_game(monkeypatch):
    monkeypatch.setattr(client_module, "_MOST_BYTES", 1000)
    code = """\
import os, sys
for number, line in enumerate(sys.stdin):
    os.write(2, b"%500d\\n" % number)
    if line == "isready\\n":
        print("readyok", os.fstat(2).st_size, flush=True)
    elif line == "quit\\n":
        sys.exit("that was game 4")
"""
    with UciClient(_python(code)) as client:
        sizes = []
        for _ in range(4):
            client.new_game(WAIT)
            client.send("isready")
            sizes += client.read_until("readyok", WAIT)
        assert len(sizes) == 4 and len(set(sizes)) == 1
        client.send("quit")
        with pytest.raises(EngineEndedError, match="that was game 4"):
            client.read_until("readyok", WAIT)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_engine_that_does_not_quit_is_killed(monkeypatch):
    monkeypatch.setattr("knightadder.uci.client._QUIT_SECONDS", 0.1)
    client = UciClient(_python("import time; print('readyok', flush=True); time.sleep(3600)"))
    client.read_until("readyok", WAIT)
    client.close()
    assert client.process.returncode == -signal.SIGKILL


def test_folder_and_environment(tmp_path):
    code = "import os; print(os.getcwd()); print(os.environ['COLOUR']); print('done', flush=True)"
    with UciClient(_python(code), tmp_path, {"COLOUR": "blue"}) as client:
        folder, colour, _ = client.read_until("done", WAIT)
    assert Path(folder) == tmp_path.resolve()
    assert colour == "blue"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (r"C:\Chess\sf.exe  --quiet", [r"C:\Chess\sf.exe", "--quiet"]),
        (r'"C:\Program Files\sf.exe" "a b"', [r"C:\Program Files\sf.exe", "a b"]),
        (r"C:\Users\O'Neil\sf.exe it's", [r"C:\Users\O'Neil\sf.exe", "it's"]),
        (r'sf --book="C:\my books\b.bin" ""', ["sf", r"--book=C:\my books\b.bin", ""]),
        ("", []),
    ],
)
def test_on_windows_only_double_quotation_marks_quote(monkeypatch, command, words):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        assert split_words(command) == words
        with pytest.raises(OptionError, match=r'^cannot read the command "sf\.exe: No closing quotation$'):
            split_words('"sf.exe')


def test_a_program_is_looked_for(tmp_path):
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert resolve_command(f"'{program}' --uci 'a b'") == [str(program), "--uci", "a b"]
    assert resolve_command("./engine", tmp_path) == [str(program)]
    assert resolve_command(None) == [sys.executable, "-m", "knightadder"]
    for command in ("no-such-program-here", "", "'"):
        with pytest.raises(OptionError):
            resolve_command(command)


def test_a_path_may_contain_spaces_and_quotation_marks(tmp_path):
    program = tmp_path / "Anna's engines" / "my engine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert resolve_command(str(program)) == [str(program)]
    assert resolve_command("./my engine", program.parent) == [str(program)]
    assert resolve_command("'./my engine' --uci", program.parent) == [str(program), "--uci"]
    message = r"^no such program: \./my; put a path that contains spaces in quotation marks$"
    with pytest.raises(OptionError, match=message):
        resolve_command("./my engine --uci", program.parent)


@pytest.mark.skipif(os.name != "posix", reason="on Windows, the suffix decides")
def test_a_file_that_cannot_be_run_says_why(tmp_path):
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\n")
    for file, reason in ((tmp_path, "a folder"), (program, "not executable")):
        with pytest.raises(OptionError) as error:
            resolve_command(str(file))
        assert str(error.value) == f"cannot run {file}: it is {reason}"


def test_a_program_of_the_folder_comes_first(tmp_path, monkeypatch):
    for place in ("here", "there"):
        for program in (tmp_path / place / "engine", tmp_path / place / "bin" / "engine"):
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
    here, there = tmp_path / "here", tmp_path / "there"
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", str(here))
    for command in ("engine", "./engine", "bin/engine"):
        assert resolve_command(command, there) == [str(there / command)]
        assert resolve_command(command, Path("..", "there")) == [str(here / ".." / "there" / command)]
        assert resolve_command(command) == [str(here / command)]
    # Only a name without a folder is looked for elsewhere.
    (there / "engine").unlink()
    assert resolve_command("engine", there) == [str(here / "engine")]
    with pytest.raises(OptionError, match=r"^no such program: \./engine$"):
        resolve_command("./engine", there)


@pytest.mark.skipif(os.name != "posix", reason="what cannot be run is known before")
def test_a_file_that_is_no_program(tmp_path):
    program = tmp_path / "engine"
    program.write_text("not a program")
    program.chmod(0o755)
    with pytest.raises(EngineError, match=r"cannot start .*engine: Exec format error"):
        UciClient([str(program)])


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("failure", "raised", "message"),
    [
        (RuntimeError("can't start new thread"), EngineError, "the system allows no more threads"),
        (KeyboardInterrupt(), KeyboardInterrupt, ""),
    ],
)
def test_an_engine_that_cannot_be_watched_is_killed(monkeypatch, failure, raised, message):
    processes = []
    start = subprocess.Popen

    def start_noted(*arguments, **more):
        processes.append(start(*arguments, **more))
        return processes[0]

    def fail(thread):
        raise failure

    monkeypatch.setattr(subprocess, "Popen", start_noted)
    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(raised, match=f"^{message}$"):
        UciClient(_python("import time; time.sleep(3600)"))
    assert processes[0].returncode == -signal.SIGKILL
    monkeypatch.undo()
    with UciClient(_python("import time; time.sleep(3600)")) as other, pytest.raises(EngineSilentError):
        other.read_until("uciok", 0.1)


LISTENER = """\
import sys

for line in sys.stdin.buffer:
    if line.strip() == b"uci":
        print("option name SyzygyPath type string default <empty>\\nuciok", flush=True)
    elif line.startswith(b"setoption"):
        heard = ascii(line.rstrip())
    elif line.strip() == b"isready":
        print("readyok", flush=True)
    elif line.startswith(b"go"):
        with open(sys.argv[1], "w") as file:
            file.write(heard)
        print("bestmove e2e4", flush=True)
"""


def _by_the_client(command):
    with UciClient(command) as client:
        client.handshake(WAIT)
        client.set_options({"SyzygyPath": "caf\udce9"})
        client.send("isready", "go")
        client.read_until("bestmove", WAIT)


def _by_python_chess(command):
    with UciEngine(command_line(command), {"SyzygyPath": "caf\udce9"}) as engine:
        engine.search(chess.Board(), chess.engine.Limit(depth=1), lambda info: None, place="the start")


@pytest.mark.parametrize("search", [_by_the_client, _by_python_chess])
def test_a_name_that_is_not_utf8_reaches_the_engine_byte_for_byte(tmp_path, search):
    script, heard = tmp_path / "listener.py", tmp_path / "heard"
    script.write_text(LISTENER, "utf-8")
    search([sys.executable, str(script), str(heard)])
    assert heard.read_text() == repr(b"setoption name SyzygyPath value caf\xe9")
