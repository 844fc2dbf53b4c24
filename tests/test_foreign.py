"""What others have written or damaged: a value of the expected type, or one kind of error, whatever it is."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightadder.foreign import MOST, parse_json, parse_toml, parse_whole, whole_or_none

TOO_MUCH = [
    "[" * 100_000 + "]" * 100_000,
    "1e999",
    "-1e999",
    "9" * 400,
    "-" + "9" * 5000,
    str(MOST + 1),
    "NaN",
    "Infinity",
]


@dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.0


@pytest.mark.parametrize("text", [*TOO_MUCH, "", "{", "{}x", "'a'", "\x00"])
def test_json_that_nobody_can_use_is_a_value_error(text: str) -> None:
    for around in ("{}", "[{}]", '{{"a": {}}}'):
        whole = around.format(text) if text in TOO_MUCH else text
        for data in (whole, whole.encode()):
            with pytest.raises(ValueError, match=r"."):
                parse_json(data)


@pytest.mark.parametrize("data", [b"\xff", b"\xff\xfe[\x00]\x00", None, 5])
def test_what_is_no_text_is_a_value_error(data) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-MOST, MOST) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES)
def test_other_json_is_read_as_python_reads_it(value) -> None:
    assert parse_json(json.dumps(value)) == value


def test_a_name_that_is_not_text_comes_back() -> None:
    assert parse_json(json.dumps("a\udce9.pgn")) == "a\udce9.pgn"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"x": 1.5}', Point),
        ('{"x": "1"}', Point),
        ('{"x": true}', Point),
        ('{"y": 1}', Point),
        ("[1]", Point),
        ('{"x": null}', dict[str, int]),
        ("[1, 2]", tuple[int, int, int]),
    ],
)
def test_another_type_is_a_value_error(text: str, kind) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text, kind)


def test_the_expected_type_is_made() -> None:
    assert parse_json('{"x": 1, "y": 2, "more": 3}', Point) == Point(1, 2.0)


@pytest.mark.parametrize(
    "value", ["[" * 5000 + "]" * 5000, "1e999", "inf", "nan", "9" * 400, "9" * 5000, str(MOST + 1)]
)
def test_toml_that_nobody_can_use_is_a_value_error(value: str) -> None:
    for text in (f"a = {value}", f"[[b]]\nc = [{value}]"):
        with pytest.raises(ValueError, match=r"."):
            parse_toml(text.encode())


def test_other_toml_is_read() -> None:
    assert parse_toml(b'\xef\xbb\xbfa = 1\r\n[b]\r\nc = ["x", 2.5]\r\n') == {"a": 1, "b": {"c": ["x", 2.5]}}
    with pytest.raises(ValueError, match=r"."):
        parse_toml(b"a = '\xff'")


@pytest.mark.parametrize(
    "text",
    ["", "-", "+", "1.0", "1e3", " 1", "1_", "_1", "1__0", "-_1", "--1", "\u0663", "\u00b2", "9" * 400, "9" * 5000],
)
def test_what_is_no_usable_whole_number_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_whole(text)


@pytest.mark.parametrize("text", ["", "-1", "1.0", "1_0", "\u0663", "\u00b2", "9" * 5000])
def test_what_is_no_usable_whole_number_may_be_none(text: str) -> None:
    assert whole_or_none(text) is None


@given(st.integers(-MOST, MOST))
def test_whole_numbers(number: int) -> None:
    assert parse_whole(str(number)) == number
    assert parse_whole(f"{number:+}") == number
    assert parse_whole(f"{number:_}") == number
    assert whole_or_none(str(abs(number))) == abs(number)
