"""Waiting: exponential backoff, and a clock."""

from queue import SimpleQueue

import pytest

from knightadder.lichess.timers import Backoff, Timer


@pytest.mark.parametrize(("drawn", "share"), [(0.0, 0.5), (1.0, 1.0)])
def test_waits_double_up_to_the_most_and_are_drawn_from_their_upper_half(drawn, share):
    backoff = Backoff(first=1, most=10, draw=lambda: drawn)
    assert [backoff.next() for _ in range(6)] == [share * longest for longest in (1, 2, 4, 8, 10, 10)]


def test_after_a_success_waits_are_short_again():
    backoff = Backoff(first=1, draw=lambda: 1.0)
    for _ in range(2000):  # beyond what a float could hold as a power of two
        backoff.next()
    backoff.reset()
    assert backoff.next() == 1


def test_nothing_comes_from_an_empty_queue():
    queue = SimpleQueue()
    assert Timer().get(queue, 0.001) is None
    queue.put("something")
    assert Timer().get(queue, None) == "something"
