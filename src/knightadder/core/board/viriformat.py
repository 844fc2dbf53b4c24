"""Whole games with a score for each move, in the format known as viriformat. bullet and other trainers read it.

A file is a sequence of games. All numbers are little-endian. A game consists of:

- 32 bytes: the first position, as `packed` describes, with the result of the game;
- 4 bytes for each move: 16 bits for the move, then a signed score of 16 bits, in centipawns from White's view;
- 4 bytes of zeros.

A move is from | (to << 6) | (promotion << 12) | (special << 14). Promotion is 0 to 3 for knight, bishop, rook and
queen. Special is 1 for an en passant capture, 2 for castling (king takes own rook), 3 for a promotion, else 0. The
score belongs to the position in which the move was played. It is always exact; `NO_SCORE` means that none is known.
Mate scores are as the core encodes them: 32,000 minus the plies to mate.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, record_at

from ..layout import KNIGHT, PAWN
from .bitboard import ZERO
from .movegen import is_legal
from .moves import (
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    NORMAL,
    is_noisy,
    is_promotion,
    kind_of,
    new_move,
    source_of,
    target_of,
)
from .packed import PACKED, WIN, pack, unpack
from .position import make

NO_SCORE = np.int64(-32_768)

WORD = 4  # bytes; a file is read as an array of words
HEADER = PACKED.itemsize // WORD  # words of a game before its moves

_EN_PASSANT, _CASTLING, _PROMOTION = 1, 2, 3


@inlined
def encode(move, score):
    """Return the word that encodes a move and its score."""
    kind = kind_of(move)
    code = move & 0xFFF
    if is_promotion(move):
        code |= ((kind - KNIGHT) << 12) | (_PROMOTION << 14)
    elif kind == EN_PASSANT:
        code |= _EN_PASSANT << 14
    elif kind == CASTLING:
        code |= _CASTLING << 14
    return np.uint32(code | ((score & 0xFFFF) << 16))


@inlined
def _move_of(pos, word):
    """Return the move of a word in the core's encoding. The move may be illegal."""
    source, target = source_of(word), target_of(word)
    special = (word >> 14) & 3
    kind = NORMAL
    if special == _PROMOTION:
        kind = KNIGHT + ((word >> 12) & 3)
    elif special == _EN_PASSANT:
        kind = EN_PASSANT
    elif special == _CASTLING:
        kind = CASTLING
    elif pos.board[source] & 7 == PAWN and abs(target - source) == 16:
        kind = DOUBLE_PUSH
    return new_move(source, target, kind)


@inlined
def _score_of(word):
    score = word >> 16
    return score - 0x10000 if score >= 0x8000 else score


@kernel
def read_game(tables, positions, words, at, end, first_ply, score_below, quiet, records, count):
    """Replay the game at ``words[at:end]``, and write its wanted positions, as `read_games`, from ``records[count]``
    on; return the new number of records, or -1 if the game is illegal.
    """
    header = record_at(np.uint64(words.ctypes.data) + np.uint64(at * WORD), PACKED)
    here, after = positions[0], positions[1]
    if header.result > WIN or not unpack(tables, header, here):
        return np.int64(-1)
    result = np.int64(header.result)
    ply = max(2 * (np.int64(header.fullmove) - 1), np.int64(0)) + np.int64(here.stm)
    for place in range(at + HEADER, end):
        word = np.int64(words[place])
        move, score = _move_of(here, word), _score_of(word)
        if not is_legal(tables, here, move):
            return np.int64(-1)
        if ply >= first_ply and abs(score) < score_below:
            if not quiet or (here.checkers == ZERO and not is_noisy(here, move)):
                pack(here, records[count], ply, score, result)
                count += 1
        make(tables, here, after, move)
        here, after = after, here
        ply += 1
    return count
