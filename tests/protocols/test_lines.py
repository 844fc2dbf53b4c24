"""Lines of text: what standard input is while it is read."""

import subprocess
import sys

# Tells of each line whether descriptor 0 is a pipe while it is read.
READER = """
import os, stat
from knightadder.protocols.lines import standard_input
for line in standard_input():
    print(line.decode().strip(), stat.S_ISFIFO(os.fstat(0).st_mode), flush=True)
"""


def test_nobody_who_asks_about_standard_input_has_to_wait_for_it() -> None:
    """On Windows the question waits until a read of the same descriptor has ended; NumPy asks when it is loaded."""
    command = [sys.executable, "-c", READER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin and reader.stdout
        reader.stdin.write("one\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "one False\n"
        reader.stdin.write("two\nthree")
        reader.stdin.close()
        assert reader.stdout.read() == "two False\nthree False\n"


def test_standard_input_may_be_missing() -> None:
    done = subprocess.run(["sh", "-c", f"exec '{sys.executable}' -m knightadder <&-"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
