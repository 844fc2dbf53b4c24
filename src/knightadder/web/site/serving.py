"""The web server of the board: uvicorn, with limits for its clients."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

import uvicorn

from knightadder.web.messages import MAX_MESSAGE

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from starlette.applications import Starlette

# Each connection uses a file descriptor, of which macOS allows a process 256. Further connections are refused.
MAX_CONNECTIONS = 100


class _Server(uvicorn.Server):
    """A server that ends cleanly after any number of Ctrl-C; after the second, it does not wait for its clients."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGINT:
            super().handle_exit(sig, frame)
        elif self.should_exit:  # otherwise uvicorn would raise both signals again, in the middle of asyncio's shutdown
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # hides messages about cut connections
        else:
            self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()  # uvicorn skips this after a forced exit; a second call does nothing


def make_server(app: Starlette) -> uvicorn.Server:
    """Return a server for an application; the caller runs it with the sockets to listen on."""
    return _Server(
        uvicorn.Config(
            app,
            http="h11",
            limit_concurrency=MAX_CONNECTIONS,
            log_level="error",  # hides errors that clients cause
            lifespan="on",  # at the end, the application closes engines that no connection uses
            ws_per_message_deflate=False,  # on one machine, compression only costs time
            ws_max_size=MAX_MESSAGE,
            timeout_graceful_shutdown=60,  # seconds for clients that do not read; a second Ctrl-C ends the wait
        )
    )
