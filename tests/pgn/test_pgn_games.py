"""Reading files of games: where one ends, encodings, and what is broken."""

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import sys
from pathlib import Path

import chess.pgn
import pytest

import knightadder
from knightadder import cli
from knightadder.engine.errors import OptionError
from knightadder.files import STANDARD
from knightadder.pgn.game_files import game_files
from knightadder.pgn.games import (
    BrokenGame,
    GameText,
    headers_of,
    known_value,
    parse,
    read_games,
    read_texts,
    remarks,
    text_of,
)

ONE = '[Event "one"]\n[White "Müller"]\n\n1. e4 e5 2. Nf3 *'
TWO = '[Event "two"]\n[White "B"]\n\n1. d4 {a comment\n\nwith an empty line} d5\n2. c4 1-0'


def texts(tmp_path, content, name="games.pgn"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_texts(file))


def moves(text, number=1):
    game = parse(GameText(number, 1, text))
    return " ".join(move.uci() for move in game.mainline_moves())


def test_games_with_their_numbers_and_lines(tmp_path):
    found = texts(tmp_path, f"\n\n{ONE}\n\n{TWO}\n\n\n\n")
    assert found == [GameText(1, 3, ONE), GameText(2, 8, TWO)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings(tmp_path, encoding):
    found = texts(tmp_path, f"{ONE}\n\n{TWO}\n".encode(encoding))
    assert [text.text for text in found] == [ONE, TWO]
    assert parse(found[0]).headers["White"] == "Müller"


def test_a_file_that_only_begins_like_utf_16(tmp_path):
    with pytest.raises(OptionError, match=r"games.pgn: it begins like UTF-16, but is not valid UTF-16$"):
        texts(tmp_path, f"{ONE}\n".encode("utf-16") + b"\0")


def zstd(content):
    if sys.version_info >= (3, 14):
        from compression.zstd import compress

        return compress(content)
    import zstandard

    # As a stream: it does not say how long its content is. Nor do those of Lichess.
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return compressor.compress(content) + compressor.flush()


COMPRESSED = [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd)]


@pytest.mark.parametrize(("suffix", "compress"), COMPRESSED)
def test_compressed_files(tmp_path, suffix, compress):
    found = texts(tmp_path, compress(f"{ONE}\n\n{TWO}\n".encode()), f"games.pgn.{suffix}")
    assert [text.text for text in found] == [ONE, TWO]
    with pytest.raises(OptionError, match=f"cannot read .*games.pgn.{suffix}: "):
        texts(tmp_path, compress(ONE.encode() * 9)[:-9], f"games.pgn.{suffix}")


@pytest.mark.parametrize(("suffix", "compress"), COMPRESSED)
def test_compressed_parts_that_were_joined(tmp_path, suffix, compress):
    found = texts(tmp_path, compress(f"{ONE}\n\n".encode()) + compress(b"") + compress(f"{TWO}\n".encode()))
    assert [text.text for text in found] == [ONE, TWO]


def test_zstd_frames_to_be_skipped(tmp_path):
    """As pzstd writes them, the program that Lichess recommends."""
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0size"
    found = texts(tmp_path, skipped + zstd(f"{ONE}\n\n".encode()) + skipped + zstd(TWO.encode()))
    assert [text.text for text in found] == [ONE, TWO]


def test_zeros_of_a_crash_are_white_space(tmp_path):
    found = texts(tmp_path, f"{ONE}\n\n{chr(0) * 99}{TWO}\n{chr(0) * 99}")
    assert [parse(text).headers["White"] for text in found] == [
        parse(text).headers["White"] for text in texts(tmp_path, f"{ONE}\n\n{TWO}")
    ]


@pytest.mark.parametrize(("suffix", "compress"), COMPRESSED)
def test_damaged_compressed_files(tmp_path, suffix, compress):
    content = bytearray(compress(f"{ONE}\n\n{TWO}\n".encode()))
    content[len(content) // 2 :] = bytes(reversed(content[len(content) // 2 :]))
    with pytest.raises(OptionError, match=r"cannot read .*games.pgn: ."):
        texts(tmp_path, bytes(content))


def test_zstd_files_are_large(tmp_path):
    """Neither the length of a file nor how well it can be compressed matters, and UTF-16 is found in it."""
    games = f"{ONE}\n\n" * 20_000
    assert len(texts(tmp_path, zstd(games.encode("utf-16")), "games.pgn.zst")) == 20_000
    assert len(texts(tmp_path, zstd(games.encode()), "games")) == 20_000


def test_zstd_without_a_package(tmp_path, monkeypatch):
    name = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
    content = zstd(ONE.encode())
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(OptionError, match="needs the package zstandard: pip install zstandard"):
        texts(tmp_path, content)


@pytest.mark.parametrize("first", ["", "\n\n", "  \n"])
def test_lines_of_games_that_share_a_line(tmp_path, first):
    found = texts(tmp_path, f'{first}1. e4 * [White "x"] 1. d4 * [White "y"] 1. c4 *\n\n1. b4 * [White "z"] 1. a4 *\n')
    line = first.count("\n") + 1
    assert [text.line for text in found] == [line, line, line, line + 2, line + 2]


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(OptionError, match=r"cannot read .*nothing.pgn: No such file"):
        list(read_texts(tmp_path / "nothing.pgn"))
    with pytest.raises(OptionError, match="cannot read"):
        list(read_texts(tmp_path))


def test_an_empty_file_has_no_games(tmp_path):
    assert texts(tmp_path, "") == texts(tmp_path, "\n \n\n") == []


@pytest.mark.parametrize(
    "content",
    [
        f"{ONE}\n{TWO}",  # no empty line between
        f"{ONE} {{a comment without an end\n\n{TWO}",
        f'[Event "only"]\n[White "headers"]\n\n{TWO}',
        f'[Event "only"]\n[White "headers"]\n\n\n{TWO}',
        f"1. e4 e5 *\n\n{TWO}",
        f"{ONE}\n; {{ in a remark that ends with the line\n\n{TWO}",
    ],
)
def test_where_the_next_game_begins(tmp_path, content):
    first, second = texts(tmp_path, content)
    assert second.text == TWO
    assert f"{first.text}\n" in content


def test_the_same_games_as_python_chess_finds(tmp_path):
    content = f"{ONE}\n\n{TWO}\n\n1. c4 (1. Nf3 d5) c5 $1 *\n\n{ONE}\n"
    found = [parse(text) for text in texts(tmp_path, content)]
    with open(tmp_path / "games.pgn", encoding="utf-8") as stream:
        expected = [chess.pgn.read_game(stream) for _ in found]
        assert chess.pgn.read_game(stream) is None
    assert [str(game) for game in found] == [str(game) for game in expected]


@pytest.mark.parametrize("move", ["1. e4", "1. e2-e4"], ids=["the quick reader", "the careful reader"])
def test_the_backslashes_of_tags_are_not_part_of_their_values(tmp_path, move):
    name, place = '[White "The \\"Beast\\""]', '[Site "C:\\\\games é"]'
    file = tmp_path / "games.pgn"
    file.write_text(f"{name}\n{place}\n\n{move} *\n", encoding="utf-8")
    [record] = knightadder.read_games(file)
    [(text, game)] = read_games(file)
    for headers in (record.headers, headers_of(text), game.headers):
        assert (headers["White"], headers["Site"]) == ('The "Beast"', "C:\\games é")
    assert {name, place} < set(text_of(game).splitlines())


def test_comments_to_the_end_of_a_line_are_kept():
    text = (
        '[Event "x"]\n\n1. e4 ; best by test } {\n1... e5 {no ; remark} ;\n;a line\n'
        "2. Nf3 {over\n; two lines} Nc6 (2... d6 ; Philidor\n) 3. Bb5 *"
    )
    game = parse(GameText(1, 1, text))
    nodes = list(game.mainline())
    assert [node.san() for node in nodes] == ["e4", "e5", "Nf3", "Nc6", "Bb5"]
    assert [node.comment for node in nodes[:2]] == ["best by test ) {", "no ; remark a line"]
    assert nodes[2].comment.split() == ["over", ";", "two", "lines"]
    assert nodes[2].variations[1].comment == "Philidor"


def test_a_remark_between_tags_and_moves_is_a_comment_before_the_first_move():
    text = GameText(1, 1, '[Event "x"]\n; played\n% escaped\n\n; in the park\n1. e4 *')
    assert remarks(text) == "% escaped\n"
    assert parse(text).comment == "played in the park"


def test_remarks_before_a_game():
    text = GameText(1, 1, f"% escaped\n; a remark\n{ONE}")
    assert remarks(text) == "% escaped\n; a remark\n" and not parse(text).comment
    assert remarks(GameText(1, 1, ONE)) == ""
    assert parse(text).headers["Event"] == "one"
    assert parse(GameText(1, 1, "; nothing else\n% at all")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[Event "x"]\n\n1. e4 e5 2. Ke3 *', "illegal san: 'Ke3'"),
        ('[Event "x"]\n\n1. e4 (1. d4 Nf3) e5 *', "illegal san: 'Nf3'"),
        ('[Event "x"]\n\n1. Nf3 d5 2. Nd4 e5 3. Nc3 a6 4. Nb5 *', "ambiguous san: 'Nb5'"),
        ('[Event "x"]\n[FEN "nonsense"]\n\n1. e4 *', "nonsense"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "illegal position: White has 0 kings \\(8/8"),
        ('[FEN "4k3/8/8/8/8/8/8/4K2R b K - 0 1"]\n\n*', "no moves"),
        ('[FEN "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. Rxe8 *', r"the side that is not to move is in check \(4k3/4R3"),
        ('[Variant "Atomic"]\n\n1. e4 *', "atomic is not supported"),
        ('[Variant "Tiddlywinks"]\n\n1. e4 *', "tiddlywinks"),
        ('[Event "x]\n\n1. e4 *', r'malformed header: \[Event "x\]'),
        ("[Event x]\n\n1. e4 *", r"malformed header: \[Event x\]"),
        ('[Event "x"]\n\n*', "no moves"),
        ('[Event "x"]', "no moves"),
        ("Dear chess friends,", "cannot read .Dear. in line 1"),
        ("1. Ke4 ) e5 *", "illegal san: 'Ke4'"),
        ("h4 h3)f6", "illegal san: 'h3'"),
        ("1. e4 e4 ) e5 *", "illegal san: 'e4'"),
        ("1. e4 $" + "9" * 5000 + " e5 *", "cannot read '.999"),
        (
            '[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 ' + "9" * 5000 + '"]\n\n1. Kd2 *',
            "the move number must be a number up to 9999",
        ),
    ],
)
def test_broken_games(text, message, caplog):
    with pytest.raises(BrokenGame, match=f"(?i){message}"):
        parse(GameText(1, 1, text))
    assert not caplog.records


def test_chess960_and_games_from_positions():
    game = parse(
        GameText(
            1, 1, '[Variant "Chess960"]\n[FEN "bnrkrnqb/pppppppp/8/8/8/8/PPPPPPPP/BNRKRNQB w ECec - 0 1"]\n\n1. e4 *'
        )
    )
    assert game.board().chess960
    assert moves('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 *') == "e2e4 e8d7"


def test_null_moves():
    assert moves("1. e4 -- 2. d4 Z0 *") == "e2e4 0000 d2d4 0000"


def test_games_of_a_file_and_what_is_broken(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(f"{ONE}\n\n1. e4 Ke6 *\n\n{TWO}\n\n% a remark\n", encoding="utf-8")
    (first, one), (second, broken), (_, two) = read_games(file)
    assert (first.number, second.number, second.line) == (1, 2, 6)
    assert isinstance(broken, BrokenGame) and "Ke6" in str(broken)
    assert [game.headers["Event"] for game in (one, two)] == ["one", "two"]


@pytest.mark.parametrize("text", ["", " ", "?", "-", "????.??.??"])
def test_values_of_tags_that_say_nothing(text):
    assert known_value(text) == ""
    assert known_value(f" 1{text}") == f"1{text}".strip()


def test_the_files_that_a_command_names(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE.encode())))
    with game_files([Path("a.pgn"), STANDARD]) as ((name, file), (standard, copy)):
        assert (name, file, standard) == ("a.pgn", Path("a.pgn"), "standard input")
        assert [text.text for text in read_texts(copy)] == [ONE]
    assert not copy.exists()


def test_standard_input_that_cannot_be_copied_is_one_line(monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE.encode())))
    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with (
        pytest.raises(OptionError, match=r"^cannot copy standard input: No space left on device$"),
        game_files([Path("-")]),
    ):
        pass


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["annotate", "-"], "there is no game in standard input"),
        (["drills", "repertoire", "-", "--side", "white"], "there is no move of White in standard input"),
        (["suite", "-", "--nodes", "1"], "no position to solve in standard input"),
    ],
)
def test_a_closed_standard_input_is_empty(monkeypatch, capsys, command, message):
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(command) == 2
    assert capsys.readouterr().err == f"knightadder: {message}\n"
    sys.stdin.close()


def test_a_file_that_a_command_names_twice_is_read_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE.encode())))
    Path("a.pgn").write_text(ONE)
    Path("copy.pgn").write_text(ONE)
    other = f"{tmp_path}/a.pgn"
    with game_files(list(map(Path, ["-", "a.pgn", "copy.pgn", "-", "./a.pgn", other]))) as files:
        assert [name for name, _ in files] == ["standard input", "a.pgn", "copy.pgn"]
        assert [len(list(read_texts(file))) for _, file in files] == [1, 1, 1]
    names = "standard input", "a.pgn", other
    assert capsys.readouterr().err == "".join(
        f"knightadder: {name} is named twice, so it is read only once\n" for name in names
    )


@pytest.mark.skipif(os.name != "posix", reason="a pipe has no path")
def test_a_pipe_is_read_without_a_copy_of_the_caller():
    source, target = os.pipe()
    os.write(target, gzip.compress(ONE.encode()))
    os.close(target)
    assert [text.text for text in read_texts(Path(f"/dev/fd/{source}"))] == [ONE]
    os.close(source)


@pytest.mark.skipif(os.name != "posix", reason="a pipe has no path")
def test_a_pipe_that_a_command_names_is_read_as_often_as_needed():
    source, target = os.pipe()
    os.write(target, ONE.encode())
    os.close(target)
    with game_files([Path(f"/dev/fd/{source}")]) as [(name, copy)]:
        assert name == f"/dev/fd/{source}"
        for _ in range(2):
            assert [text.text for text in read_texts(copy)] == [ONE]
    os.close(source)
