"""The explorer's filters, lists of games and searches, against a count by python-chess over the games."""

from __future__ import annotations

from random import Random

import chess
import chess.pgn
import pytest
from explorer_index import make_index
from random_games import STARTS, count, random_game

from knightadder import Explorer, GameFilter, OptionError
from knightadder.cli import main

CONTROLS = {
    "15+0": "ultrabullet",
    "60": "bullet",
    "120+1": "bullet",
    "180+2": "blitz",
    "600+5": "rapid",
    "15+10": "rapid",  # in minutes
    "90+30": "classical",
    "40/7200:3600": "classical",
    "18000+60": "classical",
    "21600": "correspondence",
    "1/86400": "correspondence",
    "-": "correspondence",
    "?": None,
}
FILTERS = [
    GameFilter(min_rating=1900),
    GameFilter(max_rating=1800),
    GameFilter(min_rating=1500, max_rating=2200),
    GameFilter(since="1960"),
    GameFilter(until="1980-05"),
    GameFilter(since="1950-06-11", until="2000-02-15"),
    GameFilter(speeds=("blitz",)),
    GameFilter(speeds=("classical",)),
    GameFilter(speeds=("bullet", "correspondence", "classical")),
    GameFilter(player="ANNA "),
    GameFilter(player="Ben", color=chess.WHITE),
    GameFilter(player="Ben", color=chess.BLACK),
    GameFilter(result="0-1"),
    GameFilter(1300, 2500, "1930", "2010", ("rapid", "blitz", "bullet"), "carla", None, "1-0"),
]


@pytest.fixture(scope="module")
def games() -> list[chess.pgn.Game]:
    random = Random(11)
    games = [random_game(number, random, 10) for number in range(300)]
    for game in games:
        game.headers["TimeControl"] = random.choice(list(CONTROLS))
        if "Date" in game.headers and random.random() < 0.7:
            day = random.choice(("??", f"{random.randint(1, 28):02}"))
            game.headers["Date"] = f"{game.headers['Date'][:4]}.{random.randint(1, 12):02}.{day}"
    return games


@pytest.fixture(scope="module")
def played(games) -> dict[str, dict[str, list[chess.pgn.Headers]]]:
    return count(games, 10)


@pytest.fixture(scope="module")
def explorer(games, tmp_path_factory):
    with Explorer(make_index(tmp_path_factory.mktemp("index"), "\n\n".join(map(str, games)))) as explorer:
        yield explorer


def passes(headers: chess.pgn.Headers, wanted: GameFilter) -> bool:
    """Say whether a game passes a filter, by its headers."""
    elos = [int(headers[name]) for name in ("WhiteElo", "BlackElo") if name in headers]
    rating = sum(elos) / len(elos) if elos else None
    day = "" if headers["Date"][0] == "?" else headers["Date"].replace(".", "-").replace("??", "01")
    seen = [
        wanted.min_rating is None or (rating is not None and rating >= wanted.min_rating),
        wanted.max_rating is None or (rating is not None and rating <= wanted.max_rating),
        wanted.since is None or (day and day >= wanted.since),
        wanted.until is None or (day and day <= wanted.until + "-99"),
        not wanted.speeds or CONTROLS[headers["TimeControl"]] in wanted.speeds,
        wanted.result in (None, headers["Result"]),
    ]
    if wanted.player:
        name = wanted.player.strip().title()
        colors = {None: ("White", "Black"), True: ("White",), False: ("Black",)}[wanted.color]
        seen.append(name in [headers[color] for color in colors])
    return all(seen)


@pytest.mark.parametrize("wanted", FILTERS)
def test_filters_by_brute_force(explorer, played, wanted) -> None:
    most = 0
    for fen, chess960 in STARTS:
        board = chess.Board(fen, chess960=chess960)
        expected = {}
        for san, headers in played[board.epd()].items():
            if passing := [header for header in headers if passes(header, wanted)]:
                expected[san] = [header["Result"] for header in passing]
                listed = explorer.games(board, wanted, move=board.parse_san(san), most=1000)
                assert sorted(game.event for game in listed) == sorted(header["Event"] for header in passing)
        found = {each.san: each for each in explorer.moves(board, wanted)}
        assert found.keys() == expected.keys()
        for san, results in expected.items():
            numbers = [found[san].white, found[san].draws, found[san].black]
            assert numbers == [results.count(result) for result in ("1-0", "1/2-1/2", "0-1")]
            most = max(most, *numbers)
        assert explorer.games(board, GameFilter(player="Anna", color=chess.WHITE, result="1-0"), most=0) == []
    assert most


def test_the_latest_games_and_their_text(explorer, games) -> None:
    latest = explorer.games("startpos", most=4, latest=True)
    dates = [game.headers["Date"] for game in games if game.headers.get("FEN") is None]
    known = sorted(date.replace(".", "-").removesuffix("-??").removesuffix("-??") for date in dates if date[0] != "?")
    assert [game.date for game in latest] == known[:-5:-1]
    assert latest[0].speed in CONTROLS.values()
    for game in explorer.games(STARTS[3][0], most=5) + latest:
        text = str(next(each for each in games if each.headers["Event"] == game.event))
        assert sorted(explorer.pgn(game.number).split("\n")) == sorted(text.split("\n"))
    with pytest.raises(OptionError, match="has no game 300"):
        explorer.pgn(300)


@pytest.mark.parametrize("pieces", ["Ra1 ke8", "Pb4", "-e8 kd7", "Qb8"])
def test_men_on_squares_by_brute_force(explorer, games, pieces) -> None:
    wanted = [(word[0], chess.parse_square(word[1:])) for word in pieces.split()]

    def has(board: chess.Board) -> bool:
        men = [(board.piece_at(square), letter) for letter, square in wanted]
        return all((man.symbol() if man else "-") == letter for man, letter in men)

    expected = {game.headers["Event"]: ply for game in games if (ply := first(game, has)) is not None}
    assert {game.event: game.ply for game in explorer.find(pieces)} == expected
    assert len(expected) > 1
    won = [game.headers["Event"] for game in games if game.headers["Result"] == "1-0"]
    some = explorer.find(pieces, wanted=GameFilter(result="1-0"), most=1)
    assert [game.event for game in some] == [event for event in won if event in expected][:1]


def test_the_move_of_a_found_position_is_numbered_as_in_its_game(tmp_path) -> None:
    text = '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 40"]\n[Result "1-0"]\n\n40... Kd7 41. e4 Kd6 1-0\n'
    with Explorer(make_index(tmp_path, text)) as explorer:
        found = explorer.find("ke8") + explorer.find("Pe4") + explorer.find("kd6")
    assert [(game.ply, game.move) for game in found] == [(0, 40), (2, 41), (3, 42)]


@pytest.mark.parametrize("material", ["KPPvKPP", "KQPvKPP", "KRPvKP"])
def test_material_by_brute_force(explorer, games, material) -> None:
    def has(board: chess.Board) -> bool:
        men = [piece.symbol() for piece in board.piece_map().values()]
        sides = {"".join(sorted(man.upper() for man in men if man.isupper() == white)) for white in (True, False)}
        return sides == {"".join(sorted(side)) for side in material.split("v")}

    expected = {game.headers["Event"]: ply for game in games if (ply := first(game, has)) is not None}
    assert {game.event: game.ply for game in explorer.find(material=material)} == expected
    assert expected


def first(game: chess.pgn.Game, has) -> int | None:
    boards = (node.board() for node in [game, *game.mainline()])
    return next((ply for ply, board in enumerate(boards) if has(board)), None)


def test_near_duplicates(tmp_path) -> None:
    moves = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 8. cxd5 Nxd5 9. Bxe7 Qxe7"
    whole = f"{moves} 10. Nxd5 exd5 11. Rc1 Be6 12. Qa4 c5"
    headers = [
        ("Fischer, Robert J", "Spassky, Boris V", "1972.07.23", whole),
        ("Bobby Fischer", "Spasski, B.", "1972.??.??", f"{moves} 10. Nxd5 exd5"),  # cut short
        ("Fischer R", "?", "????.??.??", whole),
        ("Karpov, A", "Spassky, B", "1974.01.01", whole),  # others, by the same moves
        ("Fischer, R", "Spassky, B", "1992.01.01", whole),  # twenty years later
        ("Fischer, R", "Spassky, B", "1972.01.01", "1. e4 e5"),  # too short to say
        ("Fischer, R", "Spassky, B", "1972.01.01", "1. e4 e5 2. f4"),
    ]
    text = "".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Date "{date}"]\n[Result "1-0"]\n\n{moves} 1-0\n\n'
        for white, black, date, moves in headers
    )
    file = make_index(tmp_path, text)
    with Explorer(file) as explorer:
        assert len(explorer) == 7
        assert [[game.number for game in group] for group in explorer.duplicates()] == [[0, 2, 1]]
    assert main(["book", "duplicates", str(file)]) == 0


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"since": "1999-13"}, "expected a date such as 2024, 2024-03 or 2024-03-15, not '1999-13'"),
        ({"speeds": ("fast",)}, "unknown speed 'fast': there are ultrabullet, bullet, blitz"),
        ({"result": "*"}, "the result must be 1-0, 1/2-1/2 or 0-1, not '\\*'"),
        ({"color": True}, "a colour needs the name of a player"),
        ({"player": "Ann", "color": "black"}, "color must be chess.WHITE or chess.BLACK, not 'black'"),
        ({"min_rating": 10**30}, "a rating must be a whole number from 1 to 99999, not 1000000"),
        ({"max_rating": "2400"}, "a rating must be a whole number from 1 to 99999, not '2400'"),
        ({"max_rating": 0}, "a rating must be a whole number from 1 to 99999, not 0"),
        ({"min_rating": True}, "a rating must be a whole number from 1 to 99999, not True"),
        ({"speeds": (["blitz"],)}, r"unknown speed \['blitz'\]: there are ultrabullet"),
        ({"speeds": "blitz"}, "speeds must be several speeds, not 'blitz'"),
        ({"speeds": None}, "speeds must be several speeds, not None"),
        ({"player": ["Ann"]}, r"player must be a name, not \['Ann'\]"),
        ({"until": 24}, "expected a date such as 2024, 2024-03 or 2024-03-15, not 24"),
    ],
)
def test_wrong_filters_are_one_line(values, complaint) -> None:
    with pytest.raises(OptionError, match=complaint):
        GameFilter(**values)


def test_searches_for_nothing_or_nonsense_are_one_line(explorer) -> None:
    for arguments, complaint in (
        (("", " "), "nothing to search for"),
        ((", ,", ""), "nothing to search for"),
        (("Nz9", ""), "expected a piece on a square, such as"),
        (("Pe4 pe4", ""), "e4 cannot have two different contents: 'Pe4 pe4'"),
        (("Pe4 -e4", ""), "e4 cannot have two different contents: 'Pe4 -e4'"),
        (("", "QvR"), "expected material such as KRPvKR"),
    ):
        with pytest.raises(OptionError, match=complaint):
            explorer.find(*arguments)
    with pytest.raises(OptionError, match="no game of 'Nobody' is in"):
        explorer.moves("startpos", GameFilter(player="Nobody"))
    with pytest.raises(OptionError, match=r"no game of 'M\\udcfcller' is in"):  # from a terminal that is not UTF-8
        explorer.moves("startpos", GameFilter(player="M\udcfcller"))


def test_clocks_tell_whether_a_time_control_is_in_minutes(tmp_path):
    text = '[White "{}"]\n[TimeControl "90+30"]\n[Result "1-0"]\n\n1. e4 {{[%clk {}]}} e5 1-0\n\n'
    index = make_index(tmp_path, text.format("Slow", "1:30:30") + text.format("Quick", "0:01:58"))
    with Explorer(index) as explorer:
        for speed, player in (("classical", "Slow"), ("rapid", "Quick")):
            assert [game.white for game in explorer.games("startpos", GameFilter(speeds=(speed,)))] == [player]
