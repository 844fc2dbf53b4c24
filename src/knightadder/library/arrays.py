"""Arrays of positions: packed, unpacked, and evaluated by the million."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from itertools import chain, islice
from typing import TypeAlias, TypeGuard

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.batch import NO_VALUE, evaluate_records, pack_fens
from knightadder.core.board import fen
from knightadder.core.board.packed import PACKED as PACKED
from knightadder.core.board.packed import record_fen
from knightadder.core.worker import WORKER
from knightadder.engine.capacity import processors
from knightadder.engine.errors import PositionError
from knightadder.engine.evaluator import evaluation_of
from knightadder.library.blocks import Elsewhere, Threads, blocks_of, results_elsewhere
from knightadder.library.boards import MOST_COUNTED, STARTPOS, Position, board_of, fen_of, fen_text, whole
from knightadder.library.shared import Stock, tables_of
from knightadder.native.records import new_record

Positions: TypeAlias = Iterable[Position] | NDArray[np.generic]

_Block: TypeAlias = Sequence[str] | NDArray[np.generic]  # FENs, or packed positions
_Numbered: TypeAlias = tuple[int, _Block]  # a block, with the index of its first position

_BLOCK = 1 << 15  # positions per call of the core; Ctrl-C does not interrupt a call
_LAZY_BLOCK = 1 << 10  # positions per call of the core if the first results must come soon
_LONGEST_FIELD = 80  # maximum length of a FEN's field; 64 squares and seven slashes are 71 characters
_SPACE, _QUESTION_MARK, _LAST_ASCII = ord(" "), ord("?"), 127
_OTHER_SPACES = [code for code in range(_LAST_ASCII + 1, 0x10000) if chr(code).isspace()]


def pack(positions: Positions) -> NDArray[np.void]:
    """Pack positions into 32 bytes each.

    Parameters
    ----------
    positions : iterable of chess.Board or str, or array
        Boards, FENs or ``"startpos"``, or an array of FENs (of ``str`` or ``bytes``). The moves that led to a board are
        not kept. The plies since the last capture or pawn move are limited to 255.

    Returns
    -------
    array of PACKED
        A record for each position, in the layout known as Marlinformat: ``occupied``, ``pieces``, ``stm_ep``,
        ``rule50``, ``fullmove``, ``score`` (0), ``result`` (1, which means a draw) and ``spare``.

    Raises
    ------
    PositionError
        If a position is illegal; the message gives its index, counted from 0.
    """
    return pack_from(0, positions)


def pack_from(first: int, positions: Positions, strict: bool = True) -> NDArray[np.void]:
    """Pack positions from index `first` on; see `pack`. Unless `strict`, an illegal position becomes zeros."""
    records = [np.zeros(0, PACKED)]
    for start, block in _numbered(positions, _BLOCK, first, strict):
        records.append(_packed(block, tables_of("classical")))
        empty = np.flatnonzero(records[-1]["occupied"] == 0)
        if strict and len(empty):
            raise _illegal(block, int(empty[0]), start)
    return np.concatenate(records)


def unpack(records: NDArray[np.void], chess960: bool = False) -> list[chess.Board]:
    """Convert packed positions from `pack` to boards. With ``chess960``, all are Chess960 boards; otherwise only those
    whose castling rights are possible only in Chess960.

    Raises
    ------
    PositionError
        If a record is not a legal position; the message gives its index, counted from 0.
    """
    boards = []
    for number, text in enumerate(unpack_fens(records, chess960)):
        try:
            board = chess.Board(text, chess960=True)
        except ValueError as error:
            raise PositionError(f"illegal position {number}: {error}") from None
        board.chess960 = chess960 or board.has_chess960_castling_rights()
        boards.append(board)
    return boards


def unpack_fens(records: NDArray[np.void], chess960: bool = False) -> list[str]:
    """Write packed positions as FENs, with ``chess960`` as Shredder-FENs; errors are as for `unpack`."""
    if not _is_packed(records):
        raise TypeError(f"expected an array of packed positions, not {type(records).__name__}")
    _check_array(records)
    texts, values = list(_fens(records, chess960)), np.zeros(len(records), np.int16)
    with _workers().lend() as worker:
        illegal = evaluate_records(tables_of("classical"), worker, np.array(records, PACKED), values)
    if illegal:  # a FEN has no other fault left
        number = int(np.flatnonzero(values == NO_VALUE)[0])
        raise PositionError(fen.refusal(texts[number], fen.WRONG_SIDE_IN_CHECK, f"position {number}"))
    return texts


def _fens(records: NDArray[np.void], chess960: bool = False, illegal: str | None = None) -> Iterator[str]:
    """Write packed positions as FENs. For a record that is not a position, yield `illegal`, or raise PositionError."""
    for number, record in enumerate(records):
        try:
            if record["fullmove"] > MOST_COUNTED:
                raise fen.FenError(f"the move number must be at most {MOST_COUNTED}, not {record['fullmove']}")
            yield record_fen(record, chess960)
        except fen.FenError as error:
            if illegal is None:
                raise PositionError(f"illegal position {number}: {error}") from None
            yield illegal


def evaluate_many(
    positions: Positions,
    evaluation: str | None = None,
    *,
    illegal: int | None = None,
    workers: int | None = None,
    executor: Elsewhere = None,
) -> NDArray[np.int16]:
    """Return the static values of many positions, as `evaluate` does for one. The GIL is released during the work.

    Parameters
    ----------
    positions : iterable of chess.Board or str, or array
        As for `pack`, or an array of packed positions, such as a memory-mapped file. The positions may come from a
        generator; they are read block by block.
    evaluation : str, optional
        ``"classical"``, ``"pesto"`` or ``"nnue"`` (default: the default of the option ``EvalType``).
    illegal : int, optional
        The value to return for illegal positions, such as -32768, which no position has. By default, they are errors.
    workers : int, optional
        Number of threads (default: one for each processor). With an executor, the number of its workers, so that each
        gets enough work (default: 64, or the number that a client reports).
    executor : concurrent.futures.Executor or distributed.Client, optional
        Other processes or machines that do the work. They must have the same version of this package.

    Returns
    -------
    array of int16
        Centipawns from White's view.

    Raises
    ------
    PositionError
        If a position is illegal and ``illegal`` is not given; the message gives its index, counted from 0.
    OptionError
        If there is no such evaluation, or its network cannot be used.
    EngineError
        If a worker of the executor has a different version.
    ValueError, TypeError
        If ``workers`` is less than 1, or ``illegal`` does not fit in 16 bits.
    """
    values = _evaluated(positions, _BLOCK, evaluation, illegal, workers, executor)
    return np.concatenate([np.empty(0, np.int16), *values])


def evaluate_iter(
    positions: Positions,
    evaluation: str | None = None,
    *,
    illegal: int | None = None,
    workers: int | None = None,
    executor: Elsewhere = None,
) -> Generator[tuple[Position, int], None, None]:
    """Evaluate positions one after another, as they arrive. Parameters and errors are the same as for `evaluate_many`.

    Yields each position, in order, with its value in centipawns from White's view. A board is returned as a copy, and a
    packed position as a FEN, which is empty if the position is illegal.

    Only a few thousand positions are read ahead for each worker, so the positions may come from an endless generator.
    It may yield the same board again after changing it.
    """
    taken = deque[Position]()
    remembered = remembering(positions_in(positions, None if illegal is None else ""), taken)
    blocks = _evaluated(remembered, _LAZY_BLOCK, evaluation, illegal, workers, executor)
    return ((taken.popleft(), value) for values in blocks for value in values.tolist())


def remembering(positions: Iterator[Position], taken: "deque[Position]") -> Iterator[Position]:
    """Yield positions, and append copies of them to a queue, because their generator may change a board later."""
    for position in positions:
        taken.append(position.copy() if isinstance(position, chess.Board) else position)
        yield position


def positions_in(positions: Positions, illegal: str | None = None) -> Iterator[Position]:
    """Yield positions, packed ones as FENs. A wrong argument raises a TypeError or ValueError immediately."""
    if isinstance(positions, str):
        raise TypeError("expected several positions, not one FEN")
    if not isinstance(positions, Iterable):
        raise TypeError(f"expected several positions, not {positions!r:.60}")
    _check_shape(getattr(positions, "shape", (0,)))
    if not isinstance(positions, np.ndarray):
        return iter(positions)
    _check_array(positions)
    if _is_packed(positions):
        return _fens(positions, illegal=illegal)
    return (each.decode("ascii", "replace") if isinstance(each, bytes) else each for each in positions)


def _evaluated(
    positions: Positions,
    size: int,
    evaluation: str | None,
    illegal: int | None,
    workers: int | None,
    executor: Elsewhere,
) -> Iterator[NDArray[np.int16]]:
    """Evaluate positions in blocks of this size. Errors in the arguments are raised immediately."""
    count = None if workers is None else whole("workers", workers, 1)
    if illegal is not None:
        illegal = whole("illegal", illegal, -(1 << 15), (1 << 15) - 1)
    evaluation = evaluation_of(tables_of(evaluation))  # resolved here, because a worker's default may differ
    blocks = _numbered(positions, size, strict=illegal is None)
    if executor is None:
        return _by_threads(blocks, evaluation, illegal, count or processors())
    work = partial(evaluate_block, evaluation, illegal)
    return (values for _, values in results_elsewhere(blocks, work, executor, count, in_order=True))


def _by_threads(
    blocks: Iterator[_Numbered], evaluation: str, illegal: int | None, threads: int
) -> Iterator[NDArray[np.int16]]:
    first = list(islice(blocks, 2))
    if threads == 1 or len(first) < 2:
        for block in chain(first, blocks):
            yield evaluate_block(evaluation, illegal, block)
        return

    with (
        Threads(threads, "evaluation", partial(evaluate_block, evaluation, illegal)) as pool,
        closing(pool.run(chain(first, blocks), in_order=True)) as found,
    ):
        for _, values in found:
            yield values


def evaluate_block(evaluation: str, illegal: int | None, numbered: _Numbered) -> NDArray[np.int16]:
    """Evaluate a block, given with the index of its first position; an illegal position gets `illegal` or an error."""
    start, block = numbered
    tables = tables_of(evaluation)
    values = np.empty(len(block), np.int16)
    with _workers().lend() as worker:
        count = evaluate_records(tables, worker, _packed(block, tables), values)
    if count:
        places = np.flatnonzero(values == NO_VALUE)
        if illegal is None:
            raise _illegal(block, int(places[0]), start)
        values[places] = illegal
    return values


@cache
def _workers() -> Stock[np.record]:
    return Stock(lambda: new_record(WORKER))


def _is_packed(positions: object) -> TypeGuard[NDArray[np.void]]:
    if not isinstance(positions, np.ndarray):
        return False
    kind = positions.dtype
    return kind.names == PACKED.names and all(kind[name].newbyteorder("=") == PACKED[name] for name in kind.names)


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse an array or table with several dimensions: its rows or columns are not positions."""
    if len(shape) != 1:
        raise ValueError(f"an array of positions must have one dimension, not {len(shape)}")


def _check_array(positions: NDArray[np.generic]) -> None:
    _check_shape(positions.shape)
    # Without a position there is no type: `np.array([])` has numbers.
    if len(positions) and positions.dtype.kind not in "SUOT" and not _is_packed(positions):
        raise TypeError(f"expected an array of FENs or packed positions, not of {positions.dtype}")


def _numbered(positions: Positions, size: int, first: int = 0, strict: bool = True) -> Iterator[_Numbered]:
    """Cut positions into blocks of this size, each with the index of its first position; errors are raised immediately.
    Positions outside an array become FENs, because a generator may continue to change the same board. Unless `strict`,
    a board without a FEN becomes an empty text.
    """
    if isinstance(positions, np.ndarray) and (positions.dtype.kind in "SU" or _is_packed(positions)):
        _check_array(positions)
        starts = range(0, len(positions), size)
        return ((start, positions[start : start + size]) for start in starts)
    texts = (_fen(position, number, strict) for number, position in enumerate(positions_in(positions), first))
    return ((first + number * size, block) for number, block in enumerate(blocks_of(texts, size)))


def _packed(block: _Block, tables: np.record) -> NDArray[np.void]:
    """Return a block as records for the core; what is not a position becomes zeros."""
    if _is_packed(block):
        records = np.array(block, PACKED)
        records[records["fullmove"] > MOST_COUNTED] = np.zeros((), PACKED)
        return records
    text, ends = _characters(block)
    records = np.zeros(len(block), PACKED)
    with _workers().lend() as worker:
        pack_fens(tables, worker, text, ends, records)
    return records


def _characters(block: _Block) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the characters of a block's FENs in ASCII, and the end of each FEN."""
    if isinstance(block, np.ndarray):
        rows = np.array(block, block.dtype.newbyteorder("="))
        named = rows == np.array(STARTPOS, rows.dtype.kind)
        if named.any():
            rows = np.where(named, np.array(fen_text(STARTPOS), rows.dtype.kind), rows)
        codes: NDArray[np.unsignedinteger] = rows.view(np.uint8 if rows.dtype.kind == "S" else np.uint32)
        codes[codes == 0] = _SPACE  # because NumPy pads with zeros
        other = codes > _LAST_ASCII
        codes[other] = np.where(np.isin(codes[other], _OTHER_SPACES), _SPACE, _QUESTION_MARK)
        return codes.astype(np.uint8), len(codes) // len(block) * np.arange(1, len(block) + 1, dtype=np.int64)
    ends = np.cumsum(np.fromiter(map(len, block), np.int64, len(block)))
    return np.frombuffer(bytearray("".join(block).encode("ascii", "replace")), np.uint8), ends


def _fen(position: Position, number: int, strict: bool) -> str:
    if isinstance(position, str):
        text = fen_text(position)
        return text if text.isascii() else " ".join(text.split())
    what = f"position {number}"
    try:
        return fen_of(board_of(position, what, warn=False), what)
    except PositionError:
        if strict:
            raise
        return ""


def _illegal(block: _Block, place: int, start: int) -> PositionError:
    """Return the error for an illegal position, with the position's index and the reason if it is known."""
    position, number = block[place], start + place
    if isinstance(position, np.void):
        return PositionError(f"illegal position {number}: the record does not describe a position")
    text = position.decode("ascii", "replace") if isinstance(position, bytes) else position
    try:
        fen.parse_fen(" ".join(field[:_LONGEST_FIELD] for field in text.split()))
    except fen.FenError as error:
        return PositionError(fen.refusal(text, error, f"position {number}"))
    return PositionError(fen.refusal(text, fen.WRONG_SIDE_IN_CHECK, f"position {number}"))
