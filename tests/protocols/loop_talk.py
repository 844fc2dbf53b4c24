"""A protocol's loop in this process, with an engine that only pretends to think."""

import io
import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, cast

import pytest
from waiting import TIMEOUT, eventually

from knightadder.engine.loader import Loader, OnStep
from knightadder.engine.options import Options
from knightadder.protocols.conversation import Conversation

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

Load: TypeAlias = Callable[[Options, OnStep], "Engine"]


def loader_of(engine: Any) -> Loader:
    """Give a loader that has this engine ready."""
    return Loader(engine.options, lambda options, report: cast("Engine", engine))


class LineWriter(io.StringIO):
    """A text stream that hands over every line, and accepts only whole lines."""

    def __init__(self) -> None:
        super().__init__()
        self.written: queue.SimpleQueue[str] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        assert text.endswith("\n")
        for line in text[:-1].split("\n"):
            self.written.put(line)
        return len(text)


class ClosedPipe(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


class LoopTalk:
    """A loop in a thread, to be talked with line by line."""

    def __init__(
        self,
        engine: Any,
        converse: Callable[[Iterator[bytes], TextIO, Loader], Conversation],
        load: Load | None = None,
    ) -> None:
        self.engine = engine
        self.loader = Loader(engine.options, load) if load else loader_of(engine)
        self.output = LineWriter()
        self._input: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.conversation = converse(iter(self._input.get, None), self.output, self.loader)
        self.status: int | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.status = self.conversation.run()
        self.conversation.close()

    def send(self, *lines: str | bytes) -> None:
        for line in lines:
            self._input.put(line if isinstance(line, bytes) else f"{line}\n".encode())

    def end_input(self) -> None:
        self._input.put(None)

    def wait_until_input_ended(self) -> None:
        """Wait until the loop has read `quit` or the end of input."""
        eventually(lambda: self.conversation._input_ended)

    def rest(self) -> list[str]:
        """Give what was written since the last read."""
        lines = []
        while not self.output.written.empty():
            lines.append(self.output.written.get())
        return lines

    def read(self) -> str:
        """Wait for one line."""
        return self.output.written.get(timeout=TIMEOUT)

    def read_until(self, start: str) -> list[str]:
        """Wait for a line that starts so, and give all up to it."""
        lines = [self.read()]
        while not lines[-1].startswith(start):
            lines.append(self.read())
        return lines

    def wait_for_end(self) -> list[str]:
        """Wait until the loop has ended, and give what was written since the last read."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()
        return self.rest()

    def leave(self) -> list[str]:
        self.send("quit")
        self.end_input()
        return self.wait_for_end()


def break_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the core fail to load."""

    def load(report: OnStep) -> None:
        raise ImportError("no numba here")

    monkeypatch.setattr("knightadder.core.compilation.core.load", load)


class SlowLoading(LoopTalk):
    """A mixin for a talk: its engine is loaded when the test says so."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.may_finish = threading.Event()
        super().__init__(load=self._load)  # type: ignore[call-arg]

    def ends_while_loading(self) -> None:
        """Check that the loop ends without a word, although the engine is still being loaded; then finish loading."""
        assert self.wait_for_end() == []
        assert self.status == 0
        assert not self.loader.ready.is_set()
        assert not self.conversation.close()
        self.may_finish.set()
        self.end_input()

    def _load(self, options: Options, report: OnStep) -> "Engine":
        self.report = report
        self.started.set()
        self.may_finish.wait(TIMEOUT)
        return cast("Engine", self.engine)
