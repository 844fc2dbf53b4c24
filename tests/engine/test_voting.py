"""The vote of the threads."""

from hypothesis import given
from hypothesis import strategies as st

from knightadder.engine.core_scores import MATE
from knightadder.engine.info import Bound
from knightadder.engine.search_thread import Variation, vote

A, B, C = 1, 2, 3
MATE_IN_TWO, MATE_IN_THREE = MATE - 3, MATE - 5


def line(move: int, score: int, depth: int) -> Variation:
    return Variation(depth, depth, score, Bound.EXACT, (move, 9))


LINES = st.lists(st.builds(line, st.integers(1, 4), st.integers(-32_000, 32_000), st.integers(1, 128)), min_size=1)


def test_one_line_is_chosen_and_so_is_the_first_when_all_agree() -> None:
    assert vote([line(A, -700, 1)]) == 0
    assert vote([line(A, 10, 8), line(A, 30, 12), line(A, 20, 9)]) == 0


def test_depth_and_score_weigh() -> None:
    # The worst score is 0, so that the weights are 14, (5 + 14) and depth times these.
    assert vote([line(A, 0, 10), line(B, 0, 11)]) == 1
    assert vote([line(A, 0, 10), line(B, 5, 10)]) == 1
    assert vote([line(A, 0, 14), line(B, 5, 10)]) == 0  # 196 to 190
    assert vote([line(A, 0, 13), line(B, 5, 10)]) == 1  # 182 to 190


def test_several_threads_outvote_a_deeper_one() -> None:
    lines = [line(A, 20, 14), line(B, 18, 11), line(C, 15, 12), line(B, 19, 10)]
    assert vote(lines) == 1  # of those for B, the one with more weight: 11 * 17 to 10 * 18
    assert vote([*lines, line(A, 18, 7)]) == 0


def test_the_main_thread_stays_when_its_move_wins_though_another_saw_further() -> None:
    assert vote([line(A, 10, 9), line(A, 40, 12), line(B, 0, 12)]) == 0


def test_a_proved_mate_wins_and_the_shortest_of_several() -> None:
    assert vote([line(A, 900, 30), line(B, MATE_IN_THREE, 6), line(A, 900, 30)]) == 1
    assert vote([line(A, MATE_IN_THREE, 30), line(B, MATE_IN_TWO, 6)]) == 1
    assert vote([line(A, MATE_IN_TWO, 6), line(B, MATE_IN_TWO, 9)]) == 0


def test_who_is_not_mated_outvotes_who_is() -> None:
    assert vote([line(A, 4 - MATE, 20), line(A, 4 - MATE, 20), line(B, -500, 15)]) == 2


@given(LINES)
def test_more_depth_for_the_move_chosen_changes_nothing(lines: list[Variation]) -> None:
    chosen = lines[vote(lines)]
    deeper = [line(each.moves[0], each.score, each.depth + 5 * (each.moves == chosen.moves)) for each in lines]
    assert lines[vote(deeper)].moves == chosen.moves
