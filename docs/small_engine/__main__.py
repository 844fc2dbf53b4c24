"""Start the small engine."""

from .uci import main

main()
