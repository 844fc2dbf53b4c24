"""Errors of requests to a server."""

from knightadder.engine.errors import EngineError


class Refused(EngineError):
    """The server understood a request and refused it, with an HTTP status from 400 to 499; repeating it is useless."""

    def __init__(self, status: int, reason: str, url: str) -> None:
        super().__init__(f"the server refused {url}: {reason} (status {status})")
        self.status = status


class Unreachable(EngineError):
    """The server gave no valid answer. It is unknown whether it carried out the request."""


class Limited(Unreachable):
    """The server accepts no more requests of this kind for a while, up to a day; other requests are not limited."""


def reason_of(error: BaseException) -> str:
    """Return the reason why a request failed, in the system's words: ``Connection refused``.
    Libraries wrap the system's error several times: for example, requests wraps the error of urllib3.
    """
    seen = [error]
    while True:
        inner = (*(getattr(error, name, None) for name in ("error", "reason")), *error.args, error.__cause__)
        found = next((each for each in inner if isinstance(each, BaseException) and each not in seen), None)
        if found is None:
            words = str(getattr(error, "strerror", None) or error).split()
            return " ".join(words) or type(error).__name__
        error = found
        seen.append(error)
