"""The access token: where it comes from. It is told to the server and nobody else."""

import os
import re
from pathlib import Path

from knightadder.engine.errors import OptionError

VARIABLE = "LICHESS_TOKEN"


def read_token(file: str) -> str:
    """Read the token.

    Parameters
    ----------
    file : str
        A file that contains it; if empty, the environment variable ``LICHESS_TOKEN`` does.

    Raises
    ------
    OptionError
        If there is none. Its text never contains what was read.
    """
    if file:
        try:
            text = Path(file).expanduser().read_text("utf-8")
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
        except ValueError:
            raise OptionError(f"{file} contains no token") from None
        place = file
    else:
        text, place = os.environ.get(VARIABLE, ""), VARIABLE
        if not text.strip():
            raise OptionError(f"no token: set {VARIABLE}, or name a file that contains it with --token-file")
    token = text.strip()
    if not re.fullmatch(r"[!-~]+", token):  # visible ASCII, as a header of HTTP can carry
        raise OptionError(f"{place} contains no token")
    return token
