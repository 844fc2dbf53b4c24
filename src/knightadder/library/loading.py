"""Loading of the compiled core at the library's first call. A warning says so if the core must be compiled."""

import logging

from knightadder.core.compilation import core
from knightadder.engine.errors import EngineError
from knightadder.native.building import ImageError

logger = logging.getLogger("knightadder")


def load_core() -> None:
    """Load the compiled core unless it is loaded; EngineError if there is none and none can be built.

    If it must be compiled first, a warning says so once, because warnings are shown without any configuration. Ctrl-C
    during the compilation raises a KeyboardInterrupt whose traceback does not go through the compiler. The next call
    then compiles again.
    """
    told = False

    def report(step: str) -> None:
        nonlocal told
        if not told and step.startswith("compiling"):
            told = True
            logger.warning("compiling the core, since its sources have changed: this takes about 20 seconds, only once")
        elif not told:
            logger.info("%s", step)

    try:
        core.load(report)
    except (ImageError, OSError) as error:  # OSError if there is no folder for temporary files
        raise EngineError(f"the engine cannot be loaded: {error}") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the core is not compiled yet") from None
