"""Access control: only a client with the token, on the page that this server has sent, may use the board.

Every program on the machine, even of other users, and every page in the browser can reach the server. So each request
must contain the token of the address that ``knightadder play`` prints: first in the address, later in a cookie. The
address that the browser is opened with has a ticket instead, which is valid only once, because other users can see the
browser's arguments. A request must also name this server in ``Host``, which prevents DNS rebinding, where a page points
its own name at this machine. A request may open a WebSocket or change something only if ``Origin`` says that the page
came from this server.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ONLY_READ = ("GET", "HEAD")
_POLICY_VIOLATION = 1008  # WebSocket's close code
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # after an upgrade, the browser must not mix old and new files
}


class Guard:
    """Refuses requests that do not come from the user, and adds security headers to the answers.
    `host` is the name or address that the server listens on, and `socket` the path of the WebSocket.
    """

    def __init__(self, app: ASGIApp, host: str, token: str, socket: str, ticket: str | None = None) -> None:
        self._app = app
        self._host = host
        self._token = token
        self._socket = socket
        self._ticket = ticket
        self._ticket_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or open a WebSocket, if it comes from the user."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            if self._opens(HTTPConnection(scope)):
                await self._app(scope, receive, send)
            else:  # closed before it is accepted, so the browser gets a plain 403
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": "not the user's page"})
        else:

            async def send_with_headers(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message).update(_HEADERS)
                await send(message)

            app = self._instead(HTTPConnection(scope)) or self._app
            await app(scope, receive, send_with_headers)

    def _opens(self, request: HTTPConnection) -> bool:
        host = request.headers.get("host", "")
        return (
            is_own_host(host, self._host)
            and request.scope["path"] == self._socket
            and _is_own_page(request)
            and (self._is_token(self._cookie(request)) or self._is_token(request.query_params.get("token")))
        )

    def _instead(self, request: HTTPConnection) -> Response | None:
        """Return the answer to a request that is not passed to the application; None if it is passed on."""
        if not is_own_host(request.headers.get("host", ""), self._host):
            return PlainTextResponse("the server does not answer requests to this host name", status_code=421)
        given = request.query_params.get("token")
        if self._is_token(given) or self._use_ticket(given):
            answer = RedirectResponse("/", status_code=303)  # removes the token from the address
            answer.set_cookie(_cookie_name(request), self._token, httponly=True, samesite="lax")
            return answer
        if not self._is_token(self._cookie(request)):
            text = "Open the whole address that the server of the board has printed, including the token."
            if _is_same(given, self._ticket):
                text = "This address has been used before. If you did not use it, stop the board: somebody else did."
            return PlainTextResponse(text, status_code=403)
        if request.scope["method"] not in _ONLY_READ and not _is_own_page(request):
            return PlainTextResponse("only the board's own page may change anything", status_code=403)
        return None

    def _cookie(self, request: HTTPConnection) -> str | None:
        return request.cookies.get(_cookie_name(request))

    def _is_token(self, text: str | None) -> bool:
        return _is_same(text, self._token)

    def _use_ticket(self, text: str | None) -> bool:
        valid = not self._ticket_used and _is_same(text, self._ticket)
        self._ticket_used |= valid
        return valid


def _is_same(text: str | None, secret: str | None) -> bool:
    return text is not None and secret is not None and secrets.compare_digest(text.encode(), secret.encode())


def _is_own_page(request: HTTPConnection) -> bool:
    """Return whether the page that sends a request came from this server; browsers say so in ``Origin``."""
    host = request.headers.get("host", "")
    return request.headers.get("origin") in (f"http://{host}", f"https://{host}")


def _cookie_name(request: HTTPConnection) -> str:
    """Return the cookie's name. It contains the port, because browsers send a host's cookies to all its ports."""
    return f"knightadder-{request.scope['server'][1]}"


def is_own_host(header: str, listening: str) -> bool:
    """Return whether a request's ``Host``, with or without a port, names this server.

    If the server does not listen on a loopback address, numeric addresses and this machine's name are accepted, too; a
    DNS rebinding attack would use another name.
    """
    try:
        name = (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return False
    if name in ("localhost", listening.lower().strip("[]")):
        return True
    if is_loopback(listening):
        return is_loopback(name)
    return _is_address(name) or name == socket.gethostname().lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach this name or address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
