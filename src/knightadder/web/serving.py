"""The web server beneath the board: uvicorn, with limits so that no client takes what the others need."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from knightadder.web.messages import MAX_CHARACTERS

if TYPE_CHECKING:
    from starlette.applications import Starlette

MAX_IDLE = 100  # connections without a request; macOS lets a process have 256 files, of which a connection is one

_numbers = count()


class _Http(H11Protocol):
    """HTTP/1.1, where the oldest connection without a complete request makes room for a new one.

    uvicorn ends connections that are silent after a request, but waits for a first one, or for the rest of it, forever.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_numbers)
        idle = [each for each in self.connections if isinstance(each, _Http) and each.is_idle()]
        if len(idle) > MAX_IDLE:
            min(idle, key=lambda each: each.number).transport.abort()

    def is_idle(self) -> bool:
        """Say whether no request is being answered."""
        return not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete)


def make_server(app: Starlette) -> uvicorn.Server:
    """Make the server of an application; it has yet to be run, with the sockets to listen on."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=_Http,
            log_level="error",  # what clients do wrong is not the user's concern
            lifespan="off",
            backlog=MAX_IDLE,  # so many connections are accepted at once before one of them can make room
            ws_per_message_deflate=False,  # within a machine it only takes time
            ws_max_size=4 * MAX_CHARACTERS,  # bytes, of which UTF-8 takes up to four a character
            timeout_graceful_shutdown=60,  # a client that reads nothing is waited for; a second Ctrl-C ends that
        )
    )
