"""Compiling the entry points, or loading them from the cache.

A cold start compiles them all, which takes long. Where there are two processors, a second process shares the work: this
one goes through the entry points from one end, the other from the other end, and what one has compiled the other finds
in the cache. So neither waits for the other, and if the other fails, this one does it all.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator

from numba.core import config
from numba.core.caching import NullCache

from . import cache, second_compiler
from .jit import CACHE, ENTRIES

# Takes longer than all others together, so that it has to come first where two share the work.
_LONGEST = "search_root"


def compile_entries(report: Callable[[str], None] = lambda line: None) -> None:
    """Compile every entry point, or load it from the cache.

    Where the cache cannot be filled (a full disk, say) or read, it is emptied, and everything is compiled for this
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
    """Compile one entry point, or load it from the cache, for what is not part of every start.

    A damaged or full cache is passed by.
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
            compiled._cache = NullCache()  # a call with arguments of other types shall leave the files as they are


@contextlib.contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Let Python look for garbage less often: there is little of it, and the search takes 7 % of compiling."""
    thresholds = gc.get_threshold()
    gc.set_threshold(50 * thresholds[0], *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
