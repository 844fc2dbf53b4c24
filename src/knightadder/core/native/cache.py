"""Where the compiled core is kept on disk, so that only the first start has to compile.

Numba notices a change of the file that holds a cached function, but not one of the functions that it calls. So the
compiled code lies in a folder whose name is a digest of everything it depends on: all sources of the core, Python,
Numba, LLVM and the processor. A folder is filled once, by one process; those that nobody has used for two weeks are
removed.

Nothing checks machine code before it runs, so the folder holds a checksum of each file. When a process opens the
folder, it removes the files that have changed since they were written, and their functions are compiled again.

The folders lie in ``$KNIGHTADDER_CACHE`` if that is set, else in the user's cache folder, else, if that cannot be
written, in a private one among the temporary files.
"""

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

CORE = Path(__file__).parents[1]
KEEP_UNUSED_DAYS = 14

_PREFIX = "core-"
_LOCK = "lock"  # locked while the folder is filled; its time of modification says when the folder was last used
_COMPLETE = "complete"  # an empty file, made after the fill
_CHECKSUMS = "checksums"  # of the files that Numba wrote, by name
_POLL_SECONDS = 0.05

# Settings of Numba that change the code it makes. They may come from the environment or from a file.
_NUMBA_SETTINGS = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DEBUGINFO_DEFAULT",
    "ENABLE_AVX",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
)


@dataclass(frozen=True, slots=True)
class CacheState:
    """The folder that this process uses.

    Attributes
    ----------
    key : str
        Digest of what the compiled code depends on, in hexadecimal.
    path : Path or None
        The folder; None when nothing can or should be kept on disk. Functions must then be compiled without
        ``cache=True``, or Numba would keep them beside the sources, where a change of a callee goes unnoticed.
    """

    key: str
    path: Path | None


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """One folder of compiled code, as shown to the user.

    Attributes
    ----------
    path : Path
        The folder.
    size : int
        Bytes in its files.
    last_used : datetime
        When an engine last started from it, in local time.
    current : bool
        Whether this version of the engine uses it on this machine.
    """

    path: Path
    size: int
    last_used: datetime
    current: bool


def configure() -> CacheState:
    """Choose and create the folder for the compiled core and tell Numba about it.

    Must run before the first function is decorated with ``cache=True``.

    Returns
    -------
    CacheState
        The folder in use. It never fails: without a usable folder the path is None.
    """
    import numba

    config: Any = numba.config  # a module that fills itself at import, opaque to a type checker
    key = current_key()
    # Interpreted functions leave nothing to keep, and the folder must not count as filled.
    path = None if config.DISABLE_JIT else _claim_folder(_PREFIX + key)
    config.CACHE_DIR = "" if path is None else str(path)
    state = CacheState(key, path)
    remove_damaged(state)
    return state


def current_key(core: Path = CORE) -> str:
    """Digest everything that the compiled code depends on.

    Parameters
    ----------
    core : Path
        Folder of the core's sources.

    Returns
    -------
    str
        24 hexadecimal digits.
    """
    import llvmlite
    import numba
    from llvmlite import binding

    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know them for every processor
        features = ""
    facts = [
        # Numba names its files after the place of the source, so a second copy of the core cannot use them.
        os.path.abspath(core),
        sys.version,
        sys.platform,
        numba.__version__,
        llvmlite.__version__,
        binding.get_host_cpu_name(),
        features,
        *(f"{name}={getattr(numba.config, name, None)}" for name in _NUMBA_SETTINGS),
    ]
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(fact.encode() + b"\0")
    for source in sorted(core.rglob("*.py")):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(core).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def fill_lock(state: CacheState, on_wait: Callable[[], None] | None = None) -> Iterator[bool]:
    """Let only one process at a time fill the folder; the others wait, and then find it complete.

    A complete folder needs no lock, so there is nothing to wait for. The operating system releases the lock of a
    process that dies, and the next one continues with the files noted so far. Where locks do not work (some
    network file systems) nobody waits: Numba writes each file in one step, so only work is lost.

    Parameters
    ----------
    state : CacheState
        From `configure`.
    on_wait : callable, optional
        Called once if another process holds the lock.

    Yields
    ------
    bool
        Whether the folder is complete, so that there is nothing to fill.
    """
    with contextlib.ExitStack() as stack:
        if state.path is not None and not is_complete(state):
            with contextlib.suppress(OSError):
                file = stack.enter_context((state.path / _LOCK).open("ab"))
                if _wait_for_lock(file, state, on_wait):
                    stack.callback(_unlock, file)
                    (state.path / _COMPLETE).unlink(missing_ok=True)
                    remove_damaged(state, unknown_too=True)
        yield is_complete(state)


def is_complete(state: CacheState) -> bool:
    """Tell whether the folder was filled to the end and nothing has been lost from it since."""
    if state.path is None or not (state.path / _COMPLETE).exists():
        return False
    noted = _read_checksums(state.path).keys()
    return bool(noted) and noted <= {_name(file, state.path) for file in _files(state.path)}


def mark_complete(state: CacheState) -> None:
    """Note that everything is compiled. Call it inside `fill_lock`."""
    note_files(state)
    if state.path is not None and _read_checksums(state.path):
        with contextlib.suppress(OSError):
            (state.path / _COMPLETE).touch()


def note_files(state: CacheState) -> None:
    """Save the checksums of all files in the folder. Call it after each compilation."""
    if state.path is not None:
        _write_checksums(state.path, {_name(file, state.path): _checksum(file) for file in _files(state.path)})


def remove_damaged(state: CacheState, *, unknown_too: bool = False) -> None:
    """Remove the files that have changed since they were noted; then the folder is not complete any more.

    Parameters
    ----------
    state : CacheState
        From `configure`, which has already called this function.
    unknown_too : bool
        Also remove the files that were never noted, such as a killed process may have left. Only the process that holds
        the lock may do this: otherwise another process may be writing them.
    """
    if state.path is None:
        return
    checksums = _read_checksums(state.path)
    sound = {}
    for file in _files(state.path):
        name = _name(file, state.path)
        if name in checksums and checksums[name] == _checksum(file):
            sound[name] = checksums[name]
        elif name in checksums or unknown_too:
            with contextlib.suppress(OSError):
                file.unlink()
    if len(sound) < len(checksums):
        with contextlib.suppress(OSError):
            (state.path / _COMPLETE).unlink(missing_ok=True)
        # With the old checksums, the files that replace the removed ones would count as damaged.
        _write_checksums(state.path, sound)


def discard(state: CacheState) -> None:
    """Remove the compiled code when it turns out to be unusable; the folder and its lock stay."""
    if state.path is None:
        return
    with contextlib.suppress(OSError):
        (state.path / _COMPLETE).unlink(missing_ok=True)
        for entry in list(state.path.iterdir()):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)


def sweep(state: CacheState) -> None:
    """Remove the sibling folders that nobody has used for `KEEP_UNUSED_DAYS` days; ignore errors."""
    if state.path is None:
        return
    oldest = time.time() - KEEP_UNUSED_DAYS * 24 * 3600
    for folder in _folders_in(state.path.parent):
        if folder != state.path and _last_used(folder) < oldest and not _is_locked(folder):
            shutil.rmtree(folder, ignore_errors=True)


def describe(state: CacheState | None = None) -> list[CacheFolder]:
    """List all folders of compiled code.

    Parameters
    ----------
    state : CacheState, optional
        What `configure` returned; without it the current key is computed here and no folder is created.

    Returns
    -------
    list of CacheFolder
        The most recently used first.
    """
    key = current_key() if state is None else state.key
    folders = [
        CacheFolder(
            path=folder,
            size=_size(folder),
            last_used=datetime.fromtimestamp(_last_used(folder)).astimezone(),
            current=folder.name == _PREFIX + key,
        )
        for folder in _all_folders()
    ]
    return sorted(folders, key=lambda folder: folder.last_used, reverse=True)


def clear() -> int:
    """Remove all folders of compiled code except those that are being filled at this moment.

    Returns
    -------
    int
        Bytes freed.
    """
    freed = 0
    for folder in _all_folders():
        if not _is_locked(folder):
            before = _size(folder)
            shutil.rmtree(folder, ignore_errors=True)
            freed += before - _size(folder)
    return freed


def _claim_folder(name: str) -> Path | None:
    """Create the folder `name` in the first usable place and note its use; return None if there is none."""
    for base, must_be_private in _bases():
        with contextlib.suppress(OSError):
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not must_be_private or _is_private(base):
                return _open_folder(base / name)
    with contextlib.suppress(OSError):
        fresh = tempfile.mkdtemp(prefix="knightadder-")
        atexit.register(shutil.rmtree, fresh, ignore_errors=True)
        return _open_folder(Path(fresh) / name)
    return None


def _open_folder(folder: Path) -> Path:
    """Create `folder` if needed, make sure that it can be written and note its use; OSError if it cannot."""
    folder.mkdir(mode=0o700, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    (folder / _LOCK).touch()
    return folder


def _bases() -> list[tuple[Path, bool]]:
    """Give the places to try, best first, each with whether it must be private to be trusted.

    The files are pickles: whoever can write them can run code as the user who loads them. A place that the user named
    is trusted as it is. The others must belong to this user, and nobody else may write to them. This matters most in
    the shared temporary folder, where anybody can guess our folder's name and create it first.
    """
    bases: list[tuple[Path, bool]] = []
    named = os.environ.get("KNIGHTADDER_CACHE")
    if named:
        bases.append((Path(os.path.abspath(os.path.expanduser(named))), False))
    else:
        import platformdirs

        home = platformdirs.user_cache_path("knightadder", appauthor=False)
        if home.is_absolute():  # without a home folder it comes out as a literal, relative "~"
            bases.append((home.resolve(), True))
    with contextlib.suppress(OSError):
        name = "knightadder"
        if sys.platform != "win32":  # where each user has temporary files of their own
            name += f"-{os.getuid()}"
        bases.append((Path(tempfile.gettempdir()).absolute() / name, True))
    return bases


def _is_private(folder: Path) -> bool:
    """Tell whether `folder` is a real folder, no link, that belongs to us and that nobody else can write to."""
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode):
        return False
    if sys.platform == "win32":
        return True
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _files(folder: Path) -> list[Path]:
    """List the files that Numba wrote, indices and machine code; none if the folder disappears meanwhile."""
    try:
        return sorted(folder.rglob("*.nb[ic]"))
    except OSError:
        return []


def _name(file: Path, folder: Path) -> str:
    """Give the name under which a file is noted."""
    return file.relative_to(folder).as_posix()


def _checksum(file: Path) -> str:
    """Give a file's checksum in hexadecimal; of a file that cannot be read, the empty string."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_checksums(folder: Path) -> dict[str, str]:
    """Read the checksums by name; none if they are missing or broken."""
    try:
        checksums = json.loads((folder / _CHECKSUMS).read_bytes())
    except (OSError, ValueError):
        return {}
    return checksums if isinstance(checksums, dict) else {}


def _write_checksums(folder: Path, checksums: dict[str, str]) -> None:
    """Replace the checksums in one step; ignore errors."""
    with contextlib.suppress(OSError):
        new = folder / f"{_CHECKSUMS}.{os.getpid()}"
        new.write_text(json.dumps(checksums, indent=1), encoding="utf-8")
        new.replace(folder / _CHECKSUMS)


def _all_folders() -> Iterator[Path]:
    """Yield the folders of compiled code in all places that `configure` might have chosen."""
    for base, must_be_private in _bases():
        with contextlib.suppress(OSError):
            if not must_be_private or _is_private(base):
                yield from _folders_in(base)


def _folders_in(base: Path) -> list[Path]:
    """List the folders of compiled code in `base`, and nothing else that may lie there."""
    try:
        return [entry for entry in base.glob(_PREFIX + "[0-9a-f]" * 24) if entry.is_dir() and not entry.is_symlink()]
    except OSError:
        return []


def _last_used(folder: Path) -> float:
    """Give the time, in seconds since 1970, at which an engine last claimed `folder`."""
    for file in (folder / _LOCK, folder):
        with contextlib.suppress(OSError):
            return file.stat().st_mtime
    return time.time()


def _size(folder: Path) -> int:
    """Add up the bytes of all files under `folder`; 0 if it is gone."""
    total = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                total += file.stat().st_size
    return total


def _wait_for_lock(file: BinaryIO, state: CacheState, on_wait: Callable[[], None] | None) -> bool:
    """Wait until this process has the lock (True) or the folder is complete (False)."""
    waiting = False
    while not is_complete(state):
        if _try_lock(file):
            return True
        if not waiting and on_wait is not None:
            on_wait()
        waiting = True
        time.sleep(_POLL_SECONDS)
    return False


def _is_locked(folder: Path) -> bool:
    """Tell whether a process is filling `folder`."""
    try:
        with (folder / _LOCK).open("ab") as file:
            if not _try_lock(file):
                return True
            _unlock(file)
    except OSError:
        pass
    return False


if sys.platform == "win32":

    def _try_lock(file: BinaryIO) -> bool:
        """Take the lock and return True, or return False if another process has it."""
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: BinaryIO) -> None:
        """Give the lock back."""
        file.seek(0)
        with contextlib.suppress(OSError):
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(file: BinaryIO) -> bool:
        """Take the lock and return True, or return False if another process has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: BinaryIO) -> None:
        """Give the lock back."""
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
