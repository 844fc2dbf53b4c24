"""When to resign, to offer a draw and to accept one."""

import pytest

from knightadder.engine.errors import OptionError
from knightadder.engine.info import Score
from knightadder.engine.settlement import Settlement

MATED, MATES = Score(mate=-3), Score(mate=3)


@pytest.mark.parametrize(
    ("scores", "move_number", "options", "decisions"),
    [
        # Four bad moves in a row, by default.
        ([-900, -900, -900], 10, {}, "accepts"),
        ([-900, -2000, -900, -901], 10, {}, "resigns accepts"),
        ([-900, -900, -899, -900], 10, {}, "accepts"),
        ([-900, -900, -900, -900, 0], 10, {}, ""),
        ([900, 900, 900, 900], 10, {}, ""),
        ([MATED] * 4, 10, {}, "resigns accepts"),
        ([MATES] * 4, 10, {}, ""),
        ([-500, -500], 10, {"Resign Score": 500, "Resign Moves": 2}, "resigns accepts"),
        ([-5000] * 5, 10, {"Resign Score": 0}, "accepts"),
        ([-5000] * 5, 10, {"Resign Moves": 0}, "accepts"),
        # A draw after eight level moves, from a move number on, by default; or at any move if the position is lost.
        ([10] * 7, 60, {}, ""),
        ([10, -10] * 4, 60, {}, "offers accepts"),
        ([10] * 7 + [11], 60, {}, ""),
        ([10] * 7 + [-11], 60, {}, "accepts"),
        ([0] * 20, 34, {}, ""),
        ([0] * 20, 35, {}, "offers accepts"),
        ([-300] * 8, 60, {}, "accepts"),
        ([-300] * 7 + [11], 60, {}, ""),
        ([-300, -9000], 2, {}, "accepts"),
        ([-299, -9000], 2, {}, ""),
        ([-9000], 2, {}, ""),
        ([50] * 8, 60, {"Draw Score": 50}, "offers accepts"),
        ([0] * 8, 60, {"Draw Score": 0}, ""),
        ([-9000, -9000], 2, {"Draw Score": 0}, ""),
    ],
)
def test_scores_decide(scores: list[int | Score], move_number: int, options: dict[str, int], decisions: str) -> None:
    settlement = Settlement()
    for name, value in options.items():
        settlement.set(name, str(value))
    for score in scores:
        settlement.note(score if isinstance(score, Score) else Score(cp=score), move_number)
    found = settlement.resigns(), settlement.offers_draw(), settlement.accepts_draw()
    assert found == tuple(decision in decisions for decision in ("resigns", "offers", "accepts"))
    settlement.reset()  # a new game forgets the scores
    assert not (settlement.resigns() or settlement.offers_draw() or settlement.accepts_draw())


def test_a_draw_is_not_offered_again_at_once_but_in_a_new_game() -> None:
    settlement = Settlement()

    def offers(moves: int) -> list[bool]:
        found = []
        for _ in range(moves):
            settlement.note(Score(cp=0), 60)
            found.append(settlement.offers_draw())
        return found

    assert offers(19) == [False] * 7 + [True] + [False] * 9 + [True, False]
    settlement.reset()
    assert offers(8) == [False] * 7 + [True]


@pytest.mark.parametrize(("name", "value"), [("Contempt", "3"), ("Draw Score", "-1"), ("Resign Moves", "many")])
def test_bad_options_are_refused(name: str, value: str) -> None:
    with pytest.raises(OptionError):
        Settlement().set(name, value)
