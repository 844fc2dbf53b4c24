"""Compiling the entry points, or loading them from the cache.

A cold start compiles them all, which takes long. Where there are two processors, a second process shares the work. The
two go through the entry points from opposite ends, and each finds in the cache what the other has compiled. So neither
waits for the other, and if the second process fails, the first compiles everything.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator

from numba.core import config
from numba.core.caching import NullCache

from . import cache, second_compiler
from .jit import CACHE, ENTRIES

# Takes longer to compile than all others together, so it comes first when two processes share the work.
_LONGEST = "search_root"


def compile_entries(report: Callable[[str], None] = lambda line: None) -> None:
    """Compile every entry point, or load it from the cache.

    If the cache cannot be read or filled (a full disk, for example), it is emptied, and everything is compiled for this
    process alone.

    Parameters
    ----------
    report : callable
        Receives a line such as ``compiling 3/8: search_root`` before each step, unless all is in the cache.
    """
    if config.DISABLE_JIT:
        return
    if CACHE.path is not None:
        try:
            _load_or_fill(report)
            return
        except Exception:
            cache.discard(CACHE)
        for compiled, _ in ENTRIES:
            compiled._cache = NullCache()
    _compile(ENTRIES, report)


def compile_entry(function) -> None:
    """Compile an entry point that not every start needs, or load it from the cache.

    If the cache is damaged or full, it is not used.
    """
    if config.DISABLE_JIT or function.signatures:
        return
    signature = next(signature for compiled, signature in ENTRIES if compiled is function)
    try:
        _compile([(function, signature)], lambda line: None)
    except Exception:
        function._cache = NullCache()
        function.compile(signature)


def _load_or_fill(report: Callable[[str], None]) -> None:
    with cache.fill_lock(CACHE, lambda: report("waiting for another engine that is compiling")) as complete:
        if complete:
            _compile(ENTRIES, lambda line: None)
        else:
            first, *others = sorted(ENTRIES, key=lambda entry: entry[0].py_func.__name__ != _LONGEST)
            # The other process has ended before the cache is marked as complete.
            with second_compiler.compiling([compiled.py_func for compiled, _ in others], CACHE.path):
                _compile([first, *reversed(others)], report)
            cache.mark_complete(CACHE)
    cache.sweep(CACHE)


def _compile(entries: list, report: Callable[[str], None]) -> None:
    with _rare_garbage_collection():
        for number, (compiled, signature) in enumerate(entries, 1):
            report(f"compiling {number}/{len(entries)}: {compiled.py_func.__name__}")
            compiled.compile(signature)
            if compiled.stats.cache_misses:
                cache.note_files(CACHE)
            compiled._cache = NullCache()  # a call with arguments of other types must not change the files


@contextlib.contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Run garbage collection less often: there is little garbage, and looking for it takes 7 % of compile time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(50 * thresholds[0], *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
