"""Writes a review into its game: evaluations, marks, better lines, and headers."""

from __future__ import annotations

import chess.pgn

from knightadder import __version__
from knightadder.annotate.review import Review

# The marks that exclude each other: !, ?, !!, ??, !?, ?!.
_MARKS = frozenset(range(1, 7))

_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def annotate(game: chess.pgn.Game, review: Review) -> None:
    """Write a review into its game.

    Existing comments, marks, variations and opening names stay. An evaluation in a comment is replaced.

    Parameters
    ----------
    game : chess.pgn.Game
        The game.
    review : Review
        The review of the game. Its variations are written where a move is marked.
    """
    node: chess.pgn.GameNode = game
    for number, judgement in enumerate(review.judgements):
        before, after = review.evaluations[number : number + 2]
        move = node.variations[0]
        if after is not None and not _is_checkmate(after.depth, after.score):
            move.set_eval(after.score, after.depth or None)
        if judgement is not None and before is not None:
            if not _MARKS & move.nags:
                move.nags.add(judgement.nag)
            for variation in before.variations:
                _add(node, variation.moves, variation.score, before.depth)
        node = move
    _write_headers(game.headers, review)


def text_of(game: chess.pgn.Game) -> str:
    """Write a game in Portable Game Notation, without an empty line at its end."""
    return game.accept(_Exporter(columns=80))


class _Exporter(chess.pgn.StringExporter):
    """Ends the moves with a valid result, whatever the header says."""

    def visit_result(self, result: str) -> None:
        super().visit_result(result if result in _RESULTS else "*")


def _is_checkmate(depth: int, score: chess.engine.PovScore) -> bool:
    """Say whether the game is over by mate; then an evaluation cannot show who has won."""
    return depth == 0 and score.is_mate()


def _add(node: chess.pgn.GameNode, moves: tuple[chess.Move, ...], score: chess.engine.PovScore, depth: int) -> None:
    if node.has_variation(moves[0]):
        return
    first = node.add_variation(moves[0])
    first.set_eval(score, depth)
    if moves[1:]:
        first.add_line(moves[1:])


def _write_headers(headers: chess.pgn.Headers, review: Review) -> None:
    proposed = {"Annotator": f"Knightadder {__version__}"}
    if review.opening:
        proposed |= {"ECO": review.opening.eco, "Opening": review.opening.name}
    for name, value in proposed.items():
        if headers.get(name, "?").strip() in ("", "?", "-"):
            headers[name] = value
    for side, play in (("White", review.white), ("Black", review.black)):
        if play:
            headers[f"{side}Accuracy"] = f"{play.accuracy:.1f}"
            headers[f"{side}CentipawnLoss"] = str(play.centipawn_loss)
