"""The game on the board: a tree of moves with variations, comments and evaluations, and the node that is shown.

The tree is python-chess's, with evaluations in its comments in PGN's form (``[%eval]``). This module numbers the nodes,
so that the page can refer to them. It also caches facts that python-chess would compute from the first move each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import chess
import chess.engine
import chess.pgn
import chess.svg
from chess.engine import Cp

from knightadder.library.scores import TABLEBASE_WINS, score_text
from knightadder.opening_names import Opening, find_opening
from knightadder.web.messages import MessageError

MAX_NODES = 20_000
_BRACES = str.maketrans("{}", "()")  # braces would end a comment in PGN
# After this many plies without a capture or pawn move, the game is a draw. So older positions cannot matter.
_REPEATED = 100


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts about a node: its number, the ply of its position, its opening, and the move that led to it in SAN."""

    number: int
    ply: int
    opening: Opening | None
    san: str


class GameTree:
    """A game, its variations, and the node whose position is shown (`cursor`)."""

    def __init__(self, game: chess.pgn.Game | None = None) -> None:
        self.game = chess.pgn.Game() if game is None else game
        self.cursor: chess.pgn.GameNode = self.game
        self._nodes: dict[int, chess.pgn.GameNode] = {}
        self._facts: dict[chess.pgn.GameNode, _Facts] = {}
        self._next_id = 0
        board = self.game.board()
        # The node and the board of the last request.
        self._near: tuple[chess.pgn.GameNode, chess.Board] = (self.game, board.copy())
        self._register(self.game, board, "")
        for node, san in _walk(self.game, board):
            self._register(node, board, san)

    def _register(self, node: chess.pgn.GameNode, board: chess.Board, san: str) -> None:
        """Number a node, given its position and the move to it. Its parent must have a number already."""
        opening = find_opening(board.copy(stack=False))
        if opening is None and node.parent is not None:
            opening = self._facts[node.parent].opening
        self._nodes[self._next_id] = node
        self._facts[node] = _Facts(self._next_id, board.ply(), opening, san)
        self._next_id += 1

    def adopt(self, node: chess.pgn.GameNode) -> list[chess.pgn.GameNode]:
        """Number the variations that were added to a node; return their nodes, each after its parent."""
        found: list[chess.pgn.GameNode] = []
        for child in node.variations:
            if child not in self._facts:
                board = self.board(node)
                self._register(child, board, board.san_and_push(child.move))
                found.append(child)
                for deeper, san in _walk(child, board):
                    self._register(deeper, board, san)
                    found.append(deeper)
        return found

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: chess.pgn.GameNode) -> bool:
        """Return whether a node is part of the tree, and has not been deleted."""
        return node in self._facts

    def id(self, node: chess.pgn.GameNode) -> int:
        """Return the number of a node."""
        return self._facts[node].number

    def node(self, number: int) -> chess.pgn.GameNode:
        """Return the node with this number; MessageError if there is none, or it has been deleted."""
        if number not in self._nodes:
            raise MessageError("that move is no longer in the game")
        return self._nodes[number]

    def san(self, node: chess.pgn.GameNode) -> str:
        """Return the move that led to this node in SAN; the empty string at the root."""
        return self._facts[node].san

    def board(self, node: chess.pgn.GameNode) -> chess.Board:
        """Return the position of a node, with all earlier moves that can matter for repetitions.
        The last requested position is cached, so that a child's position is found quickly, even in a long game.
        """
        near, board = self._near
        if near is not node:
            if isinstance(node, chess.pgn.ChildNode) and near is node.parent:
                board.push(node.move)
            else:
                board = node.board()
            board = board.copy(stack=min(board.halfmove_clock, _REPEATED) + 1)
            self._near = node, board
        return board.copy()

    def opening(self, node: chess.pgn.GameNode) -> Opening | None:
        """Return the opening of the line that leads to a node: the name of the line's last position that has one."""
        return self._facts[node].opening

    def score(self, node: chess.pgn.GameNode) -> dict[str, object] | None:
        """Describe the evaluation of a node as `score_view` does, even at checkmate, which PGN cannot express."""
        facts = self._facts[node]
        if facts.san.endswith("#"):
            return {"text": "#", "chances": 0.0 if facts.ply % 2 == 0 else 1.0}
        if "[%eval" not in node.comment:
            return None
        alone = chess.pgn.Game()  # because node.eval() would go through all earlier moves
        alone.comment = node.comment
        try:
            return score_view(alone.eval())
        except ValueError:  # the number has thousands of digits
            return None

    def shapes(self, node: chess.pgn.GameNode) -> list[str]:
        """Return the arrows and circles of a node's comment: ``Gd2d4`` is a green arrow, ``Rd4`` a red circle.
        As in PGN's ``[%cal]`` and ``[%csl]``, the colours are G, R, Y and B.
        """
        return [arrow.pgn() for arrow in node.arrows()] if "[%c" in node.comment else []

    def set_shapes(self, node: chess.pgn.GameNode, shapes: Iterable[str]) -> None:
        """Replace the arrows and circles of a node, in the form of `shapes`; MessageError if one is invalid."""
        try:
            arrows = [chess.svg.Arrow.from_pgn(shape) for shape in shapes]
        except ValueError:
            raise MessageError("expected an arrow or a circle") from None
        node.set_arrows(arrows)

    def words(self, node: chess.pgn.GameNode) -> str:
        """Return the words of a node's comment, without its commands for programs."""
        return " ".join(re.sub(r"\[%[^\]]*\]", " ", node.comment).split())

    def set_words(self, node: chess.pgn.GameNode, words: str) -> None:
        """Replace the words of a node's comment; its commands for programs, such as ``[%eval 0.31]``, stay."""
        commands = re.findall(r"\[%[^\]]*\]", node.comment)
        plain = words.translate(_BRACES).replace("[%", "[ %").split()
        node.comment = " ".join([*commands, *plain])

    def reorder(self, node: chess.pgn.GameNode, up: bool) -> int:
        """Exchange a move with the alternative before (`up`) or after it; return its new index among its siblings."""
        siblings = [] if node.parent is None else node.parent.variations
        place = next((number for number, each in enumerate(siblings) if each is node), 0) + (-1 if up else 1)
        if node.parent is None or not 0 <= place < len(siblings):
            raise MessageError("this variation cannot be moved any further")
        old = place + 1 if up else place - 1
        siblings[old], siblings[place] = siblings[place], siblings[old]
        return place

    def play(self, move: chess.Move, node: chess.pgn.GameNode | None = None) -> chess.pgn.GameNode:
        """Play a legal move from a node, by default the cursor; show and return the new or existing node."""
        parent = self.cursor if node is None else node
        if parent.has_variation(move):
            self.cursor = parent.variation(move)
        else:
            self.make_room(1)
            board = self.board(parent)
            san = board.san_and_push(move)
            self.cursor = parent.add_variation(move)
            self._register(self.cursor, board, san)
        return self.cursor

    def make_room(self, moves: int) -> None:
        """Raise a MessageError if that many more moves would make the tree too large."""
        if len(self) + moves > MAX_NODES:
            raise MessageError(f"the game has {MAX_NODES} moves, which is the limit")

    def go_along(self, path: Iterable[int]) -> None:
        """Show the position at the end of a path: the indices of the variations to follow from the root."""
        self.cursor = self.game
        for index in path:
            if index < len(self.cursor.variations):
                self.cursor = self.cursor.variations[index]

    def delete(self, node: chess.pgn.GameNode) -> None:
        """Delete a node and all nodes below it. If the cursor is on one of them, it moves to the parent."""
        if node.parent is None:
            raise MessageError("the start position cannot be deleted")
        if node in ancestry(self.cursor):
            self.cursor = node.parent
        self.set_variations(node.parent, [child for child in node.parent.variations if child is not node])

    def set_variations(self, node: chess.pgn.GameNode, variations: Sequence[chess.pgn.ChildNode]) -> None:
        """Replace the moves that follow a node, in this order. The caller then passes new moves to `adopt`."""
        doomed = [child for child in node.variations if child not in variations]
        node.variations = list(variations)
        while doomed:
            gone = doomed.pop()
            doomed += gone.variations
            if gone in self._facts:
                del self._nodes[self._facts.pop(gone).number]

    def promote(self, node: chess.pgn.GameNode) -> None:
        """Make the line from the root to this node the main line."""
        for each in ancestry(node):
            if isinstance(each, chess.pgn.ChildNode):
                each.parent.promote_to_main(each)

    def line(self) -> list[chess.pgn.GameNode]:
        """Return the line of the cursor: the nodes from the root to the cursor, and on to the end of the line."""
        after = list(self.cursor.mainline())
        return [*ancestry(self.cursor)[::-1], *after]

    def nodes(self) -> Iterator[chess.pgn.GameNode]:
        """Yield all nodes: parents before children, and variations in order."""
        order: list[chess.pgn.GameNode] = [self.game]
        while order:
            node = order.pop()
            order += reversed(node.variations)
            yield node

    def row(self, node: chess.pgn.GameNode) -> dict[str, object]:
        """Describe a node for the page, which draws it and writes PGN. ``before`` is the comment before the move."""
        facts = self._facts[node]
        return {
            "id": facts.number,
            "parent": None if node.parent is None else self._facts[node.parent].number,
            "san": facts.san,
            "ply": facts.ply,
            "nags": sorted(node.nags),
            "before": node.starting_comment,
            "comment": node.comment,
            "score": self.score(node),
            "shapes": self.shapes(node),
        }


def score_view(score: chess.engine.PovScore | None) -> dict[str, object] | None:
    """Describe a score for the page, from White's view: as text, and as White's expected share of the point.
    A tablebase win is shown as ``1-0`` or ``0-1``. The share is by the formula of https://lichess.org/page/accuracy.
    """
    if score is None:
        return None
    cp = score.white().score()
    known = cp is not None and abs(cp) in TABLEBASE_WINS
    text = ("1-0" if score.white() > Cp(0) else "0-1") if known else score_text(score)
    return {"text": text, "chances": round(score.white().wdl(model="lichess").expectation(), 4)}


def tree_of(board: chess.Board) -> GameTree:
    """Return a tree that begins with this position, without the moves that led to it."""
    game = chess.pgn.Game()
    game.setup(board)
    return GameTree(game)


def tree_of_line(end: chess.pgn.GameNode) -> GameTree:
    """Return a tree of only the moves to this node, with their comments and marks; its cursor is at the end."""
    game = chess.pgn.Game()
    game.setup(end.game().board())
    new_end = game.add_line(end.board().move_stack)
    for new, old in zip(ancestry(new_end), ancestry(end), strict=True):
        new.comment, new.starting_comment, new.nags = old.comment, old.starting_comment, set(old.nags)
    copy = GameTree(game)
    copy.cursor = new_end
    return copy


def ancestry(node: chess.pgn.GameNode) -> list[chess.pgn.GameNode]:
    """Return the node, its parent, and so on to the root."""
    nodes = [node]
    while nodes[-1].parent is not None:
        nodes.append(nodes[-1].parent)
    return nodes


def _walk(root: chess.pgn.GameNode, board: chess.Board) -> Iterator[tuple[chess.pgn.ChildNode, str]]:
    """Yield all nodes below the root, parents first, and their moves in SAN; `board` always has the node's position."""
    todo: list[chess.pgn.ChildNode | None] = list(reversed(root.variations))
    while todo:
        node = todo.pop()
        if node is None:
            board.pop()
            continue
        yield node, board.san_and_push(node.move)
        todo.append(None)
        todo += reversed(node.variations)
