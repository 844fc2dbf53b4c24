"""The start of the command: ``knightadder`` or ``python -m knightadder``."""

import sys


def main() -> int:
    """Run the command and return its exit status, even after Ctrl-C during the import of the command."""
    try:
        from knightadder.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
