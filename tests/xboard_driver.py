"""Drives the engine as a chess program that speaks XBoard's protocol does."""

from engine_process import EngineProcess


class XBoardProcess(EngineProcess):
    """A running engine that speaks XBoard's protocol; no test may send the `ping` that this uses."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(*(arguments or ("xboard",)))
        self._pings = 9000

    def ask(self, *lines: str | bytes) -> list[str]:
        """Send lines, and give what is answered before the answer to a `ping` after them."""
        self._pings += 1
        self.send(*lines, f"ping {self._pings}")
        return self.read_until(f"pong {self._pings}")[:-1]

    def start(self) -> list[str]:
        """Say hello, wait until the engine is ready, and give its features."""
        self.send("xboard", "protover 2")
        return [line for line in self.read_until("feature done=1") if line.startswith("feature")]
