"""Syzygy tablebases: values, numbering and decoding, as python-chess has them; damaged files do no harm."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.syzygy
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, boards_of_table, new_game, set_up

from knightadder.core.api import tablebase_values as syzygy_api
from knightadder.core.layout import MAX_PLY
from knightadder.core.syzygy import index as syzygy_index
from knightadder.core.syzygy import pairs as syzygy_pairs
from knightadder.core.syzygy import probe as syzygy
from knightadder.core.syzygy.pairs import SYZYGY_PAIRS
from knightadder.core.syzygy.probe import TABLEBASES
from knightadder.engine.tablebases import file as syzygy_file
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

PIECES = " PNBRQK"
MATE_IN_ONE = "7k/8/6K1/8/8/8/8/R7 w - - 0 1"
GAME = new_game()


@compiled
def index_of_pieces(tablebases, pairs, pos, colors):
    return syzygy_index.piece_index(tablebases, pairs, pos, colors)


@compiled
def index_of_pawns(tablebases, pairs, pos, colors):
    lead = syzygy_index.lead_pawns(pos, np.int64(pairs.pieces[0]) ^ colors, 7 * colors)
    return syzygy_index.pawn_index(tablebases, pairs, pos, colors, lead)


def ours(tablebases: Tablebases, board: chess.Board, ply: int = 0) -> tuple[int | None, int | None]:
    """Probe WDL and DTZ, with the position somewhere in the search stack."""
    record = set_up(GAME, board)
    record.stack[ply] = record.stack[0]
    found = (probe(TABLES, tablebases.record, record, ply) for probe in (syzygy_api.find_wdl, syzygy_api.find_dtz))
    wdl, dtz = (int(value) if known else None for value, known in found)
    return wdl, dtz


def theirs(tablebase: chess.syzygy.Tablebase, board: chess.Board) -> tuple[int | None, int | None]:
    """Let python-chess probe them."""
    return tablebase.get_wdl(board), tablebase.get_dtz(board)


@pytest.fixture(scope="module")
def shipped() -> Tablebases:
    return Tablebases(TABLES)


NAMES = ["KBvK", "KNvK", "KPvK", "KQvK", "KRvK"]


@pytest.mark.parametrize("name", NAMES)
def test_values(shipped: Tablebases, name: str) -> None:
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        for board in boards_of_table(name, 5 if INTERPRETED else 150):
            assert ours(shipped, board) == theirs(reference, board), board.fen()


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        (MATE_IN_ONE, (2, 1)),  # mates
        ("7k/8/8/4K3/8/8/8/Q7 b - - 0 1", None),
        ("8/8/8/8/8/8/1k1P4/5K2 w - - 0 1", None),
        ("8/8/8/8/8/8/3P4/1k3K2 w - - 0 1", (2, 1)),  # a pawn move wins
        ("8/8/8/8/8/8/6k1/3K2Q1 b - - 0 1", None),
        ("8/8/8/8/8/1k6/1Q6/K7 b - - 0 1", None),
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", (-2, -1)),  # mate
        ("8/8/8/8/8/k7/p7/K7 w - - 0 1", (0, 0)),  # stalemate
        ("8/8/8/8/8/8/5kp1/7K w - - 0 1", None),
    ],
)
def test_ends(shipped: Tablebases, fen: str, expected: tuple[int, int] | None) -> None:
    board = chess.Board(fen)
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        assert ours(shipped, board) == theirs(reference, board)
    assert expected in (None, ours(shipped, board))


def test_castling_rights_and_missing_tables(shipped: Tablebases) -> None:
    assert ours(shipped, chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")) == (2, 21)
    assert ours(shipped, chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")) == (None, None)
    assert ours(shipped, chess.Board("4k3/8/8/8/8/8/8/3QK2R w - - 0 1")) == (None, None)
    assert ours(shipped, chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")) == (0, 0)
    assert ours(shipped, chess.Board()) == (None, None)
    assert ours(Tablebases(TABLES, ()), chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")) == (None, None)


def test_near_the_end_of_the_stack_nothing_is_probed(shipped: Tablebases) -> None:
    # A probe needs a few places of the stack for the moves it tries.
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    for ply, expected in ((MAX_PLY - 4, (2, 21)), (MAX_PLY - 3, (None, None)), (MAX_PLY + 1, (None, None))):
        assert ours(shipped, board, ply) == expected


# --- tables made up for a test: they give one value to all positions ----------------------------------------------


def constant_file(
    name: str, wdl: tuple[int, int] | None, flags: int = 0, maps: tuple[tuple[int, ...], ...] = ()
) -> bytes:
    """Write a table of which all positions have the same value, so that only the header counts.

    Parameters
    ----------
    name : str
        With pieces in an order that the format allows for those that lead.
    wdl : pair of int or None
        The values of a WDL table, for each side to move; None for a DTZ table.
    flags, maps
        Of the DTZ table.
    """
    white, black = name.split("v")
    pieces = [PIECES.index(piece) for piece in white] + [PIECES.index(piece) + 8 for piece in black]
    pawns = [pieces.count(1), pieces.count(9)]
    # The leading group: the pawns of the side with fewer, or else the pieces that are alone of their kind.
    first = 1 if pawns[0] and (pawns[0] <= pawns[1] or not pawns[1]) else 9
    pieces.sort(key=lambda piece: (piece != first, piece not in (1, 9), pieces.count(piece), piece & 7 != 6, piece))
    split = wdl is not None and white != black
    data = bytearray(b"\x71\xe8\x23\x5d" if wdl else b"\xd7\x66\x0c\xa5")
    data.append((1 if split else 0) | (2 if any(pawns) else 0))
    for _ in range(4 if any(pawns) else 1):
        data += b"\x00\x11" if all(pawns) else b"\x00"
        data += bytes(piece * 17 for piece in pieces)
    data += bytes(len(data) % 2)
    files = 4 if any(pawns) else 1
    for _ in range(files):
        for value in wdl[: 1 + split] if wdl else (0,):
            data += bytes((0x80 | flags, value + 2 if wdl else 0))
    for _ in range(files if flags & syzygy.MAPPED else 0):
        size = 2 if flags & syzygy.WIDE_MAP else 1
        data += bytes(-len(data) % size)
        for values in maps:
            data += b"".join(value.to_bytes(size, "little") for value in (len(values), *values))
    data += bytes(-len(data) % 64)
    return bytes(data + bytes(16))


def with_shipped(folder: Path) -> Path:
    """Copy the shipped tables into a folder."""
    shutil.copytree(SHIPPED, folder, dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize("value", [-2, -1, 0, 1, 2])
def test_en_passant(tmp_path: Path, value: int) -> None:
    (with_shipped(tmp_path) / "KPvKP.rtbw").write_bytes(constant_file("KPvKP", (value, 0)))
    (tmp_path / "KPvKP.rtbz").write_bytes(constant_file("KPvKP", None, syzygy.WIN_IN_PLIES))
    tablebases = Tablebases(TABLES, [tmp_path])
    assert tablebases.problems == []
    generator = random.Random(value)
    left = 2 if INTERPRETED else 80
    with chess.syzygy.open_tablebase(str(tmp_path)) as reference:
        while left:
            board = chess.Board(None)
            file = generator.randrange(7)
            pawns = [chess.Piece.from_symbol(pawn) for pawn in generator.sample("Pp", 2)]
            for pawn, square in zip(pawns, (32 + file, 33 + file), strict=True):
                board.set_piece_at(square, pawn)
            passed = 40 + file + (pawns[0].color == chess.WHITE)
            free = [square for square in range(64) if not board.piece_at(square) and square not in (passed, passed + 8)]
            for king, square in zip("Kk", generator.sample(free, 2), strict=True):
                board.set_piece_at(square, chess.Piece.from_symbol(king))
            board.ep_square = passed
            if board.is_valid() and board.has_legal_en_passant():
                board = board if generator.random() < 0.5 else board.mirror()
                # If both sides lost wherever they are to move, their pawn moves would say otherwise of DTZ.
                kinds = slice(2 if value >= 0 else 1)
                assert ours(tablebases, board)[kinds] == theirs(reference, board)[kinds], board.fen()
                left -= 1


def test_a_losing_en_passant_capture_that_is_forced(tmp_path: Path) -> None:
    # To the table this is stalemate.
    (tmp_path / "KPPPvKP.rtbw").write_bytes(constant_file("KPPPvKP", (0, 0)))
    (tmp_path / "KPPvKP.rtbw").write_bytes(constant_file("KPPvKP", (2, -2)))
    tablebases = Tablebases(TABLES, [tmp_path])
    assert tablebases.problems == []
    board = chess.Board("8/8/4p3/3pP3/8/6k1/7p/7K w - d6 0 1")
    with chess.syzygy.open_tablebase(str(tmp_path)) as reference:
        assert ours(tablebases, board) == theirs(reference, board) == (-2, -1)
        board.ep_square = None
        assert ours(tablebases, board) == theirs(reference, board) == (0, 0)


NARROW = ((3,), (5,), (7, 1), (250,))
WIDE = ((3,), (500,), (7, 1), (600,))


@pytest.mark.parametrize("wdl", [(2, -2), (1, -1), (-1, 1), (-2, 2)])
@pytest.mark.parametrize(
    ("flags", "maps"),
    [
        (0, ()),
        (syzygy.BLACK_TO_MOVE, ()),
        (syzygy.MAPPED, NARROW),
        (syzygy.MAPPED | syzygy.WIN_IN_PLIES, NARROW),
        (syzygy.MAPPED | syzygy.LOSS_IN_PLIES | syzygy.BLACK_TO_MOVE, NARROW),
        (syzygy.MAPPED | syzygy.WIDE_MAP, WIDE),
        (syzygy.MAPPED | syzygy.WIDE_MAP | syzygy.LOSS_IN_PLIES | syzygy.BLACK_TO_MOVE, WIDE),
    ],
)
def test_cursed_values_and_maps(
    tmp_path: Path, wdl: tuple[int, int], flags: int, maps: tuple[tuple[int, ...], ...]
) -> None:
    (tmp_path / "KRvK.rtbw").write_bytes(constant_file("KRvK", wdl))
    (tmp_path / "KRvK.rtbz").write_bytes(constant_file("KRvK", None, flags, maps))
    tablebases = Tablebases(TABLES, [tmp_path])
    assert tablebases.problems == []
    with chess.syzygy.open_tablebase(str(tmp_path)) as reference:
        for board in [chess.Board(MATE_IN_ONE), *boards_of_table("KRvK", 1 if INTERPRETED else 40)]:
            assert ours(tablebases, board) == theirs(reference, board), board.fen()


@pytest.mark.parametrize("flags", [syzygy.MAPPED, syzygy.MAPPED | syzygy.BLACK_TO_MOVE])
def test_winning_pawn_moves_come_before_the_dtz_table(tmp_path: Path, flags: int) -> None:
    (with_shipped(tmp_path) / "KPvK.rtbz").write_bytes(constant_file("KPvK", None, flags, NARROW))
    tablebases = Tablebases(TABLES, [tmp_path])
    assert tablebases.problems == []
    with chess.syzygy.open_tablebase(str(tmp_path)) as reference:
        for board in boards_of_table("KPvK", 10 if INTERPRETED else 100):
            assert ours(tablebases, board) == theirs(reference, board), board.fen()


# --- numbering ----------------------------------------------------------------------------------------------------


def legal_orders(name: str, generator: random.Random) -> tuple[list[int], list[int]]:
    """Choose an order of pieces and of groups as a table's header may have it."""
    white, black = name.split("v")
    pieces = [PIECES.index(piece) for piece in white] + [PIECES.index(piece) + 8 for piece in black]
    pawns = sorted((piece for piece in set(pieces) if piece & 7 == 1), key=lambda piece: (pieces.count(piece), piece))
    kinds = list(dict.fromkeys(pieces))
    generator.shuffle(kinds)
    if pawns:
        kinds.sort(key=lambda piece: pawns.index(piece) if piece in pawns else 2)
        ordered = len(pawns)
    else:
        singles = [piece for piece in kinds if pieces.count(piece) == 1]
        lead = singles[:3] if len(singles) >= 3 else [6, 14]
        kinds = lead + [piece for piece in kinds if piece not in lead]
        ordered = 1
    groups = len(kinds) - (0 if pawns else len(kinds[:3]) - 1 if len(singles) >= 3 else 1)
    return [piece for kind in kinds for piece in [kind] * pieces.count(kind)], generator.sample(range(groups), ordered)


def number_by_python_chess(name: str, pieces: list[int], order: list[int], board: chess.Board, swap: bool) -> int:
    """Number a position as python-chess does."""
    table = chess.syzygy.WdlTable(f"{name}.rtbw")
    norm, factor = [0] * table.num, [0] * 7
    colors, mirror = (8, 56) if swap else (0, 0)
    squares: list[int] = []
    file = 0
    while len(squares) < table.num:
        if table.has_pawns and len(squares) == table.pawns[0]:
            lead = list(squares)
            file = table.pawn_file(squares)
            assert sorted(lead) == sorted(squares)
        piece = pieces[len(squares)] ^ colors
        of_kind = board.pieces(piece & 7, piece < 8)
        squares += [square ^ mirror if table.has_pawns else square for square in of_kind]
    squares += [0] * (7 - table.num)
    if table.has_pawns:
        table.set_norm_pawn(norm, pieces)
        table.calc_factors_pawn(factor, order[0], order[1] if len(order) == 2 else 15, norm, file)
        return table.encode_pawn(norm, squares, factor)
    table.set_norm_piece(norm, pieces)
    table.calc_factors_piece(factor, order[0], norm)
    return table.encode_piece(norm, squares, factor)


# Leading groups of all kinds, groups of up to five pieces, symmetric materials.
MATERIALS = (
    *("KQvK", "KPvK", "KRRvK", "KRvKB", "KPPvK", "KPvKP", "KRvKR", "KQRvKB", "KRRvKR", "KPPvKP", "KRPvKP", "KPPPvK"),
    *("KBBvKNN", "KRRvKBB", "KQPvKPP", "KPPPPvK", "KNNNvKR", "KRRRvKR", "KPPvKPP", "KBPPvKN", "KRRvKRR", "KQBvKRN"),
    *("KRBNvKRN", "KRRBvKBB", "KNNNNvKN", "KQPPvKPP", "KPPPvKPP", "KPPPPvKP", "KPPPPPvK", "KRNPvKRP", "KBBBBBvK"),
)


@pytest.mark.parametrize("name", MATERIALS)
def test_numbering(name: str) -> None:
    # Few tables are shipped; larger ones are numbered by the same rules.
    generator = random.Random(name)
    tablebases = new_record(TABLEBASES)
    syzygy_index.fill_tables(tablebases)
    white, black = name.split("v")
    for board in boards_of_table(name, 4 if INTERPRETED else 60):
        pieces, order = legal_orders(name, generator)
        counts = sorted(side.count("P") for side in (white, black) if "P" in side)
        swap = generator.random() < 0.5 if white == black else chess.syzygy.calc_key(board) != name
        groups = syzygy_file._groups(pieces, counts)
        position = set_up(GAME, board).stack[0]
        pairs = new_record(SYZYGY_PAIRS)
        pairs.pieces[: len(pieces)] = pieces
        pairs.groups[: len(groups)] = groups
        colors = np.int64(8 * swap)
        file = None
        if counts:
            lead = pieces[0] ^ int(colors)
            file = min(min(s & 7, 7 - (s & 7)) for s in board.pieces(1, lead < 8))
        factors, positions = syzygy_file._factors(groups, order, file)
        pairs.factors[: len(groups)] = factors
        index = index_of_pawns if counts else index_of_pieces
        number = int(index(tablebases, pairs, position, colors))
        assert number == number_by_python_chess(name, pieces, order, board, swap), board.fen()
        assert 0 <= number < positions


# --- damaged files ------------------------------------------------------------------------------------------------


def damaged(data: bytes, generator: random.Random) -> bytes:
    """Flip bits, mostly in the header, or cut the end off; whole blocks, so that the size does not tell."""
    if generator.random() < 0.2:
        return data[: 64 * generator.randrange(len(data) // 64) + 16]
    changed = bytearray(data)
    reach = generator.choice((40, 160, len(data)))
    for _ in range(generator.choice((1, 1, 3, 10))):
        changed[generator.randrange(4, min(reach, len(data)))] ^= 1 << generator.randrange(8)
    return bytes(changed)


@pytest.fixture
def readable(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Where the code is interpreted, check that each read lies in one of the listed blocks of memory."""
    blocks: list[tuple[int, int]] = []

    def checked(address):
        assert any(start <= int(address) <= end - 8 for start, end in blocks)
        return load(address)

    load = syzygy_pairs.load_unaligned
    if INTERPRETED:
        monkeypatch.setattr(syzygy_pairs, "load_unaligned", checked)
    return blocks


def blocks_of(tablebases: Tablebases) -> Iterator[tuple[int, int]]:
    """Yield the beginnings and ends of the memory that probes may read."""
    for table in tablebases.record.tables[:12]:
        yield int(table.address), int(table.address) + int(table.file_size)
        for pairs in table.pairs.ravel():
            yield int(pairs.symbols), int(pairs.symbols) + 4 * int(pairs.symbol_count) + 4


def probe_damaged(path: Path, data: bytes, boards: list[chess.Board], readable: list[tuple[int, int]]) -> bool:
    """Probe with a damaged file in the place of a shipped one; say whether the damage went unnoticed."""
    path.write_bytes(data)
    tablebases = Tablebases(TABLES, [path.parent])
    readable[:] = blocks_of(tablebases)
    for board in boards:
        assert ours(tablebases, board)[0] in (-2, -1, 0, 1, 2, None)
    shutil.copy(SHIPPED / path.name, path)
    return not tablebases.problems


FILES = [f"{name}{suffix}" for name in ("KPvK", "KRvK", "KQvK") for suffix in (".rtbw", ".rtbz")]


def test_damaged_files_do_no_harm(tmp_path: Path, readable: list[tuple[int, int]]) -> None:
    generator = random.Random(7)
    with_shipped(tmp_path)
    boards = {name: list(boards_of_table(name, 1 if INTERPRETED else 20)) for name in NAMES}
    accepted = 0
    for _ in range(60 if INTERPRETED else 100):
        path = tmp_path / generator.choice(FILES)
        data = damaged((SHIPPED / path.name).read_bytes(), generator)
        accepted += probe_damaged(path, data, boards[path.stem], readable)
    assert accepted > 5


@pytest.mark.parametrize("name", FILES)
def test_a_body_of_nonsense_does_no_harm(
    shipped: Tablebases, tmp_path: Path, readable: list[tuple[int, int]], name: str
) -> None:
    # The header is sound, so the file is accepted, and all depends on the checks while it is decoded.
    path = with_shipped(tmp_path) / name
    sound = path.read_bytes()
    table = next(table for table in shipped.record.tables if table.file_size == len(sound))
    parts = [int(table.pairs[0, 0][part]) for part in ("index_offset", "sizes_offset", "data_offset")]
    generator = random.Random(name)
    boards = list(boards_of_table(path.stem, 1 if INTERPRETED else 20))
    for start, end in zip(parts, [*parts[1:], len(sound) - 16], strict=True):
        for fill in (bytes(end - start), b"\xff" * (end - start), generator.randbytes(end - start)):
            assert probe_damaged(path, sound[:start] + fill + sound[end:], boards, readable)


def test_a_value_beyond_its_map_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "KRvK.rtbw").write_bytes(constant_file("KRvK", (2, -2)))
    (tmp_path / "KRvK.rtbz").write_bytes(constant_file("KRvK", None, syzygy.MAPPED, ((), (), (), ())))
    tablebases = Tablebases(TABLES, [tmp_path])
    assert tablebases.problems == []
    assert ours(tablebases, chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")) == (2, None)
