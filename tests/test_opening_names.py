"""Names of openings: the whole table, games that transpose, games that have no name."""

import re

import chess
import make_opening_names
import pytest
from game_texts import after

from knightadder.opening_names import Opening, find_opening, named_lines


@pytest.fixture(scope="module")
def boards():
    """Give the position of each line of the table."""
    boards = []
    for opening, moves in named_lines():
        boards.append((opening, after(moves)))
    return boards


def test_every_code_has_a_name_and_every_position_one_only(boards):
    codes = {opening.eco for opening, _ in boards}
    assert codes == {f"{volume}{number:02}" for volume in "ABCDE" for number in range(100)}
    assert len({board.epd() for _, board in boards}) == len(boards) == 3807
    assert all(opening.name == opening.name.strip() != "" for opening, _ in boards)


def test_every_position_of_the_table_is_found(boards):
    assert all(find_opening(board) == opening for opening, board in boards)


def test_along_a_line_of_the_table_the_last_name_counts(boards):
    names = {board.epd(): opening for opening, board in boards}
    for _, end in boards[::7]:
        board, last = chess.Board(), None
        for move in end.move_stack:
            board.push(move)
            last = names.get(board.epd(), last)
            assert find_opening(board) == last, board.fen()


def test_the_table_is_in_order():
    lines = [(opening.eco, opening.name, moves) for opening, moves in named_lines()]
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("moves", "eco", "name"),
    [
        ("e4", "B00", "King's Pawn Game"),
        ("e4 e5 Nf3 Nc6 Bb5", "C60", "Ruy Lopez"),
        ("e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4", "C67", "Ruy Lopez: Berlin Defense, Rio Gambit Accepted"),
        ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation"),
        ("d4 d5 c4 c6", "D10", "Slav Defense"),
        ("d4 Nf6 c4 g6 Nc3 d5", "D80", "Grünfeld Defense"),
        ("f3 e5 g4 Qh4", "A00", "Barnes Opening: Fool's Mate"),
        # The last named position counts, however long ago it was.
        ("e4 e5 Ke2 Ke7 Ke1 Ke8 a3 a6 h3 h6", "C20", "Bongcloud Attack"),
        # Other orders of moves, the last of them with a tempo lost by each side.
        ("Nf3 Nc6 e4 e5 Bb5", "C60", "Ruy Lopez"),
        ("c4 c6 d4 d5", "D10", "Slav Defense"),
        ("e3 e6 e4 e5 Nf3 Nc6 Bb5", "C60", "Ruy Lopez"),
        # Positions that a line of the table passes have no name of their own.
        ("d4 d5 Nf3 g6 Nc3 Nf6 Bg5 c6", "D02", "Queen's Pawn Game: Zukertort Variation"),
        ("e4 c5 Nf3 Nc6 Bb5 d6 O-O a6 Bxc6+", "B30", "Sicilian Defense: Nyezhmetdinov-Rossolimo Attack"),
        ("d4 d5 c4 e6 Nf3 Nf6 g3 h6", "D30", "Queen's Gambit Declined"),
        # Byrne - Fischer, 1956, passes the Grünfeld only in positions without names.
        (
            "Nf3 Nf6 c4 g6 Nc3 Bg7 d4 O-O Bf4 d5 Qb3",
            "A15",
            "English Opening: Anglo-Indian Defense, King's Indian Formation",
        ),
    ],
)
def test_games(moves, eco, name):
    assert find_opening(after(moves)) == Opening(eco, name)


def test_the_board_is_left_alone():
    board = after("e4 e5 a3 a6")
    before = board.copy()
    find_opening(board)
    assert board == before
    assert board.move_stack == before.move_stack


def test_what_has_no_name():
    assert find_opening(chess.Board()) is None
    assert find_opening(chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")) is None
    assert find_opening(after("e4 e5", chess.Board.from_chess960_pos(0))) is None


def test_a_game_from_a_set_up_position_has_the_name_of_the_position_it_reaches():
    board = chess.Board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    assert find_opening(board) == Opening("C20", "King's Pawn Game")
    assert find_opening(after("Nf3 Nc6 Bc4", board)) == Opening("C50", "Italian Game")
    # The usual start position is one of Chess960's.
    assert find_opening(after("e4 c5", chess.Board.from_chess960_pos(518))) == Opening("B20", "Sicilian Defense")


def test_null_moves_and_castling_rights():
    board = after("e4 e5 Nf3 Nc6 Bb5")
    board.push(chess.Move.null())
    assert find_opening(board) == Opening("C60", "Ruy Lopez")
    # After the king has been out the pieces stand as before, but the position is another.
    moved = after("e4 e5 Ke2 Ke7 Ke1 Ke8 Nf3 Nc6 Bb5")
    assert find_opening(moved) == Opening("C20", "Bongcloud Attack")


def test_the_table_is_made_of_lichess_files(tmp_path, capsys):
    out, first, second = (tmp_path / name for name in ("out.tsv", "a.tsv", "b.tsv"))
    first.write_text("eco\tname\tpgn\nB01\tScandinavian Defense\t1. e4 d5\n")
    second.write_text("eco\tname\tpgn\nA00\tBarnes Opening: Fool's Mate\t1. f3 e5 2. g4 Qh4#\n")
    assert make_opening_names.main([str(first), str(second), "--out", str(out)]) == 0
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert lines == ["A00\tBarnes Opening: Fool's Mate\tf3 e5 g4 Qh4#", "B01\tScandinavian Defense\te4 d5"]
    second.write_text("eco\tname\tpgn\nA00\tNo Opening\t1. f3 Ke7\n")
    assert make_opening_names.main([str(second), "--out", str(out)]) == 2
    assert re.fullmatch(r"make_opening_names: \S+b\.tsv: No Opening: illegal san: 'Ke7' .*\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "tags"),
    [  # as in Lichess's database of puzzles
        ("Italian Game: Classical Variation, Giuoco Pianissimo", ("Italian_Game", "Italian_Game_Classical_Variation")),
        ("Scotch Game", ("Scotch_Game", "Scotch_Game_Other_variations")),
        ("Grünfeld Defense: Three Knights Variation", ("Grunfeld_Defense", "Grunfeld_Defense_Three_Knights_Variation")),
        ("Caro-Kann Defense: Hillbilly Attack", ("Caro-Kann_Defense", "Caro-Kann_Defense_Hillbilly_Attack")),
        ("King's Pawn Game: Leonardis Variation", ("Kings_Pawn_Game", "Kings_Pawn_Game_Leonardis_Variation")),
    ],
)
def test_tags_as_lichess_writes_them(name, tags):
    assert Opening("A00", name).tags() == tags
