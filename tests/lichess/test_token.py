"""Where the token comes from."""

import pytest

from knightadder.engine.errors import OptionError
from knightadder.lichess.token import read_token


def test_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LICHESS_TOKEN", "lip_environment\n")
    assert read_token("") == "lip_environment"
    file = tmp_path / "token"
    file.write_text("  lip_file\r\n", "utf-8")
    assert read_token(str(file)) == "lip_file"


@pytest.mark.parametrize("content", [b"", b" \n", b"lip_one\nlip_two", b"lip\x00secret", b"\xff\xfe", "lip_ä".encode()])
def test_what_is_no_token_is_refused_and_not_shown(tmp_path, content):
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(OptionError, match="contains no valid token: expected one word") as caught:
        read_token(str(file))
    assert "lip" not in str(caught.value).replace(str(file), "")


def test_none_at_all(tmp_path, monkeypatch):
    monkeypatch.delenv("LICHESS_TOKEN", raising=False)
    with pytest.raises(OptionError, match="no token: set LICHESS_TOKEN"):
        read_token("")
    with pytest.raises(OptionError, match="cannot read"):
        read_token(str(tmp_path / "missing"))
