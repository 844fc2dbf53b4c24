"""The core as a program: what is compiled together into the image that lies in this folder."""

from knightadder.native.program import Program

core = Program(
    __name__,
    "core",
    ["knightadder.core.api", "knightadder.core.tables"],
    data=["search/parameters.py"],
)
