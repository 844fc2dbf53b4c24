"""Collatz sequences: an example of a program for `knightadder.native`."""

from knightadder.native.program import Program

collatz = Program(__name__, "collatz", modules=["collatz.sequences"])
