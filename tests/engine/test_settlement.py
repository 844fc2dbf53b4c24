"""When to resign, to offer a draw and to accept one."""

import pytest

from knightadder.engine.errors import OptionError
from knightadder.engine.info import Score
from knightadder.engine.settlement import Settlement


def after(*scores: int, move_number: int = 60, **options: int) -> Settlement:
    """Give a settlement after these scores in centipawns; options with _ for spaces."""
    settlement = Settlement()
    for name, value in options.items():
        settlement.set(name.replace("_", " "), str(value))
    for score in scores:
        settlement.note(Score(cp=score), move_number)
    return settlement


def test_the_engine_resigns_after_four_bad_moves_in_a_row() -> None:
    assert not after(-900, -900, -900).resigns()
    assert after(-900, -2000, -900, -901).resigns()
    assert not after(-900, -900, -899, -900).resigns()
    assert not after(-900, -900, -900, -900, 0).resigns()
    assert not after(900, 900, 900, 900).resigns()


def test_when_to_resign_can_be_set_or_turned_off() -> None:
    assert after(-500, -500, Resign_Score=500, Resign_Moves=2).resigns()
    assert not after(-5000, -5000, -5000, -5000, -5000, Resign_Score=0).resigns()
    assert not after(-5000, -5000, -5000, -5000, -5000, Resign_Moves=0).resigns()


def test_to_be_mated_is_bad_and_to_mate_is_not() -> None:
    for mate, resigns in ((-3, True), (3, False)):
        settlement = Settlement()
        for _ in range(4):
            settlement.note(Score(mate=mate), 10)
        assert settlement.resigns() == resigns


def test_a_draw_is_offered_after_eight_level_moves() -> None:
    assert not after(*[10] * 7).offers_draw()
    assert after(*[10, -10] * 4).offers_draw()
    assert not after(*[10] * 7, 11).offers_draw()
    assert not after(*[10] * 7, -11).offers_draw()


def test_a_draw_is_not_offered_early() -> None:
    assert not after(*[0] * 20, move_number=34).offers_draw()
    assert after(*[0] * 20, move_number=35).offers_draw()


def test_a_draw_is_not_offered_again_at_once() -> None:
    settlement = after(*[0] * 8)
    offers = []
    for _ in range(12):
        offers.append(settlement.offers_draw())
        settlement.note(Score(cp=0), 60)
    assert offers == [True] + [False] * 9 + [True, False]


def test_a_draw_is_accepted_if_the_scores_were_level_or_worse() -> None:
    assert after(*[10] * 8).accepts_draw()
    assert after(*[-300] * 8).accepts_draw()
    assert not after(*[-300] * 7, 11).accepts_draw()
    assert not after(*[0] * 7).accepts_draw()
    assert not after(*[0] * 8, move_number=34).accepts_draw()


def test_a_draw_is_accepted_at_any_move_if_the_position_is_lost() -> None:
    assert after(-300, -9000, move_number=2).accepts_draw()
    assert not after(-299, -9000, move_number=2).accepts_draw()
    assert not after(-9000, move_number=2).accepts_draw()
    assert not after(-9000, -9000, move_number=2, Draw_Score=0).accepts_draw()


def test_the_draw_score_can_be_set_or_turned_off() -> None:
    assert after(*[50] * 8, Draw_Score=50).offers_draw()
    assert after(*[50] * 8, Draw_Score=50).accepts_draw()
    assert not after(*[0] * 8, Draw_Score=0).offers_draw()
    assert not after(*[0] * 8, Draw_Score=0).accepts_draw()


def test_a_new_game_forgets_the_scores() -> None:
    settlement = after(*[-1000] * 8)
    settlement.reset()
    assert not settlement.resigns()
    settlement.note(Score(cp=-1000), 60)
    assert not settlement.resigns()


@pytest.mark.parametrize(("name", "value"), [("Contempt", "3"), ("Draw Score", "-1"), ("Resign Moves", "many")])
def test_bad_options_are_refused(name: str, value: str) -> None:
    with pytest.raises(OptionError):
        Settlement().set(name, value)
