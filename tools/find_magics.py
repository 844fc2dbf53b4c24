"""Find the magic factors of `knightadder.core.board.magics` and print this module.

For each square, random sparse factors are tried until one maps each occupancy of the square's relevant mask to an index
without a harmful collision: two occupancies may share an index only if their attack sets are equal. The random
generator starts from a fixed seed, so the output is always the same.

Usage: ``python tools/find_magics.py > src/knightadder/core/board/magics.py``
"""

import argparse
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

CORE = Path(__file__).resolve().parents[1] / "src" / "knightadder" / "core"
SEED = 0x4B6E69676874  # "Knight"

HEADER = '''"""Magic factors of rooks and bishops, by square (a1 = 0).

Written by ``tools/find_magics.py``. The index of an occupancy is ``((occupied & mask) * factor) >> (64 - bits)``,
bits being the number of squares in the mask ("fancy magic bitboards" in the Chess Programming Wiki).
"""

# fmt: off
'''


@njit
def _next_random(state: Any) -> Any:
    """Advance the state and return the next number of xorshift64* (Marsaglia, Vigna)."""
    state[0] ^= state[0] >> np.uint64(12)
    state[0] ^= state[0] << np.uint64(25)
    state[0] ^= state[0] >> np.uint64(27)
    return state[0] * np.uint64(2685821657736338717)


@njit
def find_magic(occupied: Any, attacks: Any, shift: np.uint64, state: Any) -> Any:
    """Return a factor that maps every occupancy to an index, such that only equal attack sets share an index."""
    table = np.zeros(len(occupied), np.uint64)
    tried_at = np.zeros(len(occupied), np.int64)
    attempt = 0
    while True:
        attempt += 1
        factor = _next_random(state) & _next_random(state) & _next_random(state)
        good = True
        for i in range(len(occupied)):
            index = np.int64((occupied[i] * factor) >> shift)
            if tried_at[index] != attempt:
                tried_at[index] = attempt
                table[index] = attacks[i]
            elif table[index] != attacks[i]:
                good = False
                break
        if good:
            return factor


def main() -> None:
    """Print the module."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # attacks.py imports the module that this script prints, so it needs a placeholder.
    sys.modules["knightadder.core.board.magics"] = types.ModuleType("knightadder.core.board.magics")
    sys.path.insert(0, str(CORE.parents[1]))
    from knightadder.core.board import attacks

    state = np.array([SEED], np.uint64)
    print(HEADER, end="")
    for name, directions in (("ROOK", attacks.ROOK_DIRECTIONS), ("BISHOP", attacks.BISHOP_DIRECTIONS)):
        print(f"{name} = (")
        for square in range(64):
            mask = attacks.relevant_mask(square, directions)
            occupied = attacks.occupancies(mask)
            sets = attacks.slider_attacks(square, directions, occupied)
            factor = find_magic(occupied, sets, np.uint64(64 - mask.bit_count()), state)
            before, after = ("    " if square % 4 == 0 else " "), ("\n" if square % 4 == 3 else "")
            print(f"{before}0x{int(factor):016X},", end=after)
        print(")")


if __name__ == "__main__":
    main()
