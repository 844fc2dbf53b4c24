"""Where the compiled core is kept: the key, the folder, the lock and the tidying up."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numba
import platformdirs
import pytest

from knightadder.core.native import cache
from knightadder.core.native.cache import CacheState

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX users and permissions")

DAY = 24 * 3600
PATIENCE = 300.0  # seconds until a process that does not answer fails the test


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep every place that the cache may choose, and Numba's setting, inside this test."""
    monkeypatch.delenv("KNIGHTADDER_CACHE", raising=False)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(numba.config, "CACHE_DIR", numba.config.CACHE_DIR)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "home" / "knightadder")
    (tmp_path / "temporary").mkdir()
    return tmp_path


@pytest.fixture
def state(tmp_path):
    """Give an empty folder as `configure` leaves it."""
    return CacheState("0" * 24, cache._open_folder(_folder(tmp_path, "0")))


def _folder(base: Path, digit: str) -> Path:
    return base / ("core-" + digit * 24)


def _compiled(state: CacheState, name: str = "search.1.nbc", content: bytes = b"machine code") -> Path:
    """Put a file where Numba would."""
    file = state.path / "core_1234" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


def _python(code: str, *arguments: object, **environment: str) -> subprocess.Popen:
    source = str(Path(cache.__file__).parents[3])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": source} | environment,
    )


# --- the key -------------------------------------------------------------------------------------------------------


@pytest.fixture
def sources(tmp_path):
    """Give a small core of two files."""
    (tmp_path / "core" / "evaluation").mkdir(parents=True)
    (tmp_path / "core" / "search.py").write_text("depth = 1\n")
    (tmp_path / "core" / "evaluation" / "pesto.py").write_text("pawn = 100\n")
    return tmp_path / "core"


def test_key_stays_the_same_while_nothing_changes(sources):
    before = cache.current_key(sources)
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "search.pyc").write_bytes(b"anything")
    os.utime(sources / "search.py", (1, 1))
    assert cache.current_key(sources) == before
    assert len(before) == 24
    assert set(before) <= set("0123456789abcdef")


def test_key_changes_with_a_callee_in_another_file(sources):
    before = cache.current_key(sources)
    (sources / "evaluation" / "pesto.py").write_text("pawn = 101\n")
    assert cache.current_key(sources) != before


def test_key_changes_with_a_name_and_with_where_one_file_ends(sources):
    keys = {cache.current_key(sources)}
    (sources / "search.py").rename(sources / "searching.py")
    keys.add(cache.current_key(sources))
    (sources / "searching.py").write_text("depth = 1\npawn = 100\n")
    (sources / "evaluation" / "pesto.py").write_text("")
    keys.add(cache.current_key(sources))
    assert len(keys) == 3


def test_key_changes_with_the_place_of_the_sources(sources):
    before = cache.current_key(sources)
    assert cache.current_key(sources.rename(sources.parent / "core2")) != before


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        ("numba", "__version__", "9.9.9"),
        ("llvmlite", "__version__", "9.9.9"),
        ("sys", "version", "3.99"),
        ("numba.config", "BOUNDSCHECK", 1),
        ("numba.config", "CPU_NAME", "i386"),
        ("llvmlite.binding", "get_host_cpu_name", lambda: "abacus"),
        ("llvmlite.binding", "get_host_cpu_features", dict),
    ],
)
def test_key_changes_with_compiler_and_processor(sources, monkeypatch, owner, name, value):
    if name == "get_host_cpu_features":

        def value():
            raise RuntimeError("not known for this processor")

    before = cache.current_key(sources)
    monkeypatch.setattr(f"{owner}.{name}", value)
    assert cache.current_key(sources) != before


# --- the folder ----------------------------------------------------------------------------------------------------


def test_configure_uses_the_users_cache_folder(tmp_path):
    state = cache.configure()
    assert state.path == tmp_path / "home" / "knightadder" / f"core-{state.key}"
    assert state.path.is_dir()
    assert str(state.path) == numba.config.CACHE_DIR
    assert cache.configure() == state


def test_configure_prefers_the_folder_that_the_user_names(tmp_path, monkeypatch):
    monkeypatch.setenv("KNIGHTADDER_CACHE", str(tmp_path / "named" / "deep"))
    assert cache.configure().path.parent == tmp_path / "named" / "deep"
    assert not (tmp_path / "home").exists()


def test_a_relative_folder_is_taken_from_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNIGHTADDER_CACHE", "here")
    assert cache.configure().path.parent == tmp_path / "here"


def test_nothing_is_kept_of_interpreted_functions(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert cache.configure().path is None
    assert numba.config.CACHE_DIR == ""
    assert not (tmp_path / "home").exists()


@posix_only
@pytest.mark.parametrize(
    "obstacle", ["file in place of the home", "file in place of the folder", "read-only", "no home"]
)
def test_without_a_usable_home_the_folder_is_a_private_temporary_one(tmp_path, monkeypatch, obstacle):
    home = tmp_path / "home"
    if obstacle == "file in place of the home":
        home.write_text("")
    elif obstacle == "file in place of the folder":
        (home / "knightadder").mkdir(parents=True)
        (home / "knightadder" / f"core-{cache.current_key()}").write_text("")
    elif obstacle == "read-only":
        (home / "knightadder").mkdir(parents=True)
        real = cache._open_folder

        def refuse(folder):
            if home in folder.parents:
                raise OSError(30, "Read-only file system")
            return real(folder)

        monkeypatch.setattr(cache, "_open_folder", refuse)
    else:
        monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: Path("~/.cache/knightadder"))
        monkeypatch.chdir(tmp_path)
    state = cache.configure()
    base = tmp_path / "temporary" / f"knightadder-{os.getuid()}"
    assert state.path == base / f"core-{state.key}"
    assert stat.S_IMODE(base.stat().st_mode) == 0o700
    assert not (tmp_path / "~").exists()


@posix_only
def test_the_folder_is_found_without_home_in_the_environment(tmp_path):
    code = "from knightadder.core.native import cache; print(cache.configure().path)"
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"PYTHONPATH": str(Path(cache.__file__).parents[3]), "KNIGHTADDER_CACHE": "/dev/null/no"}
    environment |= {"TMPDIR": str(tmp_path)}
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(output.stdout.strip()).parent == tmp_path / f"knightadder-{os.getuid()}"


@posix_only
@pytest.mark.parametrize("danger", ["writable by others", "link", "of another user", "file"])
def test_a_temporary_folder_that_others_could_write_is_refused(tmp_path, monkeypatch, danger):
    (tmp_path / "home").write_text("")
    base = tmp_path / "temporary" / f"knightadder-{os.getuid()}"
    if danger == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        base.symlink_to(tmp_path / "elsewhere")
    elif danger == "file":
        base.write_text("")
    else:
        base.mkdir(mode=0o700)
    if danger == "writable by others":
        base.chmod(0o777)
    if danger == "of another user":
        other = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
        base = base.rename(base.with_name(f"knightadder-{other}"))
    removed = []
    monkeypatch.setattr("atexit.register", lambda *call, **_: removed.append(call[1]))
    state = cache.configure()
    assert removed == [str(state.path.parent)]
    assert state.path.parent.parent == tmp_path / "temporary"
    assert state.path.parent.name.startswith("knightadder-")
    assert state.path.parent != base
    assert stat.S_IMODE(state.path.parent.stat().st_mode) == 0o700
    assert not any(tmp_path.glob("elsewhere/*"))


@posix_only
def test_the_last_resort_is_removed_at_exit(tmp_path):
    code = "from knightadder.core.native import cache; print(cache.configure().path)"
    (tmp_path / f"knightadder-{os.getuid()}").write_text("")
    process = _python(code, KNIGHTADDER_CACHE="/dev/null/no", TMPDIR=str(tmp_path))
    path = Path(process.communicate(timeout=PATIENCE)[0].strip())
    assert path.parent.parent == tmp_path
    assert not path.parent.exists()


def test_without_any_place_nothing_is_kept(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_open_folder", full)
    state = cache.configure()
    assert state.path is None
    assert numba.config.CACHE_DIR == ""
    with cache.fill_lock(state):
        cache.mark_complete(state)
    assert not cache.is_complete(state)
    cache.sweep(state)
    cache.discard(state)


# --- the marker ----------------------------------------------------------------------------------------------------


def test_complete_once_marked(state):
    _compiled(state)
    assert not cache.is_complete(state)
    cache.mark_complete(state)
    assert cache.is_complete(state)


def test_an_empty_folder_is_not_complete(state):
    cache.mark_complete(state)
    assert not cache.is_complete(state)


def _refill(state: CacheState) -> None:
    """Fill the folder as the next process does."""
    cache.remove_damaged(state)
    with cache.fill_lock(state) as complete:
        assert not complete
        _compiled(state)
        cache.mark_complete(state)
    assert cache.is_complete(state)


def _damage(file: Path, content: bytes) -> None:
    """Change a file, and hide it: neither its time nor its size need tell."""
    info = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff\xfe", b'{"core_1234/search.1.nbc": 12}'])
def test_with_broken_checksums_all_is_compiled_again(state, content):
    files = [_compiled(state), _compiled(state, "perft.1.nbc")]
    cache.mark_complete(state)
    (state.path / "checksums").write_bytes(content)
    cache.remove_damaged(state)
    assert not cache.is_complete(state)
    with cache.fill_lock(state):
        assert not any(file.exists() for file in files)
    _refill(state)


def test_every_flipped_bit_is_noticed(state):
    file, other = _compiled(state), _compiled(state, "perft.1.nbc")
    sound = file.read_bytes()
    for bit in range(8 * len(sound)):
        cache.mark_complete(state)
        _damage(file, (int.from_bytes(sound) ^ 1 << bit).to_bytes(len(sound)))
        cache.remove_damaged(state)
        assert not file.exists()
        assert other.exists()
        _refill(state)


def test_a_flipped_bit_in_the_checksums_costs_only_compiling(state):
    _compiled(state, "search.nbi")
    cache.mark_complete(state)
    checksums = state.path / "checksums"
    sound = checksums.read_bytes()
    for place in range(len(sound)):
        checksums.write_bytes(sound[:place] + bytes([sound[place] ^ 1 << place % 8]) + sound[place + 1 :])
        cache.remove_damaged(state)
        with cache.fill_lock(state):
            _compiled(state, "search.nbi")
            cache.mark_complete(state)
        assert cache.is_complete(state)
        assert checksums.read_bytes() == sound


@pytest.mark.parametrize("damage", ["truncated", "removed"])
def test_a_damaged_file_is_noticed_and_compiled_again(state, damage):
    broken, other = _compiled(state), _compiled(state, "perft.1.nbc")
    cache.mark_complete(state)
    if damage == "removed":
        broken.unlink()
    else:
        broken.write_bytes(b"machine")
    _refill(state)
    assert broken.read_bytes() == b"machine code"
    assert other.exists()


def test_opening_the_folder_removes_what_is_damaged(tmp_path):
    state = cache.configure()
    file = _compiled(state)
    cache.mark_complete(state)
    assert cache.configure() == state
    assert cache.is_complete(state)
    _damage(file, b"machine cods")
    cache.configure()
    assert not file.exists()


def test_what_replaces_a_damaged_file_is_not_taken_for_damaged(state):
    file = _compiled(state)
    cache.note_files(state)
    _damage(file, b"machine cods")
    cache.remove_damaged(state)
    _compiled(state, content=b"other machine code")
    cache.remove_damaged(state)  # as another process that starts at this moment does
    assert file.exists()


def test_later_additions_leave_it_complete(state):
    _compiled(state)
    cache.mark_complete(state)
    _compiled(state, "search.2.nbc")
    assert cache.is_complete(state)
    cache.note_files(state)
    assert cache.is_complete(state)


def test_what_a_killed_process_did_not_note_is_compiled_again(state):
    noted = _compiled(state)
    cache.note_files(state)
    unknown = _compiled(state, "perft.1.nbc")
    cache.remove_damaged(state)
    assert unknown.exists()  # another process may just be writing it
    with cache.fill_lock(state):
        assert noted.exists()
        assert not unknown.exists()


# --- the lock ------------------------------------------------------------------------------------------------------

FILL = """
    import sys
    from pathlib import Path
    from knightadder.core.native.cache import CacheState, fill_lock, mark_complete

    state, log = CacheState("0" * 24, Path(sys.argv[1])), Path(sys.argv[2])

    def note(word):
        with log.open("a") as file:
            file.write(word + "\\n")

    print("ready", flush=True)
    sys.stdin.readline()
    with fill_lock(state, lambda: note("wait")) as complete:
        if not complete:
            note("begin")
            (state.path / "search.1.nbc").write_bytes(b"machine ")
            sys.stdin.readline()
            (state.path / "search.1.nbc").write_bytes(b"machine code")
            note("end")
            mark_complete(state)
    assert (state.path / "search.1.nbc").read_bytes() == b"machine code"
    note("play")
"""


def _say(process: subprocess.Popen, line: str = "go") -> None:
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _wait_for_words(log: Path, count: int) -> list[str]:
    """Wait until some words are in a file."""
    end = time.monotonic() + PATIENCE
    while len(words := log.read_text().split() if log.exists() else []) < count:
        assert time.monotonic() < end, words
        time.sleep(0.01)
    return words


def test_of_eight_processes_one_compiles_and_all_play(state, tmp_path):
    log = tmp_path / "log"
    processes = [_python(FILL, state.path, log) for _ in range(8)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        _say(process)
    # One has the lock and the others wait for it; only now may it go on.
    assert sorted(_wait_for_words(log, 8)) == ["begin"] + ["wait"] * 7
    for process in processes:
        _say(process)
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    assert log.read_text().split()[8:] == ["end"] + ["play"] * 8


HOLD = """
    import sys
    from pathlib import Path
    from knightadder.core.native.cache import CacheState, fill_lock

    with fill_lock(CacheState("0" * 24, Path(sys.argv[1]))):
        print("held", flush=True)
        sys.stdin.read()  # until it is killed
"""


@pytest.fixture
def holder(state):
    """Give a process that has the lock and keeps it."""
    process = _python(HOLD, state.path)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


@posix_only
def test_the_lock_of_a_killed_process_goes_to_the_next_with_what_was_compiled(state, holder):
    file = _compiled(state)
    cache.note_files(state)
    # It is killed only when this process waits; so the lock cannot have been free before.
    with cache.fill_lock(state, holder.kill):
        assert cache._is_locked(state.path)
        assert holder.wait(PATIENCE) == -signal.SIGKILL
        assert file.exists()


def test_waiting_ends_when_the_folder_is_complete(state, holder):
    _compiled(state)
    with cache.fill_lock(state, lambda: cache.mark_complete(state)) as complete:
        assert complete
    assert holder.poll() is None


def test_a_complete_folder_needs_no_lock(state, holder):
    _compiled(state)
    cache.mark_complete(state)
    with cache.fill_lock(state, pytest.fail) as complete:
        assert complete


def test_the_lock_is_given_back_when_filling_fails(state):
    with pytest.raises(ZeroDivisionError), cache.fill_lock(state):
        assert cache._is_locked(state.path)
        raise ZeroDivisionError
    assert not cache._is_locked(state.path)


def test_without_working_locks_nobody_waits(state, monkeypatch):
    def unsupported(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(cache, "_try_lock", unsupported)
    with cache.fill_lock(state):
        pass
    (state.path / "lock").unlink()
    state.path.rmdir()
    with cache.fill_lock(state):
        pass


# --- tidying up ----------------------------------------------------------------------------------------------------


def _age(folder: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(folder / "lock", (then, then))


def test_sweep_removes_only_old_folders_of_its_own_kind(tmp_path, state):
    for digit, days in (("1", 15), ("2", 13), ("3", 15)):
        _age(cache._open_folder(_folder(tmp_path, digit)), days)
    _age(state.path, 100)
    (tmp_path / "core-mine").mkdir()
    os.utime(tmp_path / "core-mine", (1, 1))
    (tmp_path / "kept").mkdir()
    _folder(tmp_path, "4").symlink_to(tmp_path / "kept")
    with cache.fill_lock(CacheState("3" * 24, _folder(tmp_path, "3"))):
        cache.sweep(state)
    assert {digit for digit in "01234" if _folder(tmp_path, digit).exists()} == {"0", "2", "3", "4"}
    assert (tmp_path / "core-mine").exists()


def test_a_claim_counts_as_use(tmp_path, monkeypatch):
    monkeypatch.setenv("KNIGHTADDER_CACHE", str(tmp_path))
    mine = cache.configure()
    _age(mine.path, 100)
    cache.configure()
    cache.sweep(CacheState("9" * 24, _folder(tmp_path, "9")))
    assert mine.path.exists()


def test_describe_and_clear(tmp_path, monkeypatch):
    monkeypatch.setenv("KNIGHTADDER_CACHE", str(tmp_path))
    assert cache.describe() == []
    state = cache.configure()
    _compiled(state, content=b"x" * 1000)
    _age(cache._open_folder(_folder(tmp_path, "1")), 3)
    (tmp_path / "precious").write_text("not ours")
    for folders in (cache.describe(), cache.describe(state)):
        assert [(folder.path, folder.size, folder.current) for folder in folders] == [
            (state.path, 1000, True),
            (_folder(tmp_path, "1"), 0, False),
        ]
        assert round((folders[0].last_used - folders[1].last_used).total_seconds() / DAY) == 3
    assert cache.clear() == 1000
    assert cache.describe() == []
    assert (tmp_path / "precious").exists()


def test_clear_leaves_what_is_being_filled(tmp_path, monkeypatch):
    monkeypatch.setenv("KNIGHTADDER_CACHE", str(tmp_path))
    state = cache.configure()
    with cache.fill_lock(state):
        file = _compiled(state)
        assert cache.clear() == 0
        assert file.exists()


def test_clear_reaches_the_temporary_folder_too(tmp_path):
    (tmp_path / "home").write_text("")
    _compiled(cache.configure())
    (tmp_path / "home").unlink()
    _compiled(cache.configure())
    assert len(cache.describe()) == 2
    assert cache.clear() == 2 * len(b"machine code")


# --- with Numba itself ---------------------------------------------------------------------------------------------

COMPILE = """
    import sys
    from knightadder.core.native import cache

    state = cache.configure()
    sys.path.insert(0, sys.argv[1])
    with cache.fill_lock(state):
        from adder import add
        add.compile("int64(int64, int64)")
        cache.mark_complete(state)
    assert add(2, 3) == 5
    print(sum(add.stats.cache_hits.values()), cache.is_complete(state))
"""


def test_numba_fills_the_folder_and_loads_from_it(tmp_path):
    source = "from numba import njit\n\n@njit(cache=True)\ndef add(a, b):\n    return a + b\n"
    (tmp_path / "adder.py").write_text(source)
    named = tmp_path / "named"
    for hits in (0, 1):
        process = _python(COMPILE, tmp_path, KNIGHTADDER_CACHE=str(named), NUMBA_DISABLE_JIT="0")
        assert process.communicate(timeout=PATIENCE)[0].split() == [str(hits), "True"]
    (folder,) = named.iterdir()
    assert sorted(file.suffix for file in folder.rglob("*.nb[ic]")) == [".nbc", ".nbi"]
    assert len(json.loads((folder / "checksums").read_bytes())) == 2
    assert not any((tmp_path / "__pycache__").glob("*.nb[ic]"))
