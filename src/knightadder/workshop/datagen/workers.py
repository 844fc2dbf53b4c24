"""Processes that play chunks of games, each with a core of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.engine.errors import EngineError, OptionError, PositionError

if TYPE_CHECKING:
    from knightadder.workshop.datagen.games import GameSettings
    from knightadder.workshop.datagen.parts import Parts

# Looking now and then, since not every system lets Ctrl-C end a wait.
_POLL_SECONDS = 0.1

_ERRORS = {error.__name__: error for error in (OptionError, PositionError)}


def play_chunks(
    settings: GameSettings,
    parts: Parts,
    concurrency: int,
    numbers: Iterator[int],
    on_game: Callable[[int], None],
    on_tick: Callable[[], None] = lambda: None,
) -> None:
    """Let chunks be played, saved and noted, several at once.

    Whatever ends it, no process is left behind, and the chunks saved so far are whole.

    Parameters
    ----------
    settings : GameSettings
        What decides how the games go.
    parts : Parts
        Where the chunks are saved.
    concurrency : int
        Number of processes.
    numbers : iterator of int
        The chunks to play; asked for the next one when a process has nothing to do, and not after its end.
    on_game : callable
        Told after each game how many moves it had.
    on_tick : callable
        Called several times a second.

    Raises
    ------
    EngineError
        If a process fails.
    """
    context = multiprocessing.get_context("spawn")
    processes: dict[Connection, Any] = {}
    try:
        with _ctrl_c_ignored():  # by the processes; this one ends them
            for _ in range(concurrency):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(settings, parts.folder, theirs), daemon=True)
                process.start()
                theirs.close()
                processes[ours] = process
        busy = {connection for connection in processes if _give_next(connection, numbers)}
        while busy:
            for connection in wait(list(busy), _POLL_SECONDS):
                assert isinstance(connection, Connection)
                try:
                    kind, value = connection.recv()
                except (EOFError, OSError):
                    raise EngineError("a process that played games has ended unexpectedly") from None
                if kind == "game":
                    on_game(value)
                elif kind == "chunk":
                    parts.add(value)
                    if not _give_next(connection, numbers):
                        busy.discard(connection)
                else:
                    raise _ERRORS.get(kind, EngineError)(value)
            on_tick()
    finally:
        for process in processes.values():
            process.terminate()
        for connection, process in processes.items():
            process.join()
            connection.close()


def _give_next(connection: Connection, numbers: Iterator[int]) -> bool:
    """Give a process the next chunk; says whether there is one."""
    number = next(numbers, None)
    if number is None:
        return False
    try:
        connection.send(number)
    except OSError:
        raise EngineError("a process that played games has ended unexpectedly") from None
    return True


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, so that the processes started meanwhile do so from their first moment on."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(settings: GameSettings, folder: Path, connection: Connection) -> None:
    """Play chunks for as long as there is somebody to ask for them; runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):  # nobody listens any more
        try:
            from knightadder.workshop.datagen.games import SelfPlayer
            from knightadder.workshop.datagen.parts import Parts, engine_version

            engine_version()  # before somebody changes the sources
            parts, player = Parts(folder), SelfPlayer(settings)
            while True:
                number = connection.recv()
                words = player.play_chunk(number, lambda moves: connection.send(("game", moves)))
                connection.send(("chunk", parts.save(number, words, settings.games)))
        except EngineError as error:
            connection.send((type(error).__name__, str(error)))
        except (EOFError, OSError):
            raise
        except Exception as error:
            connection.send(("", f"a process that played games failed: {type(error).__name__}: {error}"))
