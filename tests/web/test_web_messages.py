"""Messages of the page: what is read, and what is refused."""

import json
from typing import get_args

import pytest

from knightadder.web import messages
from knightadder.web.messages import MAX_MESSAGE, MAX_PGN, MessageError, parse


def test_a_message_is_read_with_its_defaults():
    assert parse('{"type": "analyse", "on": true}') == messages.Analyse(on=True, lines=1)
    new = parse('{"type": "new_game", "color": "black", "elo": 1600, "initial": 300, "increment": 2.5}')
    assert new == messages.NewGame("black", 1600, 300, 2.5)
    assert (new.start, new.number, new.move_time) == ("standard", None, 1.0)
    assert parse('{"type": "take_back"}') == messages.TakeBack()


def test_each_type_of_message_has_its_name():
    names = (
        "new_game play play_line preview take_back resign offer_draw hint draw go_to delete promote remark reorder "
        "analyse switch_other configure evaluate moments retry worths load_fen check_fen load_pgn "
        "choose_game save_game open_saved restore undo redo"
    )
    assert [kind.__struct_config__.tag for kind in get_args(messages.Message)] == names.split()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "truncated"),
        ("nonsense", "JSON is malformed"),
        ("[" * 100_000, "Expected `object`"),
        ("[1]", "Expected `object`"),
        ("null", "Expected `object`"),
        ("{}", "missing required field `type`"),
        ('{"type": "shout"}', "'shout' - at `$.type`"),
        (json.dumps({"type": "shout\n" * 100}), "shout shout shout"),
        ('{"type": ["play"]}', "at `$.type`"),
        ('{"type": "go_to"}', "missing required field `node`"),
        ('{"type": "go_to", "node": "1"}', "Expected `int`, got `str` - at `$.node`"),
        ('{"type": "go_to", "node": -1}', "at `$.node`"),
        ('{"type": "go_to", "node": true}', "at `$.node`"),
        ('{"type": "go_to", "node": 1.0}', "at `$.node`"),
        ('{"type": "go_to", "node": 1, "more": 2}', "unknown field `more`"),
        ('{"type": "new_game", "color": "green"}', "'green' - at `$.color`"),
        ('{"type": "new_game", "color": "white", "elo": 100}', "at `$.elo`"),
        ('{"type": "new_game", "color": "white", "initial": 0}', "at `$.initial`"),
        ('{"type": "new_game", "color": "white", "initial": NaN}', "JSON is malformed"),
        ('{"type": "new_game", "color": "white", "initial": 1e999}', "at `$.initial`"),
        ('{"type": "new_game", "color": "white", "increment": 3601}', "at `$.increment`"),
        ('{"type": "new_game", "color": "white", "move_time": 0}', "at `$.move_time`"),
        ('{"type": "new_game", "color": "white", "start": "there"}', "at `$.start`"),
        ('{"type": "new_game", "color": "white", "start": "chess960", "number": 960}', "at `$.number`"),
        ('{"type": "analyse", "on": 1}', "Expected `bool`, got `int` - at `$.on`"),
        ('{"type": "analyse", "on": true, "lines": 99}', "at `$.lines`"),
        ('{"type": "play", "node": 0, "move": ["e2e4"]}', "at `$.move`"),
        (json.dumps({"type": "play", "node": 0, "move": "x" * 17}), "at `$.move`"),
        ('{"type": "preview", "node": 0, "moves": "e2e4"}', "Expected `array`, got `str` - at `$.moves`"),
        ('{"type": "preview", "node": 0, "moves": []}', "at `$.moves`"),
        (json.dumps({"type": "preview", "node": 0, "moves": ["e2e4"] * 65}), "at `$.moves`"),
        ('{"type": "preview", "node": 0, "moves": [1]}', "at `$.moves[0]`"),
        ('{"type": "preview", "node": 0, "moves": ["e2e4e5"]}', "at `$.moves[0]`"),
        (json.dumps({"type": "load_fen", "fen": "x" * 201}), "at `$.fen`"),
        (json.dumps({"type": "check_fen", "fen": "x" * 201}), "at `$.fen`"),
        (json.dumps({"type": "load_fen", "fen": "\ud800"}), "bad message"),
        ('{"type": "load_fen", "fen": "\ud800"}', "surrogates"),
        (json.dumps({"type": "load_pgn", "pgn": "", "index": -1}), "at `$.index`"),
    ],
)
def test_bad_messages_are_refused(text, complaint):
    with pytest.raises(MessageError) as caught:
        parse(text)
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


_FULL = "1. e4 e5 *\n" * (MAX_PGN // 11) + " " * (MAX_PGN % 11)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_pgn_of_the_most_bytes_fits_into_a_message(encoding, raw):
    content = _FULL.encode(encoding)[:MAX_PGN]
    text = content.decode("latin-1") if raw else content.decode(encoding)
    sent = json.dumps({"type": "load_pgn", "pgn": text, "raw": raw})
    assert len(sent) <= MAX_MESSAGE
    assert parse(sent).content() == (content if raw else text.encode())


@pytest.mark.parametrize("longer", [{"pgn": _FULL + "x"}, {"pgn": _FULL + "x", "raw": True}, {"pgn": _FULL[:-1] + "ü"}])
def test_a_longer_pgn_is_refused(longer):
    message = parse(json.dumps({"type": "load_pgn", **longer}))
    with pytest.raises(MessageError, match="the PGN has more than 512 KB"):
        message.content()


def test_a_bad_message_does_not_end_the_tab(tab):
    for text in ("nonsense", '{"type": "shout"}', '{"type": "play", "node": 99, "move": "e4"}'):
        tab.newest.pop("error", None)
        tab.send_text(text)
        tab.settle()
        assert tab.error["text"]
    for move in ("e2e5", "Ke3", "0000", "--", "", "e7e8q"):
        tab.newest.pop("error", None)
        tab.play(move)
        assert tab.error["text"] == f"the move {move} is not legal here"
    assert tab.play("e4").sans == ["e4"]


@pytest.mark.parametrize("kind", ["play_line", "preview"])
def test_a_line_with_an_illegal_move_is_refused_whole(tab, kind):
    tab.ask(kind, node=0, moves=["e2e4", "e2e4"])
    assert tab.error["text"] == "the move e2e4 is not legal here" and tab.sans == []
