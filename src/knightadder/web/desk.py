"""The content of a tab's board: the tree of moves, the game against the engine, and the edits to undo and redo.

A desk keeps one tree for its whole life. A new board, a set-up position or a loaded game gets a new desk, which
remembers the previous desk, so that undoing can lead back there. Each game of a file has its own desk, which is kept
while another game of the file is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from knightadder.web.gametree import GameTree, ancestry
from knightadder.web.reviews import NodeState, Reviews
from knightadder.web.saved_games import SavedPlace

if TYPE_CHECKING:
    import chess.pgn

    from knightadder.web.loaded_pgn import Title
    from knightadder.web.played_game import PlayedGame

EVENT = "Game on the web board"  # the header Event of games against the engine

_numbers = count(1)
_MOST_STEPS = 10_000
_MOST_MOVES = 100_000  # maximum number of moves in the trees of earlier desks; this many take about 100 MB


@dataclass(slots=True)
class GameFile:
    """A loaded file or text with games, one of them on the board. The keys of the dictionaries are indices of games."""

    content: bytes = b""  # empty if the game was not loaded
    titles: list[Title] = field(default_factory=list)
    edited: dict[int, bytes] = field(default_factory=dict)  # PGN of the games edited before the server was restarted
    places: dict[int, SavedPlace] = field(default_factory=dict)  # places of the games from before the restart
    desks: dict[int, Desk] = field(default_factory=dict)  # desks of the games that have been on the board
    began: int | None = None  # the ply at which the game against the engine began; None if it is not such a game
    sent: int | None = None  # the page's number for the content that it sent
    number: int = field(default_factory=_numbers.__next__)  # identifies the file for the page


@dataclass(slots=True)
class Entry:
    """A game's entry among the user's games: its place, and the last move and result of the last automatic save."""

    place: SavedPlace = field(default_factory=SavedPlace.unsaved)
    kept: tuple[chess.pgn.GameNode, str] | None = None


class Edit:
    """The parts of a desk that an edit changes, in their state before the edit. `name` describes the edit to the user.
    `nodes` are the nodes that the edit changes, including the parents of nodes that it adds or removes.
    """

    def __init__(self, name: str, desk: Desk, nodes: Iterable[chess.pgn.GameNode]) -> None:
        self.name = name
        self._cursor = desk.tree.cursor
        self._game = desk.game
        self._states: dict[chess.pgn.GameNode, NodeState] = {node: desk.reviews.state(node) for node in nodes}

    def has_changed(self, desk: Desk) -> bool:
        """Return whether the edit has changed anything."""
        return any(desk.reviews.state(node) != state for node, state in self._states.items())

    def exchange(self, desk: Desk) -> Edit:
        """Put these parts into the desk; return the desk's former parts."""
        now = Edit(self.name, desk, self._states)
        desk.game = self._game
        desk.reviews.restore(self._states)
        desk.tree.cursor = self._cursor
        return now


@dataclass(frozen=True, slots=True)
class Swap:
    """The replacement of this desk by a new one. The name describes it to the user."""

    name: str
    desk: Desk

    def exchange(self, desk: Desk) -> Swap:
        """Return the step that leads back to `desk`."""
        return Swap(self.name, desk)


Step: TypeAlias = Edit | Swap


class Desk:
    """A tree with its reviews, the game that is played in it, and the steps to undo and redo.
    The tree is the game `index` of `file`. `entry` is the game's entry among the user's games; a game that goes
    on at a new desk shares the entry of the desk before.
    """

    def __init__(
        self, tree: GameTree, game: PlayedGame | None = None, file: GameFile | None = None, index: int = 0
    ) -> None:
        self.reviews = Reviews(tree)
        self.game = game
        self.tip: chess.pgn.GameNode = tree.cursor  # the last move of the game against the engine
        self.file = file or GameFile()
        self.index = index
        self.file.desks[index] = self
        self.entry = Entry(self.file.places[index]) if index in self.file.places else Entry()
        self._undo: list[Step] = []
        self._redo: list[Step] = []

    @property
    def tree(self) -> GameTree:
        """The tree of moves."""
        return self.reviews.tree

    def is_interrupted(self) -> bool:
        """Return whether this is an unfinished game against the engine from before a restart, shown at its end.
        A game with variations does not count, because continuing a game keeps only the moves of its line.
        """
        headers, end = self.tree.game.headers, self.tree.game.end()
        unfinished = headers.get("Event") == EVENT and headers.get("Result") == "*"
        is_line = all(len(node.variations) <= 1 for node in ancestry(end))
        return unfinished and is_line and self.game is None and self.tree.cursor is end

    def has_played_moves(self) -> bool:
        """Return whether this is a game against the engine with moves, also one from before a restart."""
        return self.file.began is not None and self.tree.game.end().ply() > self.file.began

    def names(self) -> tuple[str | None, str | None]:
        """Return the names of the edits that would be undone and redone; None if there is no such edit."""
        return _last_name(self._undo), _last_name(self._redo)

    def edit(self, name: str, nodes: Iterable[chess.pgn.GameNode]) -> Callable[[], None]:
        """Remember the state before an edit of these nodes; return the function to call after the edit."""
        step = Edit(name, self, nodes)

        def done() -> None:
            if step.has_changed(self):
                self._done(step)

        return done

    def follow(self, before: Desk, name: str) -> Desk:
        """Replace another desk, to which undoing leads back; return this desk."""
        before._redo.clear()
        self._done(Swap(name, before))
        self._forget_old_desks()
        return self

    def take_file_of(self, other: Desk) -> Desk:
        """Replace the desk of another game of the file; undoing leads back to the desk before the file was loaded."""
        self._undo[:0] = [step for step in other._undo if isinstance(step, Swap)]
        return self

    def back(self) -> Desk:
        """Undo the last step; return the desk that is now on the board."""
        return self._go(self._undo, undoing=True)

    def forth(self) -> Desk:
        """Redo the step that was undone last; return the desk that is now on the board."""
        return self._go(self._redo, undoing=False)

    def forget_edits(self) -> None:
        """Forget the edits, because the moves that they changed no longer exist."""
        self._undo = [step for step in self._undo if isinstance(step, Swap)]
        self._redo.clear()

    def _done(self, step: Step) -> None:
        self._undo.append(step)
        del self._undo[:-_MOST_STEPS]
        self._redo.clear()

    def _go(self, steps: list[Step], undoing: bool) -> Desk:
        step = steps.pop()
        desk = step.desk if isinstance(step, Swap) else self
        opposite = step.exchange(self)
        (desk._redo if undoing else desk._undo).append(opposite)
        return desk

    def _forget_old_desks(self) -> None:
        """Forget the oldest desks to which undoing leads, if their trees have too many moves in total."""
        moves, desk = 0, self
        while swap := next((step for step in desk._undo if isinstance(step, Swap)), None):
            moves += len(swap.desk.tree)
            if moves > _MOST_MOVES:
                desk._undo.remove(swap)
                return
            desk = swap.desk


def _last_name(steps: list[Step]) -> str | None:
    return steps[-1].name if steps else None
