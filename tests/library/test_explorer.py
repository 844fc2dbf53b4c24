"""The opening explorer: what it says of each position, against a count by python-chess over the games."""

from __future__ import annotations

import copy
import pickle
import sqlite3
import threading
from math import log10
from pathlib import Path
from random import Random
from statistics import fmean

import chess
import chess.pgn
import pytest
from explorer_index import make_index
from random_games import STARTS, count, random_game

from knightadder import EngineError, Explorer, ExplorerGame, ExplorerMove, OptionError, PositionError, to_frame
from knightadder.cli import main
from knightadder.library import explorer_file
from knightadder.library.explorer import MOST_GAMES, key_of
from knightadder.web.site.exploring import explorer_view

PLIES = 30  # in the index; the games are longer


@pytest.fixture(scope="module")
def games() -> list[chess.pgn.Game]:
    random = Random(5)
    return [random_game(number, random, plies=PLIES + 5) for number in range(60)]


@pytest.fixture(scope="module")
def explorer(games, tmp_path_factory):
    text = "\n\n".join(map(str, games))
    with Explorer(make_index(tmp_path_factory.mktemp("index"), text, "--plies", PLIES)) as explorer:
        yield explorer


def strength(headers: chess.pgn.Headers) -> int:
    return int(headers.get("WhiteElo", 0)) + int(headers.get("BlackElo", 0))


def performance(headers: list[chess.pgn.Headers], turn: chess.Color) -> int | None:
    """Return the rating at which Elo's formula expects the mover's points against the average opponent."""
    mover, opponent = ("1-0", "BlackElo") if turn else ("0-1", "WhiteElo")
    results = [(header["Result"], int(header[opponent])) for header in headers if opponent in header]
    points = fmean([1.0 if result == mover else 0.5 * (result == "1/2-1/2") for result, _ in results] or [0])
    if not 0 < points < 1:
        return None
    return round(fmean(rating for _, rating in results) - 400 * log10(1 / points - 1))


def test_every_position_of_the_games_by_brute_force(explorer, games) -> None:
    expected = count(games, PLIES)
    special = set()
    for epd, moves in expected.items():
        board = chess.Board(epd, chess960=True)
        board.chess960 = board.has_chess960_castling_rights()
        found = {each.san: each for each in explorer.moves(board)}
        assert found.keys() == moves.keys(), epd
        for san, headers in moves.items():
            each = found[san]
            special |= {mark for mark in ("O-O-O", "O-O", "=") if mark in san}
            special |= {"en passant"} if board.is_en_passant(each.move) else set()
            assert each.move == board.parse_san(san)
            results = [header["Result"] for header in headers]
            assert [each.white, each.draws, each.black] == [results.count(r) for r in ("1-0", "1/2-1/2", "0-1")]
            elo = "WhiteElo" if board.turn else "BlackElo"
            ratings = [int(header[elo]) for header in headers if elo in header]
            assert each.rating == (round(fmean(ratings)) if ratings else None)
            years = [int(header["Date"][:4]) for header in headers if header["Date"][0].isdigit()]
            assert each.last == (str(max(years)) if years else None)
            assert each.performance == performance(headers, board.turn)
        best = sorted((strength(header) for all in moves.values() for header in all), reverse=True)
        shown = explorer.games(board)
        assert [(game.white_elo or 0) + (game.black_elo or 0) for game in shown] == best[:MOST_GAMES]
        events = {header["Event"] for all in moves.values() for header in all}
        assert {game.event for game in shown} <= events
        # The same by the FEN, which has no square for capturing en passant where that is illegal.
        assert [each.san for each in explorer.moves(board.fen())] == [each.san for each in explorer.moves(board)]
    assert special == {"O-O-O", "O-O", "=", "en passant"}
    assert max(len(moves) for moves in expected.values()) > 5
    assert explorer.plies == PLIES


def test_positions_of_no_game_have_no_moves(explorer, games) -> None:
    assert explorer.moves("8/8/8/4k3/8/8/8/K7 w - - 0 1") == []
    assert explorer.games("8/8/8/4k3/8/8/8/K7 w - - 0 1") == []
    beyond = count(games, PLIES + 5).keys() - count(games, PLIES).keys()
    assert beyond
    assert [epd for epd in beyond if explorer.moves(epd) or explorer.games(epd)] == []


def test_the_order_of_moves_does_not_matter(tmp_path) -> None:
    text = '[Result "1-0"]\n\n1. d4 d5 2. c4 e6 1-0\n\n[Result "0-1"]\n\n1. c4 e6 2. d4 d5 3. Nc3 0-1\n\n'
    text += '[Result "1/2-1/2"]\n\n1. d4 e6 2. c4 d5 3. Nf3 Nf6 1/2-1/2\n'
    with Explorer(make_index(tmp_path, text)) as explorer:
        board = chess.Board("rnbqkbnr/ppp2ppp/4p3/3p4/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 0 3")
        assert {each.san: each.games for each in explorer.moves(board)} == {"Nc3": 1, "Nf3": 1}
        assert {each.san: each.games for each in explorer.moves("startpos")} == {"d4": 2, "c4": 1}
        assert len(explorer.games(board)) == 2  # of the other game the position is the end


def test_a_game_counts_once_with_its_last_move_in_a_position(tmp_path) -> None:
    text = '[Result "1/2-1/2"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 1/2-1/2\n'
    with Explorer(make_index(tmp_path, text)) as explorer:
        assert [(each.san, each.games) for each in explorer.moves(chess.Board())] == [("e4", 1)]


def test_moves_are_sorted_and_become_plain_values_and_tables(tmp_path) -> None:
    text = '[White "Anna"]\n[WhiteElo "2500"]\n[Date "2001.03.??"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
    text += '[Black "Ben"]\n[BlackElo "2301"]\n[Result "1/2-1/2"]\n\n1. e4 c5 1/2-1/2\n\n[Result "0-1"]\n\n1. d4 0-1\n'
    with Explorer(make_index(tmp_path, text)) as explorer:
        first, second = explorer.moves(chess.Board())
        assert first == ExplorerMove(chess.Move.from_uci("e2e4"), "e4", 1, 1, 0, 2500, 2301, "2001-03")
        values = {"move": "e2e4", "san": "e4", "games": 2, "white": 1, "draws": 1, "black": 0}
        assert first.to_dict() == {**values, "score": 0.75, "rating": 2500, "performance": 2301, "last": "2001-03"}
        assert second == ExplorerMove(chess.Move.from_uci("d2d4"), "d4", 0, 0, 1, None, None, None)
        games = explorer.games("startpos")
        assert games[0] == ExplorerGame(0, "Anna", "?", 2500, None, "1-0", "2001-03", None, "?", "?")
        assert games[1].to_dict() == {
            **{"number": 1, "white": "?", "black": "Ben", "white_elo": None, "black_elo": 2301, "result": "1/2-1/2"},
            **{"date": None, "speed": None, "event": "?", "site": "?", "ply": None, "move": None},
        }
        assert list(to_frame([first, second])["score"]) == [0.75, 0.0]


def test_the_known_parts_of_dates_count(tmp_path) -> None:
    dates = {
        "1999.12.31": "1999-12-31",
        "1999.12.32": "1999-12",
        "1999.13.01": "1999",
        "1999.00.01": "1999",
        "1999.??.??": "1999",
        "1999": "1999",
        "1999-12-31": "1999-12-31",
        "1999/2/3": "1999-02-03",
        "31.12.1999": None,
        "????.01.01": None,
        "x": None,
    }
    text = "\n".join(f'[Event "{date}"]\n[Date "{date}"]\n[Result "1-0"]\n\n1. e4 1-0\n' for date in dates)
    with Explorer(make_index(tmp_path, text)) as explorer:
        assert {game.event: game.date for game in explorer.games("startpos", most=len(dates))} == dates


def test_keys_tell_positions_apart_as_fens_do() -> None:
    seen: dict[int, str] = {}
    random = Random(8)
    for number in range(40):
        for node in random_game(number, random, 40).mainline():
            board = node.board()
            assert seen.setdefault(key_of(board), board.epd()) == board.epd()
            assert 0 <= key_of(board) < 2**63
    pinned = chess.Board(STARTS[-1][0])
    before = pinned.fen(en_passant="fen")
    assert key_of(pinned) == key_of(chess.Board(pinned.fen(en_passant="legal")))
    assert pinned.fen(en_passant="fen") == before  # the caller's board stays as it is


def test_several_threads_may_ask(explorer) -> None:
    expected = explorer.moves("startpos")
    answers: list[bool] = []

    def ask() -> None:
        answers.extend(explorer.moves(chess.Board()) == expected for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 200


def test_an_index_is_read_where_nothing_can_be_written(tmp_path) -> None:
    file = make_index(tmp_path, '[Result "1-0"]\n\n1. e4 1-0\n')
    odd = file.rename(tmp_path / "a?b#c%41.sqlite")
    odd.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with Explorer(odd) as explorer:
            assert [each.san for each in explorer.moves(chess.Board())] == ["e4"]
        assert {each.name for each in tmp_path.iterdir()} == {"games.pgn", odd.name}
    finally:
        tmp_path.chmod(0o700)


def test_what_is_no_index_is_refused_in_a_line(tmp_path) -> None:
    file = make_index(tmp_path, '[Result "1-0"]\n\n1. e4 1-0\n')
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE moves (key, move)")
    database.close()
    (tmp_path / "text.sqlite").write_text("text")
    (tmp_path / "empty.sqlite").touch()
    for name in ("foreign", "text", "empty"):
        with pytest.raises(OptionError, match=rf"{name}\.sqlite is not an index of games: make one with"):
            Explorer(tmp_path / f"{name}.sqlite")
    for path, reason in ((tmp_path / "missing", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(OptionError) as caught:
            Explorer(path)
        assert str(caught.value) == f"cannot read {path}: {reason}"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 1")
    database.close()
    with pytest.raises(
        OptionError,
        match=r"has index version 1, but .* version 3: remove it, and make it again .* `knightadder book index`",
    ):
        Explorer(file)


def test_a_damaged_index_is_one_line(tmp_path, games) -> None:
    file = make_index(tmp_path, "\n\n".join(map(str, games)))
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))  # the first page has the schema
    with pytest.raises(OptionError, match=r"cannot read .*games\.sqlite: database disk image is malformed"):
        Explorer(file)
    file.write_bytes(content[:100])
    with pytest.raises(OptionError):
        Explorer(file).moves("startpos")


def test_missing_games_are_noticed(small, tmp_path) -> None:
    file = tmp_path / "games.sqlite"
    file.write_bytes(small.read_bytes())
    with sqlite3.connect(file) as database:
        database.execute("UPDATE games SET first = first + 1")
    database.close()
    with pytest.raises(OptionError, match=r"games\.sqlite is damaged: make it again from the games"):
        Explorer(file)


@pytest.mark.parametrize("value", ["x'00'", "NULL", "'many'", "1e999", "'9999999999999999999999'"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("settings", "plies"), ("sources", "read"), ("games", "facts"), ("games", "digests")),
        *(("texts", "body"), ("rare", "body"), ("common", "games"), ("common", "moves")),
    ],
)
def test_any_value_in_any_column_is_at_most_one_line(small, tmp_path, capsys, table, column, value) -> None:
    file = tmp_path / "damaged.sqlite"
    file.write_bytes(small.read_bytes())
    with sqlite3.connect(file) as database:
        try:
            database.execute(f"UPDATE {table} SET {column} = {value}")
        except sqlite3.IntegrityError:  # NULL, where the column allows none
            database.execute(f"UPDATE {table} SET {column} = x'ff'")
    database.close()
    for command in (["ask", str(file)], ["index", str(small.with_name("games.pgn")), "--out", str(file)]):
        status = main(["book", *command])
        complaint = capsys.readouterr().err
        assert status in (0, 2)
        assert complaint.count("\n") == (status == 2), complaint
    try:
        with Explorer(file) as explorer:
            problem = explorer_view(explorer, chess.Board())["problem"]
    except OptionError as error:
        problem = str(error)
    assert problem is None or problem.isprintable()


@pytest.fixture(scope="module")
def small(games, tmp_path_factory) -> Path:
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(explorer_file, "_COMMON", 2)
        return make_index(tmp_path_factory.mktemp("small"), "\n\n".join(map(str, games[:5])))


def test_what_is_no_position_is_refused(explorer) -> None:
    for fen in ("no FEN", "8/8/8/8/8/8/8/8 w - - 0 1"):
        with pytest.raises(PositionError):
            explorer.moves(fen)
    with pytest.raises(TypeError):
        explorer.games(5)


def test_a_game_is_found_by_its_number_in_a_table(tmp_path) -> None:
    text = "".join(f'[White "Player {number}"]\n\n1. e4 1-0\n\n' for number in range(70))  # two chunks
    with Explorer(make_index(tmp_path, text)) as explorer:
        table = to_frame(explorer.games("startpos", most=70))
        for white, number in zip(table.white, table.number.to_numpy(), strict=True):
            assert f'[White "{white}"]' in explorer.pgn(number)


def test_the_move_of_games_may_be_text(explorer, games) -> None:
    board = next(node.parent.board() for node in games[0].mainline() if explorer.games(node.parent.board()))
    move = explorer.moves(board)[0]
    found = explorer.games(board, move=move.move, most=1_000_000)
    assert len(found) == move.games
    assert explorer.games(board, move=move.san, most=1_000_000) == found
    assert explorer.games(board, move=move.move.uci(), most=1_000_000) == found


def test_wrong_arguments_are_named(explorer) -> None:
    for call, error, complaint in (
        (lambda: explorer.games("startpos", most=-1), ValueError, "most must be at least 0, not -1"),
        (lambda: explorer.games("startpos", most="5"), TypeError, "most must be a whole number, not '5'"),
        (lambda: explorer.games("startpos", move="e5"), PositionError, "illegal move: e5"),
        (lambda: explorer.games("startpos", move=5), TypeError, "move must be a chess.Move or text, not 5"),
        (lambda: explorer.moves("startpos", "2024"), TypeError, "wanted must be a GameFilter, not '2024'"),
        (lambda: explorer.find("Pe4", most=-1), ValueError, "most must be at least 0, not -1"),
        (lambda: explorer.find(None), TypeError, "pieces must be text, not None"),
        (lambda: explorer.find("Pe4", 5), TypeError, "material must be text, not 5"),
        (lambda: explorer.pgn(0.5), TypeError, "cannot be interpreted as an integer"),
        (lambda: explorer.pgn(-1), OptionError, "has no game -1"),
    ):
        with pytest.raises(error, match=complaint):
            call()


def test_an_illegal_board_is_refused(explorer) -> None:
    in_check, strange = chess.Board("4k3/8/8/8/8/8/8/4R1K1 b - - 0 1"), chess.Board()
    in_check.turn = chess.WHITE
    strange.ep_square = 99
    for board in (chess.Board(None), in_check, strange):
        for answer in (explorer.moves, explorer.games):
            with pytest.raises(PositionError, match=r"^illegal position: "):
                answer(board)


def test_a_closed_explorer_answers_nothing(tmp_path) -> None:
    with Explorer(make_index(tmp_path, '[Result "1-0"]\n\n1. e4 e5 1-0\n')) as explorer:
        assert explorer.moves("startpos") and explorer.games("startpos")
    explorer.close()
    for call in (
        lambda: explorer.moves("startpos"),  # which has been answered before
        lambda: explorer.games("startpos"),
        lambda: explorer.find("Pe4"),
        lambda: explorer.pgn(0),
    ):
        with pytest.raises(EngineError, match=r"^the explorer has been closed$"):
            call()


def test_an_explorer_cannot_be_copied_or_pickled(small) -> None:
    with Explorer(small) as explorer:
        for copied in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError, match=r"^Explorer cannot be copied or pickled: make another one"):
                copied(explorer)
