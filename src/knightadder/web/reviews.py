"""The engine's evaluations of a tree's positions, and the reviews of its lines: marks, accuracy, opening.

The package `knightadder.review` judges moves and writes reviews into games. It is imported late, because it loads many
modules of the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import chess.engine
import chess.pgn
from chess.engine import PovScore

from knightadder.library.scores import score_text
from knightadder.web.gametree import MAX_NODES, GameTree
from knightadder.web.messages import FULL_NODES

if TYPE_CHECKING:
    from knightadder.review.game_evaluation import SearchedPosition
    from knightadder.review.judgement import Judgement
    from knightadder.review.review import Review

_ANNOTATOR = "Annotator"  # a header that stays when a review is forgotten, because its marks stay too

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search a position: `seconds` if given, otherwise a number of nodes."""

    nodes: int = FULL_NODES
    seconds: float | None = None

    def limit(self) -> chess.engine.Limit:
        """Return the limit of the search."""
        if self.seconds is None:
            return chess.engine.Limit(nodes=self.nodes)
        return chess.engine.Limit(time=self.seconds)

    def reached(self, known: Effort) -> bool:
        """Return whether a search was at least as long as this effort."""
        return known.nodes >= self.nodes if self.seconds is None else (known.seconds or 0) >= self.seconds


@dataclass(frozen=True, slots=True)
class NodeState:
    """The parts of a node that edits and reviews can change. The evaluation is not among them: it stays valid."""

    variations: list[chess.pgn.ChildNode]
    nags: set[int]
    shapes: list[str]
    words: str
    marks: set[int] | None
    review: Review | None
    decided: bool


class Reviews:
    """The evaluations and reviews of a tree.
    A review belongs to the last move of its line, and is forgotten when a move of the line is deleted.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._found: WeakKeyDictionary[chess.pgn.GameNode, tuple[SearchedPosition, Effort]] = WeakKeyDictionary()
        self._commented: WeakSet[chess.pgn.GameNode] = WeakSet()  # the nodes whose comments have these evaluations
        self._marks: WeakKeyDictionary[chess.pgn.GameNode, set[int]] = WeakKeyDictionary()  # marks made by reviews
        self._decided: WeakSet[chess.pgn.GameNode] = WeakSet()  # the nodes whose marks the user has set or removed
        self._reviews: WeakKeyDictionary[chess.pgn.GameNode, Review] = WeakKeyDictionary()
        self._written: Review | None = None  # the review that the headers describe
        self._headers: dict[str, tuple[str | None, str]] = {}  # each header's values before and after `_written`

    def missing(self, nodes: Sequence[chess.pgn.GameNode], effort: Effort | None = None) -> list[chess.pgn.GameNode]:
        """Return the nodes that have not been searched with this effort, by default with `FULL_NODES`."""
        wanted = effort or Effort()
        return [node for node in nodes if node not in self._found or not wanted.reached(self._found[node][1])]

    def note(
        self, node: chess.pgn.GameNode, evaluation: SearchedPosition, nodes: int, seconds: float | None = None
    ) -> None:
        """Keep the evaluation of a node in its comment, unless the evaluation there is from a longer search.
        An evaluation that was loaded with the game counts as `FULL_NODES`.
        """
        from knightadder.review.notes import write_evaluation

        loaded = FULL_NODES if "[%eval" in node.comment and node not in self._commented else 0
        before, known = self._found.get(node, (evaluation, Effort(0)))
        if nodes >= known.nodes:
            self._found[node] = evaluation, Effort(nodes, seconds)
            if nodes >= loaded:
                write_evaluation(node, evaluation)
                self._commented.add(node)
        elif seconds is not None:
            self._found[node] = before, Effort(known.nodes, max(seconds, known.seconds or 0))

    def evaluation(self, node: chess.pgn.GameNode) -> SearchedPosition | None:
        """Return the evaluation of a node that a search has found, if there is one."""
        found = self._found.get(node)
        return found and found[0]

    def note_rival(self, node: chess.pgn.GameNode, rival: PovScore) -> None:
        """Keep the score of the second-best move in the position of an evaluated node."""
        evaluation, effort = self._found[node]
        self._found[node] = replace(evaluation, rival=rival), effort

    def with_rival(self, node: chess.pgn.GameNode, evaluation: SearchedPosition) -> SearchedPosition:
        """Return a new evaluation of a node with the known score of the second-best move, if the new search has not
        scored that move, a search of `FULL_NODES` has, and the best move is the same.
        """
        from knightadder.review.game_evaluation import is_best

        known = self.evaluation(node)
        if known is None or known.rival is None or evaluation.rival is not None or self.missing([node]):
            return evaluation
        is_same = is_best(known.variations[0].moves[0], evaluation)
        return replace(evaluation, rival=known.rival) if is_same else evaluation

    def judge(self, node: chess.pgn.GameNode) -> list[chess.pgn.GameNode]:
        """Mark the moves to and from a node, if the positions before and after them were searched with `FULL_NODES`.
        Return the changed nodes. Moves whose marks the user has set, changed or removed are not marked.
        """
        from knightadder.review.notes import MARKS

        changed = []
        for move in [node, *node.variations]:
            if not isinstance(move, chess.pgn.ChildNode) or move in self._decided or self.missing([move.parent, move]):
                continue
            judgement = self._judgement(move)
            own = move.nags - self._marks.get(move, set())
            marks = set() if judgement is None or own & MARKS else {judgement.nag}
            if move.nags != own | marks:
                move.nags = own | marks
                _put(self._marks, move, marks or None)
                changed.append(move)
        return _with_replies(changed)

    def remark(self, node: chess.pgn.GameNode, words: str, nags: set[int]) -> list[chess.pgn.GameNode]:
        """Replace the words of a node's comment and its marks, both of which are the user's from now on.
        Return the changed nodes. If the judgement of the move is changed or removed, no later search judges it again.
        """
        from knightadder.review.notes import MARKS

        self.tree.set_words(node, words)
        if (nags ^ node.nags) & MARKS:
            self._decided.add(node)
            _put(self._marks, node, None)
        node.nags = set(nags)
        return _with_replies([node])

    def _judgement(self, node: chess.pgn.ChildNode) -> Judgement | None:
        from knightadder.review.review import judge_move

        before, after = self.evaluation(node.parent), self.evaluation(node)
        return judge_move(self.tree.board(node.parent), node.move, before, after)

    def row(self, node: chess.pgn.GameNode) -> dict[str, object]:
        """Describe a node for the page as `GameTree.row` does, with the verdict on its move.

        ``missed`` says whether the marks make it a missed chance. If a search has marked the move, ``verdict`` names
        the best move or, for a good move, the score of the best alternative; otherwise it is None.
        """
        from knightadder.review.judgement import is_missed_chance, judgement_of

        row = self.tree.row(node)
        judgement = judgement_of(node.nags)
        parent = node.parent
        row["missed"] = parent is not None and is_missed_chance(judgement_of(parent.nags), judgement)
        row["verdict"] = None
        if isinstance(node, chess.pgn.ChildNode) and self._marks.get(node) and judgement is not None:
            row["verdict"] = self._verdict(node, judgement)
        return row

    def _verdict(self, node: chess.pgn.ChildNode, judgement: Judgement) -> dict[str, object] | None:
        from knightadder.review.accuracy import rescale, win_percent
        from knightadder.review.coach import fault_of

        before, after = self.evaluation(node.parent), self.evaluation(node)
        if before is None or after is None or not before.variations:
            return None
        turn = node.parent.turn()
        best, other = (before.score, after.score) if judgement.is_bad else (before.score, before.rival or before.score)
        loss = win_percent(rescale(best.pov(turn))) - win_percent(rescale(other.pov(turn)))
        board = self.tree.board(node.parent)
        fault = fault_of(board, node.move, before, after) if judgement.is_bad else None
        return {
            "word": judgement.value,
            "good": not judgement.is_bad,
            "why": fault.text if fault is not None and fault.kind != "other" else "",
            "best": board.san(before.variations[0].moves[0]),
            "best_score": score_text(best),
            "score": score_text(other),
            "loss": max(0, round(loss)),
        }

    def rows(self, nodes: Iterable[chess.pgn.GameNode]) -> list[dict[str, object]]:
        """Describe nodes for the page."""
        return [self.row(node) for node in nodes]

    def review(self, nodes: Sequence[chess.pgn.GameNode]) -> list[chess.pgn.GameNode]:
        """Review a line, from the root to its end: mark its moves, and add the better lines as variations.

        All nodes must be evaluated. Marks of the line's last review are replaced; moves whose marks the user has set or
        removed are not marked. Return the new and changed nodes, each after its parent.
        """
        from knightadder.review.notes import annotate_line

        found = self.judged(nodes)
        self._reviews[nodes[-1]] = found
        before = [set(node.nags) for node in nodes]
        for node in nodes:
            node.nags -= self._marks.pop(node, set())
        own = [set(node.nags) for node in nodes]
        annotate_line(nodes, found if self._has_room(found) else _without_lines(found))
        for node, theirs in zip(nodes, own, strict=True):
            if node in self._decided:
                node.nags = theirs
            if node.nags != theirs:
                self._marks[node] = node.nags - theirs
        changed = [node for node, nags in zip(nodes, before, strict=True) if node.nags != nags]
        return _with_replies(changed) + [new for node in nodes for new in self.tree.adopt(node)]

    def judged(self, nodes: Sequence[chess.pgn.GameNode]) -> Review:
        """Return the review of a line without writing it into the tree; the nodes are as in `review`."""
        from knightadder.review.review import review

        return review(nodes[-1].board(), [self._found[node][0] for node in nodes])

    def _has_room(self, review: Review) -> bool:
        marked = [each for each, judged in zip(review.evaluations, review.judgements, strict=False) if _is_bad(judged)]
        moves = sum(len(line.moves) for each in marked if each for line in each.variations)
        return len(self.tree) + moves <= MAX_NODES

    def state(self, node: chess.pgn.GameNode) -> NodeState:
        """Return the current state of a node's changeable parts."""
        marks, review = self._marks.get(node), self._reviews.get(node)
        shapes, words = self.tree.shapes(node), self.tree.words(node)
        decided = node in self._decided
        return NodeState(list(node.variations), set(node.nags), shapes, words, marks, review, decided)

    def restore(self, states: Mapping[chess.pgn.GameNode, NodeState]) -> None:
        """Restore earlier states of nodes, including the moves that followed them."""
        for node, state in states.items():
            self.tree.set_variations(node, state.variations)
            node.nags = set(state.nags)
            if self.tree.shapes(node) != state.shapes:
                self.tree.set_shapes(node, state.shapes)
            if self.tree.words(node) != state.words:
                self.tree.set_words(node, state.words)
            _put(self._marks, node, state.marks)
            if state.decided:
                self._decided.add(node)
            else:
                self._decided.discard(node)
            _put(self._reviews, node, state.review)
        for node in states:
            if node in self.tree:
                self.tree.adopt(node)

    def write_headers(self) -> bool:
        """Update the game's headers for the current main line; return whether they have changed.
        While the main line is reviewed, the headers include its accuracy and opening.
        """
        review = self._reviews.get(self.tree.game.end()) if self._reviews or self._written else None
        if review is self._written:
            return False
        headers = self.tree.game.headers
        for name, (old, new) in self._headers.items():
            if headers.get(name) == new:
                if old is None:
                    del headers[name]
                else:
                    headers[name] = old
        before = dict(headers)
        if review is not None:
            from knightadder.review.notes import write_headers

            write_headers(headers, review)
        changed = {name: value for name, value in headers.items() if before.get(name) != value and name != _ANNOTATOR}
        self._headers = {name: (before.get(name), value) for name, value in changed.items()}
        self._written = review
        return True

    def summary(self) -> dict[str, object] | None:
        """Describe the review of the line on the board for the page; None if the line has none."""
        review = self._reviews.get(self.tree.cursor.end()) if self._reviews else None
        if review is None:
            return None
        from knightadder.review.summary import row

        sides = row(1, 1, {}, review)
        return {
            "white": sides.white_side and asdict(sides.white_side),
            "black": sides.black_side and asdict(sides.black_side),
            "opening": review.opening and asdict(review.opening),
        }


def _put(values: WeakKeyDictionary[chess.pgn.GameNode, _T], node: chess.pgn.GameNode, value: _T | None) -> None:
    if value is None:
        values.pop(node, None)
    else:
        values[node] = value


def _is_bad(judgement: Judgement | None) -> bool:
    return judgement is not None and judgement.is_bad


def _with_replies(nodes: Iterable[chess.pgn.GameNode]) -> list[chess.pgn.GameNode]:
    """Return the nodes and their children, whose rows depend on their parents' marks, each after its parent."""
    return [*dict.fromkeys(each for node in nodes for each in (node, *node.variations))]


def _without_lines(review: Review) -> Review:
    return replace(review, evaluations=tuple(each and replace(each, variations=()) for each in review.evaluations))
