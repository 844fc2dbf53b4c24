"""The fuzz script: damage is repeatable, and a finding is reported once, with its input."""

from __future__ import annotations

from random import Random

import fuzz


def test_damage_is_repeatable() -> None:
    first, again = ([fuzz.damaged(b"some data" * 9, Random(seed)) for seed in range(50)] for _ in range(2))
    assert first == again
    assert sum(data != b"some data" * 9 for data in first) > 40


def test_a_finding_is_reported_once_with_its_input(tmp_path, capsys) -> None:
    findings = fuzz.Findings(tmp_path / "out")
    for data in (b"one", b"two"):
        findings.add("pgn", "ValueError", data)
    assert capsys.readouterr().out.count("ValueError") == 1
    assert (tmp_path / "out" / "pgn-1").read_bytes() == b"one"
    assert findings.kinds == {"ValueError": 2}


def test_no_game_is_lost_or_invented_without_a_word(tmp_path) -> None:
    findings = fuzz.Findings(tmp_path)
    assert fuzz.games(Random(1), findings) == 50
    assert findings.kinds == {}


def test_a_reader_that_loses_or_invents_a_game_is_found(tmp_path, monkeypatch) -> None:
    from knightadder.pgn import games

    texts_of, findings = games.texts_of, fuzz.Findings(tmp_path)
    monkeypatch.setattr(games, "texts_of", lambda content: list(texts_of(content))[:-1])
    fuzz.games(Random(1), findings)
    monkeypatch.setattr(games, "texts_of", lambda content: [*texts_of(content), games.GameText(9, 9, "1. e4 *")])
    fuzz.games(Random(1), findings)
    assert {"a part of the file is in no game", "a sound game is not found"} <= set(findings.kinds)


def test_random_positions_are_mostly_readable() -> None:
    assert len({fuzz.random_fen(Random(seed)) for seed in range(50)}) > 45
