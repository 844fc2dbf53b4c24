"""What can go wrong with a server."""

from knightadder.engine.errors import EngineError


class Refused(EngineError):
    """The server has understood a request and refuses it; to repeat it is no use.

    Parameters
    ----------
    status : int
        The status of HTTP, 400 to 499.
    reason : str
        What the server says about it.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"Lichess refuses: {reason} (status {status})")
        self.status = status


class Unreachable(EngineError):
    """There was no proper answer; whether the request was carried out is unknown."""
