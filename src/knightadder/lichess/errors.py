"""Errors of requests to a server."""

from knightadder.engine.errors import EngineError


class Refused(EngineError):
    """The server has understood a request and refuses it; repeating it is useless.

    Parameters
    ----------
    status : int
        The HTTP status, 400 to 499.
    reason : str
        The server's explanation.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"Lichess refuses: {reason} (status {status})")
        self.status = status


class Unreachable(EngineError):
    """The server gave no valid answer; whether it carried out the request is unknown."""
