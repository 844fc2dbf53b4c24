"""Arrays of positions: packed, unpacked, and evaluated by the million."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeAlias

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder.core.board import fen
from knightadder.core.board.packed import PACKED as PACKED
from knightadder.core.board.packed import record_fen
from knightadder.core.entries.batch import NO_VALUE, evaluate_records, pack_fens
from knightadder.core.layout import WORKER, new_record
from knightadder.core.native.processors import processors
from knightadder.engine.errors import PositionError
from knightadder.library.boards import Position, board_of, fen_of, whole
from knightadder.library.shared import Stock, tables_of

Positions: TypeAlias = Iterable[Position] | NDArray[Any]

_Block: TypeAlias = Sequence[Position] | NDArray[Any]

_BLOCK = 1 << 15  # positions in a call of the core; Ctrl-C does not interrupt a call
_LONGEST_FIELD = 80  # of a FEN; the 64 squares and seven slashes are 71 characters
_SPACE, _QUESTION_MARK, _LAST_ASCII = ord(" "), ord("?"), 127
_OTHER_SPACES = [code for code in range(_LAST_ASCII + 1, 0x10000) if chr(code).isspace()]


def pack(positions: Positions) -> NDArray[np.void]:
    """Pack positions into 32 bytes each.

    Parameters
    ----------
    positions : iterable of chess.Board or str, or array
        Boards, FENs or ``"startpos"``, or an array of FENs (of ``str`` or ``bytes``). The moves that led to a board
        are not kept, and counters are limited: at most 255 plies since the last capture or pawn move, and 16 bits of
        move number.

    Returns
    -------
    array of PACKED
        A record for each, whose fields are ``occupied``, ``pieces``, ``stm_ep``, ``rule50``, ``fullmove``, ``score``,
        ``result`` and ``spare``; ``score`` is 0 and ``result`` 1, a draw. The layout is known as Marlinformat.

    Raises
    ------
    PositionError
        If a position is illegal; the text gives its index, counted from 0.
    """
    given = _sliceable(positions)
    records = np.zeros(len(given), PACKED)
    for start in range(0, len(given), _BLOCK):
        block = given[start : start + _BLOCK]
        part = _packed(block, start, tables_of("classical"))
        empty = np.flatnonzero(part["occupied"] == 0)
        if len(empty):
            raise _illegal(block, int(empty[0]), start)
        records[start : start + _BLOCK] = part
    return records


def unpack(records: NDArray[np.void], chess960: bool = False) -> list[chess.Board]:
    """Convert packed positions to boards.

    Parameters
    ----------
    records : array of PACKED
        As `pack` makes them.
    chess960 : bool
        Whether the boards are of Chess960.

    Raises
    ------
    PositionError
        If a record is not a legal position; the text gives its index, counted from 0.
    """
    boards = []
    for number, text in enumerate(unpack_fens(records, chess960)):
        try:
            boards.append(chess.Board(text, chess960=chess960))
        except ValueError as error:
            raise PositionError(f"illegal position {number}: {error}") from None
    return boards


def unpack_fens(records: NDArray[np.void], chess960: bool = False) -> list[str]:
    """Write packed positions as FENs.

    Parameters
    ----------
    records : array of PACKED
        As `pack` makes them.
    chess960 : bool
        Whether castling rights are written as the files of the rooks.

    Raises
    ------
    PositionError
        If a record is not a legal position; the text gives its index, counted from 0.
    """
    if not _is_packed(records):
        raise TypeError(f"an array of packed positions is wanted, not {type(records).__name__}")
    if records.ndim != 1:
        raise ValueError(f"an array of positions has one dimension, not {records.ndim}")
    texts = []
    for number, record in enumerate(records):
        try:
            texts.append(record_fen(record, chess960))
        except fen.FenError as error:
            raise PositionError(f"illegal position {number}: {error}") from None
    return texts


def evaluate_many(
    positions: Positions, evaluation: str | None = None, *, illegal: int | None = None, workers: int | None = None
) -> NDArray[np.int16]:
    """Give the static values of many positions, as `evaluate` does for one; the GIL is released meanwhile.

    Parameters
    ----------
    positions : iterable of chess.Board or str, or array
        Boards, FENs or ``"startpos"``; an array of FENs (of ``str`` or ``bytes``); or an array of packed positions from
        `pack`, such as a memory-mapped file of them, which is read block by block.
    evaluation : str, optional
        ``"classical"``, ``"pesto"`` or ``"nnue"``; the default of the option ``EvalType`` if missing.
    illegal : int, optional
        The value for illegal positions, such as -32768, which no position has; by default they are an error.
    workers : int, optional
        Number of threads; one for each processor by default.

    Returns
    -------
    array of int16
        Centipawns from White's view.

    Raises
    ------
    PositionError
        If a position is illegal and ``illegal`` is not given; the text gives its index, counted from 0.
    OptionError
        If there is no such evaluation, or its network cannot be used.
    ValueError, TypeError
        If ``workers`` is less than 1, or ``illegal`` does not fit in 16 bits.
    """
    threads = processors() if workers is None else whole("workers", workers, 1)
    if illegal is not None:
        illegal = whole("illegal", illegal, -(1 << 15), (1 << 15) - 1)
    tables = tables_of(evaluation)
    given = _sliceable(positions)
    values = np.empty(len(given), np.int16)

    def work(start: int) -> None:
        block, part = given[start : start + _BLOCK], values[start : start + _BLOCK]
        with _workers().lend() as worker:
            count = evaluate_records(tables, worker, _packed(block, start, tables), part)
        if count:
            places = np.flatnonzero(part == NO_VALUE)
            if illegal is None:
                raise _illegal(block, int(places[0]), start)
            part[places] = illegal

    starts = range(0, len(given), _BLOCK)
    threads = min(threads, len(starts))
    if threads <= 1:
        for start in starts:
            work(start)
        return values
    pool = ThreadPoolExecutor(threads, "evaluation")
    try:
        for _ in pool.map(work, starts):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
    return values


@cache
def _workers() -> Stock[np.record]:
    return Stock(lambda: new_record(WORKER))


def _is_packed(positions: object) -> bool:
    if not isinstance(positions, np.ndarray):
        return False
    kind = positions.dtype
    return kind.names == PACKED.names and all(kind[name].newbyteorder("=") == PACKED[name] for name in kind.names)


def _sliceable(positions: Positions) -> _Block:
    """Convert positions to an object with a length and slices."""
    if isinstance(positions, str):
        raise TypeError("several positions are wanted, not one FEN")
    if isinstance(positions, np.ndarray):
        if positions.ndim != 1:
            raise ValueError(f"an array of positions has one dimension, not {positions.ndim}")
        if positions.dtype.kind in "SU" or _is_packed(positions):
            return positions
        if positions.dtype.kind not in "OT":
            raise TypeError(f"an array of FENs or of packed positions is wanted, not of {positions.dtype}")
    return positions if isinstance(positions, list | tuple) else list(positions)


def _packed(block: _Block, start: int, tables: np.record) -> NDArray[np.void]:
    """Give a block as records that the core can read; a FEN that is not a position becomes zeros."""
    if _is_packed(block):
        return np.array(block, PACKED)
    text, ends = _characters(block, start)
    records = np.zeros(len(block), PACKED)
    with _workers().lend() as worker:
        pack_fens(tables, worker, text, ends, records)
    return records


def _characters(block: _Block, start: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the characters of a block of FENs, concatenated, and the end of each FEN.

    Non-ASCII white space becomes a space, and other non-ASCII characters a question mark, which no FEN contains.
    """
    if isinstance(block, np.ndarray):
        rows = np.array(block, block.dtype.newbyteorder("="))
        codes: NDArray[np.unsignedinteger] = rows.view(np.uint8 if rows.dtype.kind == "S" else np.uint32)
        codes[codes == 0] = _SPACE  # NumPy pads with zeros, which no FEN ends with
        other = codes > _LAST_ASCII
        codes[other] = np.where(np.isin(codes[other], _OTHER_SPACES), _SPACE, _QUESTION_MARK)
        return codes.astype(np.uint8), len(codes) // len(block) * np.arange(1, len(block) + 1, dtype=np.int64)
    texts = [_fen(position, number) for number, position in enumerate(block, start)]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return np.frombuffer(bytearray("".join(texts).encode("ascii", "replace")), np.uint8), ends


def _fen(position: Position, number: int) -> str:
    if position == "startpos":
        return fen.START
    if isinstance(position, str):
        return position if position.isascii() else " ".join(position.split())
    what = f"position {number}"
    return fen_of(board_of(position, what), what)


def _illegal(block: _Block, place: int, start: int) -> PositionError:
    """Make the error for an illegal position, with its index and the reason if known."""
    position, number = block[place], start + place
    if isinstance(position, np.void):
        return PositionError(f"illegal position {number}: the record describes none")
    text = position.decode("ascii", "replace") if isinstance(position, bytes) else _fen(position, number)
    try:
        fen.parse_fen(" ".join(field[:_LONGEST_FIELD] for field in text.split()))
    except fen.FenError as error:
        return PositionError(f"illegal position {number}: {error}")
    return PositionError(f"illegal position {number}: the side that is not to move is in check")
