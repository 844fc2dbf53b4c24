"""The core as a program: the functions that are compiled together into the image in this folder."""

from knightadder.native.program import Program

core = Program(
    __name__,
    "core",
    ["knightadder.core.api", "knightadder.core.tables"],
    data=["search/parameters.py"],
)
