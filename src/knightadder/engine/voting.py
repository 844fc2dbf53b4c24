"""Vote among the threads, which searched the same position, for the line to play."""

from collections import defaultdict
from collections.abc import Sequence

from knightadder.core.search import transposition
from knightadder.engine.search_thread import Variation

MATE_FOUND = int(transposition.MATE_FOUND)

_WORST_COUNTS = 14  # centipawns added to every score, so that the vote of the thread with the worst score counts too


def vote(lines: Sequence[Variation]) -> int:
    """Choose one of several threads' best lines.

    Each line votes for its first move, with a weight of its depth times how much its score exceeds the worst of all.
    The formula is Stockfish's. One exception: a mate that one thread has proved is played, whatever the votes.

    Parameters
    ----------
    lines : sequence of Variation
        At least one, the main thread's first; that one is chosen if its move wins.

    Returns
    -------
    int
        Index of the line chosen.
    """
    scores = [line.score for line in lines]
    best_score, worst_score = max(scores), min(scores)
    if best_score >= MATE_FOUND:
        return scores.index(best_score)
    weights = [(line.score - worst_score + _WORST_COUNTS) * line.depth for line in lines]
    votes: dict[int, int] = defaultdict(int)
    for line, weight in zip(lines, weights, strict=True):
        votes[line.moves[0]] += weight
    most = max(votes.values())
    winners = [index for index, line in enumerate(lines) if votes[line.moves[0]] == most]
    return 0 if 0 in winners else max(winners, key=weights.__getitem__)
