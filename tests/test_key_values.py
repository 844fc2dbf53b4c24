"""Words of the form ``key=value``: what is read, and what is wrong with one."""

import pytest

from knightadder.arguments import KeyValues
from knightadder.engine.errors import OptionError

KEYS = ("name", "nodes", "option.")


def test_the_value_is_all_behind_the_first_equals_sign():
    words = ["name=a=b c", "option.Move Overhead=3", "option.x.y=", "nodes=1", "nodes=2"]
    assert KeyValues.read(words, KEYS, "--each") == {
        "name": "a=b c",
        "option.Move Overhead": "3",
        "option.x.y": "",
        "nodes": "2",
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("name", "--each name: expected KEY=VALUE"),
        ("hash=3", "--each hash=3: unknown key hash; the keys are name, nodes, option.NAME"),
        ("=3", "unknown key ; "),
        ("option=3", "unknown key option; "),
        ("option.=3", "unknown key option.; "),
        ("name.x=3", "unknown key name.x; "),
    ],
)
def test_words_that_are_refused(word, message):
    with pytest.raises(OptionError) as caught:
        KeyValues.read([word], KEYS, "--each")
    assert message in str(caught.value)


def test_values_of_each_type():
    values = KeyValues(st="0.5", score="-3", order="random")
    assert values.number("st", None) == 0.5
    assert values.whole("score", 10, -5) == -3
    assert values.choice("order", ("random", "sequential"), None) == "random"


def test_what_is_missing_is_usual():
    values = KeyValues()
    assert (values.number("st", None, 1), values.whole("score", -10), values.choice("order", (), "x")) == (
        None,
        -10,
        "x",
    )


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("number", "x", "expected a number"),
        ("number", "0.99", "expected 1 or more"),
        ("number", "nan", "expected a number"),
        ("number", "inf", "expected a number"),
        ("number", "1e999", "expected a smaller number"),
        ("whole", "x", "expected a whole number"),
        ("whole", "1.5", "expected a whole number"),
        ("whole", "0", "expected 1 or more"),
        ("whole", "99999999999999999999", "expected a smaller number"),
    ],
)
def test_numbers_that_are_refused(method, text, message):
    with pytest.raises(OptionError) as caught:
        getattr(KeyValues(key=text), method)("key", None, 1)
    assert str(caught.value) == f"key={text}: {message}"


def test_another_word_is_refused():
    with pytest.raises(OptionError, match=r"^order=back: expected random or sequential$"):
        KeyValues(order="back").choice("order", ("random", "sequential"), None)
