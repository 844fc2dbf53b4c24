"""Reading PGN of all kinds: sound, broken, and made to break the reader."""

import gzip
import io
import json
import re

import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knightadder.web.loaded_pgn import load_pgn
from knightadder.web.messages import MessageError


@pytest.mark.parametrize(
    ("pgn", "sans", "wrong"),
    [
        ("h4 h3)f6", ["h4"], "h3"),
        ("1. e4 e4 ) e5 *", ["e4"], "e4"),
        ("1. e4 e5 2. Qh6 {lost} Nc6 $1 (2... d6) *", ["e4", "e5"], "Qh6"),
        ("1. e4 e5 (1... c5 2. Ke5 Nc6 (2... a6) 3. Bb5) 2. Nf3 *", ["e4", "e5", "Nf3", "c5"], "Ke5"),
        # Behind the variation White's pawn moves from where the main line has it.
        (
            "1. e4 e5 (1... d5 2. exd5 Qxd5 3. Kh8) 2. d4 exd4 *",
            ["e4", "e5", "d4", "exd4", "d5", "exd5", "Qxd5"],
            "Kh8",
        ),
        ("1. e4 e5 (1... c5 2. Nf3", ["e4", "e5", "c5", "Nf3"], "variation that begins in line 1 has no end"),
        ("1. e4 ) ) ( ( e5 ) c5 *", ["e4", "c5"], "closing parenthesis"),
        ("1. e4 ( ( e5 ) c5 *", ["e4", "c5"], "variation without a move before it"),
        (f"1. e4 ${'9' * 5000} e5 *", ["e4", "e5"], "$999"),
        ("1. e4 $9999 $1 e5 *", ["e4", "e5"], "$9999"),
        ("1. e4 $999 $1 e5 *", ["e4", "e5"], None),
        ("1. e4 e5 2. Sf3 Nc6 *", ["e4", "e5"], "Sf3"),
        ("1. e4 e5 1-0 2. Nf3 *", ["e4", "e5"], "moves after the result"),
    ],
)
def test_the_sound_part_of_a_broken_game_is_kept(pgn, sans, wrong, caplog):
    loaded = load_pgn(pgn.encode())
    assert [row["san"] for row in map(loaded.tree.row, loaded.tree.nodes())][1:] == sans
    assert (loaded.problem is None) if wrong is None else (wrong in loaded.problem and "\n" not in loaded.problem)
    assert not any(node.comment or node.nags - {1} for node in loaded.tree.game.mainline())
    assert caplog.records == []


def test_a_game_without_moves_is_loaded_with_a_short_title():
    loaded = load_pgn(f'[White "{"A" * 1000}"]\n[Event "{"B" * 1000}"]\n\n*\n'.encode())
    assert (loaded.problem, loaded.left_out, loaded.tree.game.headers["White"]) == (None, [], "A" * 1000)
    [title] = loaded.titles
    assert (title.white, title.event) == ("A" * 120, "B" * 120)


def test_evaluations_that_are_none_are_left_out():
    digits = "9" * 5000
    pgn = f"1. e4 {{[%eval #{digits}]}} e5 {{[%eval 0.2,{digits}]}} 2. Nf3 {{[%eval 99999999]}} *"
    loaded = load_pgn(pgn.encode())
    scores = [row["score"] and row["score"]["text"] for row in map(loaded.tree.row, loaded.tree.nodes())]
    assert scores == [None, None, "+0.20", "+99999999.00"]


@pytest.fixture
def most(monkeypatch):
    """Give the most moves that are read, for this test a few."""
    monkeypatch.setattr("knightadder.web.loaded_pgn.MAX_NODES", 400)
    return 400


@pytest.mark.parametrize(
    "pgn",
    [
        "Nf3 Nf6 Ng1 Ng8 " * 100,
        "e4 " + "()" * 1601,
        "e4 " + "{}" * 1601,
        "a3 " + "(b3 " * 150,
    ],
    ids=["moves", "variations", "comments", "nesting"],
)
def test_what_is_too_large_is_refused_while_it_is_read(pgn, most, monkeypatch):
    monkeypatch.setattr("knightadder.web.loaded_pgn.GameTree", lambda game: pytest.fail("a tree was built"))
    with pytest.raises(MessageError, match=r"more than \d+"):
        load_pgn(pgn.encode())


def test_a_game_of_the_most_moves_is_read(most):
    game = "Nf3 {a} Nf6 {b} Ng1 {c} Ng8 {d} " * 99 + "Nf3 Nf6 Ng1"
    assert len(load_pgn(game.encode()).tree) == most


_MARKS = list("(){};*%[]\n\r\0\ufeff@")
_WORDS = re.findall(r"\S+", "{a} $1 e4 e5 Nf3 Nc6 d4 exd4 Bb5 a6 h3 1. 1... -- 1-0 O-O e8=Q ?! [%eval")
_TAGS = ['[White "a"]\n', '[FEN "x"]\n', '[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n', '[Variant "Chess960"]\n', "\n\n"]
_PIECES_OF_PGN = st.sampled_from(_MARKS) | st.sampled_from(_WORDS) | st.sampled_from(_TAGS)


@settings(deadline=None, max_examples=300)
@given(st.lists(_PIECES_OF_PGN, max_size=40).map(" ".join) | st.text(max_size=200))
def test_whatever_the_text_it_is_read_or_refused(pgn):
    try:
        loaded = load_pgn(pgn.encode())
    except MessageError as error:
        assert "\n" not in str(error)
        return
    json.dumps([*map(loaded.tree.row, loaded.tree.nodes())])
    written = chess.pgn.read_game(io.StringIO(str(loaded.tree.game)))
    assert written.errors == [] and written.game().end().board().fen() == loaded.tree.game.end().board().fen()


# --- files ---------------------------------------------------------------------------------------------------------

_GAME = '[White "Müller"]\n[Black "Núñez"]\n\n1. e4 {schön} e5 *'


def test_the_same_games_as_python_chess_finds_in_a_sound_file():
    text = f"% a remark\n{_GAME}\n\n\n1. d4 {{a comment\n\nwith an empty line}} d5 (1... c5\n2. d5) *\n\n{_GAME}"
    source = io.StringIO(text)
    games = list(iter(lambda: chess.pgn.read_game(source), None))
    loaded = [load_pgn(text.encode(), index) for index in range(len(games))]
    assert [str(each.tree.game) for each in loaded] == list(map(str, games))
    assert len(loaded[0].titles) == len(games) == 3


@pytest.mark.parametrize(
    ("pgn", "line", "sans", "comment"),
    [
        ("1. e4 { best by test e5 2. Nf3 *", 1, ["e4"], "best by test e5 2. Nf3 *"),
        (f"\n{_GAME} {{\n\n[%eval 0.3] so\n", 5, ["e4", "e5"], "[%eval 0.3] so"),
        ("1. e4 {a} {b\nc} e5 {d\n} 2. Nf3 { e\nf", 3, ["e4", "e5", "Nf3"], "e\nf"),
        (f"1. e4 e5 {{open\n\n{_GAME}\n", 1, ["e4", "e5"], "open"),
    ],
)
def test_a_comment_without_an_end_is_said(pgn, line, sans, comment):
    loaded = load_pgn(pgn.encode())
    assert loaded.problem == f"the comment that begins in line {line} has no closing brace"
    assert [row["san"] for row in map(loaded.tree.row, loaded.tree.nodes())][1:] == sans
    assert loaded.tree.game.end().comment.strip() == comment


def test_a_comment_without_an_end_spoils_no_other_game():
    content = f"1. e4 e5 {{open\n\n{_GAME}\n".encode()
    loaded = load_pgn(content, 1)
    assert loaded.problem is None and len(loaded.titles) == 2 and loaded.tree.game.headers["White"] == "Müller"


@pytest.mark.parametrize(("count", "more"), [(500, False), (501, True)])
def test_games_beyond_the_most_are_said(count, more):
    content = b'[White "A"]\n\n1. e4 *\n\n' * count
    loaded = load_pgn(content)
    assert len(loaded.titles) == 500
    assert loaded.left_out == (["The PGN has more than 500 games; only the first 500 can be chosen"] if more else [])
    assert load_pgn(content, 499).left_out == []
    with pytest.raises(MessageError, match="only the first 500 games" if more else "has only 500 games"):
        load_pgn(content, 500)


@pytest.mark.parametrize(
    ("tag", "end", "result", "told"),
    [
        ("1-0", "1-0", "1-0", []),
        ("1/2", "1/2-1/2", "1/2-1/2", ["The moves end with 1/2-1/2, but the tag Result says '1/2'"]),
        ("*", "0-1", "0-1", ["The moves end with 0-1, but the tag Result says '*'"]),
        ("1-0", "0-1", "1-0", ["The moves end with 0-1, but the tag Result says '1-0'"]),
        ("1-0", "*", "1-0", []),
        ("1-0", "", "1-0", []),
    ],
)
def test_a_result_that_the_moves_contradict_is_said(tag, end, result, told):
    loaded = load_pgn(f'[Result "{tag}"]\n\n1. e4 e5 {end}\n'.encode())
    assert loaded.tree.game.headers["Result"] == result
    assert loaded.left_out == told


def test_compressed_files_are_read_up_to_the_size_of_others():
    text = "1. e4 e5 *\n"
    assert len(load_pgn(gzip.compress(text.encode())).tree.game.variations) == 1
    with pytest.raises(MessageError, match=r"^this PGN cannot be read: it has more than 512 KB$"):
        load_pgn(gzip.compress(b" " * 600_000 + text.encode()))
    with pytest.raises(MessageError, match=r"^this PGN cannot be read: "):
        load_pgn(gzip.compress(text.encode() * 99)[:-9])
    with pytest.raises(MessageError, match=r"^this PGN cannot be read: it is compressed as zip; unpack it first$"):
        load_pgn(b"PK\x03\x04" + bytes(99))
    with pytest.raises(
        MessageError, match=r"^this PGN cannot be read: it begins like UTF-16, but is not valid UTF-16$"
    ):
        load_pgn(text.encode("utf-16") + b"\0")
