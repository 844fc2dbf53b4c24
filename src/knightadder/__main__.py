"""Run the engine with ``python -m knightadder``."""

import sys

from knightadder.cli import main

if __name__ == "__main__":
    sys.exit(main())
