"""Writes a review into its game: evaluations, marks, better lines, and headers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import chess.pgn

from knightadder import __version__
from knightadder.pgn.games import known_value
from knightadder.review.coach import with_explanation
from knightadder.review.game_evaluation import SearchedPosition
from knightadder.review.review import Review

# The marks !, ?, !!, ??, !? and ?!, of which a move can have only one.
MARKS = frozenset(range(1, 7))
_OWN = re.compile(r"(.+ \()?Knightadder [0-9][^ ()]*\)?")  # the header Annotator as the program writes it
_MISSED = "Missed chance."  # written into the comment, because PGN has no glyph for it


def annotate(game: chess.pgn.Game, review: Review, engine: str | None = None, explain: bool = True) -> int:
    """Write the review of the main line of a game into the game and its headers; return how many moves keep a mark that
    differs from the review.

    Existing comments, marks, variations and opening names are kept; evaluations are replaced. Better lines become
    variations at each bad move. With `explain`, comments explain bad moves and name missed chances. `engine` is the
    name of an external engine.
    """
    line = [game, *game.mainline()]
    annotate_line(line, review)
    if explain:
        for node, fault, missed in zip(line[1:], review.faults, review.missed_chances, strict=True):
            if fault:
                node.comment = with_explanation(node.comment, fault.text)
            if missed and _MISSED not in node.comment:
                node.comment = f"{node.comment} {_MISSED}".lstrip()
    write_headers(game.headers, review, engine)
    wanted = [{judgement.nag} if judgement else set() for judgement in review.judgements]
    return sum(move.nags & MARKS != mark for move, mark in zip(line[1:], wanted, strict=True))


def annotate_line(nodes: Sequence[chess.pgn.GameNode], review: Review) -> None:
    """Write the review of a line into its nodes, which `nodes` lists from the first position to the last."""
    for number, judgement in enumerate(review.judgements):
        before, after = review.evaluations[number : number + 2]
        node, move = nodes[number : number + 2]
        if after is not None:
            write_evaluation(move, after)
        if judgement is not None and not MARKS & move.nags:
            move.nags.add(judgement.nag)
        if judgement is not None and judgement.is_bad and before is not None:
            for variation in before.variations:
                _add(node, variation.moves, variation.score, before.depth)


def write_evaluation(node: chess.pgn.GameNode, evaluation: SearchedPosition) -> None:
    """Write the evaluation of a position into its comment, except at checkmate, where it could not name the winner."""
    if evaluation.depth or not evaluation.score.is_mate():
        node.set_eval(evaluation.score, evaluation.depth or None)


def _add(node: chess.pgn.GameNode, moves: tuple[chess.Move, ...], score: chess.engine.PovScore, depth: int) -> None:
    if node.has_variation(moves[0]):
        return
    first = node.add_variation(moves[0])
    first.set_eval(score, depth)
    if moves[1:]:
        first.add_line(moves[1:])


def write_headers(headers: chess.pgn.Headers, review: Review, engine: str | None = None) -> None:
    """Write a review into the headers: accuracy and loss, and also annotator and opening if they are missing."""
    program = f"Knightadder {__version__}"
    proposed = {"Annotator": f"{engine} ({program})" if engine else program}
    if review.opening:
        opening = {"ECO": review.opening.eco, "Opening": review.opening.name}
        if all(known_value(headers.get(name, "")) in ("", value) for name, value in opening.items()):
            proposed |= opening
    for name, value in proposed.items():
        # The Annotator of an earlier run is replaced, because its evaluations are replaced.
        if not known_value(headers.get(name, "")) or (name == "Annotator" and _OWN.fullmatch(headers[name])):
            headers[name] = value
    for side, play in (("White", review.white), ("Black", review.black)):
        if play:
            headers[f"{side}Accuracy"] = f"{play.accuracy:.1f}"
            headers[f"{side}CentipawnLoss"] = str(play.centipawn_loss)
