"""Reads the access token, which is sent only to the server."""

import os
import re
from pathlib import Path

from knightadder.engine.errors import OptionError
from knightadder.files import reading

_VARIABLE = "LICHESS_TOKEN"


def read_token(file: str) -> str:
    """Read the token from a file, or without a file from the environment variable ``LICHESS_TOKEN``.
    OptionError if there is no valid token. The error's text never contains the text that was read.
    """
    if file:
        with reading(file):
            text, place = Path(file).expanduser().read_text("utf-8", "replace"), file
    else:
        text, place = os.environ.get(_VARIABLE, ""), _VARIABLE
        if not text.strip():
            raise OptionError(f"no token: set {_VARIABLE}, or give a file that contains the token with --token-file")
    token = text.strip()
    if not re.fullmatch(r"[!-~]+", token):  # visible ASCII, which an HTTP header can contain
        raise OptionError(f"{place} contains no valid token: expected one word of visible ASCII characters")
    return token
