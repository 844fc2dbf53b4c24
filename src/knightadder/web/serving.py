"""The web server of the board: uvicorn, with limits so that no client uses up its resources."""

from __future__ import annotations

import asyncio
import signal
from itertools import count
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from knightadder.web.messages import MAX_MESSAGE

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from starlette.applications import Starlette

MAX_IDLE = 100  # connections without a request; each uses a file, and macOS allows a process 256 files

_numbers = count()


class _Http(H11Protocol):
    """HTTP/1.1 that closes the oldest connection without a complete request to make room for a new one.

    uvicorn closes connections that are idle after a request, but waits forever for the first request or its rest.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_numbers)
        idle = [each for each in self.connections if isinstance(each, _Http) and each.is_idle()]
        if len(idle) > MAX_IDLE:
            min(idle, key=lambda each: each.number).transport.abort()

    def is_idle(self) -> bool:
        """Return whether the connection is open and no request is being answered."""
        return not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete)


class _Server(uvicorn.Server):
    """A server that any number of Ctrl-C ends in the same way; after the second, it does not wait for its clients."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGINT:
            super().handle_exit(sig, frame)
        elif self.should_exit:  # uvicorn would raise both signals again at the end, in the middle of asyncio's own work
            self.force_exit = True
        else:
            self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()  # uvicorn leaves this out then; a second call does nothing


def make_server(app: Starlette) -> uvicorn.Server:
    """Return a server for an application; the caller has to run it with the sockets to listen on."""
    return _Server(
        uvicorn.Config(
            app,
            http=_Http,
            log_level="error",  # errors of clients do not concern the user
            lifespan="on",  # at the end, the application closes engines that no connection uses
            backlog=MAX_IDLE,  # connections accepted at once before one of them can be closed
            ws_per_message_deflate=False,  # on one machine compression only takes time
            ws_max_size=MAX_MESSAGE,
            timeout_graceful_shutdown=60,  # seconds for clients that do not read; a second Ctrl-C ends the wait
        )
    )
