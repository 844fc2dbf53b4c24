"""Messages of the page: what is read, and what is refused."""

import json

import pytest

from knightadder.web import messages
from knightadder.web.messages import MAX_CHARACTERS, MessageError, parse


def test_a_message_is_read_with_its_defaults():
    assert parse('{"type": "analyse", "on": true}') == messages.Analyse(on=True, lines=1)
    new = parse('{"type": "new_game", "color": "black", "elo": 1600, "initial": 300, "increment": 2.5}')
    assert new == messages.NewGame("black", 1600, 300, 2.5)
    assert (new.start, new.number, new.move_time) == ("standard", None, 1.0)
    assert parse('{"type": "take_back"}') == messages.TakeBack()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{}", "unknown type of message: null"),
        ('{"type": "shout"}', 'unknown type of message: "shout"'),
        ('{"type": ["play"]}', "unknown type"),
        ('{"type": "go_to"}', "go_to: node is missing"),
        ('{"type": "go_to", "node": "1"}', 'go_to: node must be a whole number from 0 to 1000000000, not "1"'),
        ('{"type": "go_to", "node": -1}', "node must be"),
        ('{"type": "go_to", "node": true}', "node must be"),
        ('{"type": "go_to", "node": 1.0}', "node must be"),
        ('{"type": "go_to", "node": 1, "more": 2}', 'go_to: unknown field "more"'),
        ('{"type": "new_game", "color": "green"}', "color must be white or black or random"),
        ('{"type": "new_game", "color": "white", "elo": 100}', "elo must be"),
        ('{"type": "new_game", "color": "white", "initial": NaN}', "initial must be"),
        ('{"type": "new_game", "color": "white", "initial": 1e999}', "initial must be"),
        ('{"type": "new_game", "color": "white", "start": "chess960", "number": 960}', "number must be"),
        ('{"type": "analyse", "on": 1}', "on must be true or false"),
        ('{"type": "analyse", "on": true, "lines": 99}', "lines must be"),
        ('{"type": "play", "node": 0, "move": ["e2e4"]}', "move must be a text"),
        ('{"type": "preview", "node": 0, "moves": "e2e4"}', "moves must be a list of moves"),
        ('{"type": "preview", "node": 0, "moves": []}', "moves must be a list of moves"),
        ('{"type": "preview", "node": 0, "moves": [1]}', "moves must be a list of moves"),
        (json.dumps({"type": "load_fen", "fen": "x" * 201}), "fen must be a text of at most 200 letters"),
        (json.dumps({"type": "load_pgn", "pgn": "x" * MAX_CHARACTERS}), "longer than"),
    ],
)
def test_bad_messages_are_refused(text, complaint):
    with pytest.raises(MessageError) as caught:
        parse(text)
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


def test_a_bad_message_does_not_end_the_tab(tab):
    for text in ("nonsense", '{"type": "shout"}', '{"type": "play", "node": 99, "move": "e4"}'):
        tab.newest.pop("error", None)
        tab.send_text(text)
        tab.settle()
        assert tab.error["text"]
    for move in ("e2e5", "Ke3", "0000", "--", "", "e7e8q"):
        tab.newest.pop("error", None)
        tab.play(move)
        assert tab.error["text"] == f"{move} is not a legal move here"
    assert tab.play("e4").sans == ["e4"]


@pytest.mark.parametrize("kind", ["play_line", "preview"])
def test_a_line_with_an_illegal_move_is_refused_whole(tab, kind):
    tab.ask(kind, node=0, moves=["e2e4", "e2e4"])
    assert tab.error["text"] == "e2e4 is not a legal move here" and tab.sans == []
