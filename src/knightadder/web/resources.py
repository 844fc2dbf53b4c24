"""The machine's resources for a tab's engine: search threads and memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from knightadder.engine.capacity import processors
from knightadder.web.messages import Configure, MessageError
from knightadder.web.views import View

_MAX_HASH = 1024  # largest hash size, in MiB, that a page can choose; there can be twelve tabs


@dataclass(frozen=True, slots=True)
class Resources:
    """The search threads of an engine and the size of its hash table in MiB, with the limits for a page's choice."""

    threads: int = 1
    hash_mb: int = 64
    max_threads: int = field(default_factory=processors)
    max_hash_mb: int = _MAX_HASH

    def __post_init__(self) -> None:
        """Raise the limits that are below the engine's current values."""
        object.__setattr__(self, "max_threads", max(self.threads, self.max_threads))
        object.__setattr__(self, "max_hash_mb", max(self.hash_mb, self.max_hash_mb))

    def chosen(self, message: Configure) -> Resources:
        """Return the page's choice; MessageError if it exceeds a limit."""
        if message.threads > self.max_threads or message.hash > self.max_hash_mb:
            raise MessageError(f"expected at most {self.max_threads} threads and {self.max_hash_mb} MB of hash")
        return replace(self, threads=message.threads, hash_mb=message.hash)

    def settings(self) -> dict[str, str | int | bool]:
        """Return the UCI options of the engine."""
        return {"Threads": self.threads, "Hash": self.hash_mb}

    def view(self) -> View:
        """Describe the resources for the page."""
        values = {"threads": self.threads, "hash": self.hash_mb}
        return {"type": "resources", **values, "max_threads": self.max_threads, "max_hash": self.max_hash_mb}
