"""Write machine code of the network's evaluation, from the compiled core, into docs/compiled/assembly.txt.

It needs objdump, and a processor with AVX2 but without AVX-512, because the book explains the code for such processors.
It shows the instructions from counting the pieces to the first products of the output layer (`evaluate` and `_output`
in core/evaluation/network.py).
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from knightadder.core.compilation import core

OUT = Path(__file__).parents[1] / "docs" / "compiled" / "assembly.txt"


def disassemble(code: bytes) -> list[str]:
    """Return the instructions of machine code, without addresses, comments and padding."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn", file.name]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    instructions = [line.partition("\t")[2].partition("#")[0].rstrip() for line in text.splitlines() if "\t" in line]
    return [instruction for instruction in instructions if "nop" not in instruction and instruction != "xchg   ax,ax"]


def excerpt(instructions: list[str]) -> list[str]:
    """Return the instructions from the last `popcnt` before the first vector product to the first sum after it."""
    names = [instruction.split()[0] if instruction else "" for instruction in instructions]
    product = names.index("vpmullw")
    start = product - 1 - names[:product][::-1].index("popcnt")
    return instructions[start : names.index("vpaddd", product) + 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="output file (default: docs/compiled/assembly.txt)")
    out = parser.parse_args().out
    core.load()
    image = core.read(core.image_file())
    if image is None:
        raise SystemExit("the core is not compiled for this processor")
    lines = excerpt(disassemble(image.code[: image.places["frames"]]))
    out.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
