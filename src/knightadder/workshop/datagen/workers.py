"""Processes that play chunks of games, each with its own copy of the compiled core."""

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

# Poll, since Ctrl-C does not end a wait on every system.
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
    """Play chunks, several at once, save them and add them to the list.

    All processes are ended in any case, also after an error, and the saved chunks are complete.

    Parameters
    ----------
    settings : GameSettings
        The settings of the games.
    parts : Parts
        Where the chunks are saved.
    concurrency : int
        Number of processes.
    numbers : iterator of int
        The chunks to play; the next one is taken when a process is idle, and none after the end.
    on_game : callable
        Called after each game with its number of moves.
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
        with _ctrl_c_ignored():  # by the child processes, which this process ends
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
    """Send the number of the next chunk to a process; return whether there is one."""
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
    """Ignore Ctrl-C in a ``with`` block, so that processes started in it ignore it from the beginning."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(settings: GameSettings, folder: Path, connection: Connection) -> None:
    """Play the requested chunks until the connection is closed; runs in a child process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):  # the parent process has ended
        try:
            from knightadder.workshop.datagen.games import SelfPlayer
            from knightadder.workshop.datagen.parts import Parts, engine_version

            engine_version()  # compute it now, before anybody changes the sources
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
