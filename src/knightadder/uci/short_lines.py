"""The lines of an engine's output, without those that are too long for any use."""

LONGEST_LINE = 64 * 1024  # bytes, without the line end


class ShortLines:
    """Divides a stream of bytes into its lines. Lines that are too long are left out, and only their beginning is kept
    in memory. A last line without a line end is not complete, so it is left out too.
    """

    def __init__(self) -> None:
        self._rest = b""  # the beginning of the next line

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines, with their line ends, that end in the next bytes of the stream."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST_LINE + 1]
        return [line + b"\n" for line in lines if len(line) <= LONGEST_LINE]
