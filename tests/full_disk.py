"""A disk that is nearly full."""

import errno
import io
import os
from pathlib import Path


def nearly_full(monkeypatch, file, room):
    """Let a file that is opened from now on take only so many bytes."""

    class NearlyFull(io.FileIO):
        def write(self, data):
            nonlocal room
            if not room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = super().write(data[:room])
            room -= written
            return written

    ordinary = Path.open

    def open_file(path, mode="r", *args, **more):
        if path == file and more.get("buffering") == 0:
            return NearlyFull(path, mode)
        if path == file and mode == "wb":
            return io.BufferedWriter(NearlyFull(path, mode))
        return ordinary(path, mode, *args, **more)

    monkeypatch.setattr(Path, "open", open_file)
