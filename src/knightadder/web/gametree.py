"""The game on the board: a tree of moves with variations, comments and evaluations, and the node that is shown.

The tree is python-chess's, which reads and writes PGN; evaluations are kept in it as PGN has them (``[%eval]``). What
is added are numbers for its nodes, by which the page names them, and SAN that is worked out once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import chess
import chess.engine
import chess.pgn

from knightadder.web.messages import MessageError

MAX_NODES = 20_000
_MAX_GAMES = 500  # of a file, to choose from
_COMMANDS = re.compile(r"\[%[^\]]*\]")  # in comments, such as [%eval 0.31]


class GameTree:
    """A game, its variations, and the node whose position is shown (`cursor`).

    Parameters
    ----------
    game : chess.pgn.Game, optional
        The tree; an empty game from the start position by default.
    """

    def __init__(self, game: chess.pgn.Game | None = None) -> None:
        self.game = chess.pgn.Game() if game is None else game
        self.cursor: chess.pgn.GameNode = self.game
        self._nodes: dict[int, chess.pgn.GameNode] = {}
        self._ids: dict[chess.pgn.GameNode, int] = {}
        self._sans: dict[chess.pgn.GameNode, str] = {}
        self._next_id = 0
        self._register(self.game, "")
        board = self.game.board()
        for node in _walk(self.game, board):
            self._register(node, board.san(node.move))

    def _register(self, node: chess.pgn.GameNode, san: str) -> None:
        self._nodes[self._next_id] = node
        self._ids[node] = self._next_id
        self._sans[node] = san
        self._next_id += 1

    def __len__(self) -> int:
        """Give the number of nodes, the root included."""
        return len(self._nodes)

    def __contains__(self, node: chess.pgn.GameNode) -> bool:
        """Say whether a node is (still) part of the tree."""
        return node in self._ids

    def id(self, node: chess.pgn.GameNode) -> int:
        """Give the number of a node."""
        return self._ids[node]

    def node(self, number: int) -> chess.pgn.GameNode:
        """Give the node of this number; MessageError if there is none (any more)."""
        if number not in self._nodes:
            raise MessageError("that move is no longer in the game")
        return self._nodes[number]

    def san(self, node: chess.pgn.GameNode) -> str:
        """Give the move that led to this node in SAN; the empty string at the root."""
        return self._sans[node]

    def score(self, node: chess.pgn.GameNode) -> dict[str, object] | None:
        """Describe the evaluation of a node as `score_view` does; mate is one too, though PGN has none for it."""
        if self._sans[node].endswith("#"):
            return {"text": "#", "chances": 0.0 if node.turn() == chess.WHITE else 1.0}
        return score_view(node.eval())

    def play(self, move: chess.Move, node: chess.pgn.GameNode | None = None) -> chess.pgn.GameNode:
        """Play a legal move from a node, the cursor by default, and go there; a known move is not added again."""
        parent = self.cursor if node is None else node
        if parent.has_variation(move):
            self.cursor = parent.variation(move)
        else:
            if len(self) >= MAX_NODES:
                raise MessageError(f"the game has {MAX_NODES} moves; no more fit")
            child = parent.add_variation(move)
            self._register(child, parent.board().san(move))
            self.cursor = child
        return self.cursor

    def delete(self, node: chess.pgn.GameNode) -> None:
        """Delete a node with all that follow; the cursor goes to the one before it if it stood on one of them."""
        if node.parent is None:
            raise MessageError("the start position cannot be deleted")
        if node in _ancestry(self.cursor):
            self.cursor = node.parent
        node.parent.variations.remove(node)  # type: ignore[arg-type]
        doomed = [node]
        while doomed:
            gone = doomed.pop()
            doomed += gone.variations
            del self._nodes[self._ids.pop(gone)], self._sans[gone]

    def promote(self, node: chess.pgn.GameNode) -> None:
        """Make the line that leads to this node the main one, from the root on."""
        for each in _ancestry(node):
            if isinstance(each, chess.pgn.ChildNode):
                each.parent.promote_to_main(each)

    def line(self) -> list[chess.pgn.GameNode]:
        """Give the nodes of the line that the cursor stands in: from the root to it, and on to the line's end."""
        after = list(self.cursor.mainline())
        return [*_ancestry(self.cursor)[::-1], *after]

    def pgn(self) -> str:
        """Write the game as PGN, with variations, comments and evaluations."""
        return self.game.accept(chess.pgn.StringExporter(columns=80))

    def describe(self) -> list[dict[str, object]]:
        """Describe all nodes for the page, each after its parent."""
        order: list[chess.pgn.GameNode] = [self.game]
        rows: list[dict[str, object]] = []
        while order:
            node = order.pop()
            order += reversed(node.variations)
            rows.append(
                {
                    "id": self._ids[node],
                    "parent": None if node.parent is None else self._ids[node.parent],
                    "san": self._sans[node],
                    "ply": node.ply(),
                    "nags": sorted(node.nags),
                    "comment": " ".join(_COMMANDS.sub("", node.comment).split()),
                    "score": self.score(node),
                }
            )
        return rows


def score_view(score: chess.engine.PovScore | None) -> dict[str, object] | None:
    """Describe a score for the page, from White's view: as text, and as White's expected share of the point.

    The share is what Lichess makes of centipawns (https://lichess.org/page/accuracy).
    """
    if score is None:
        return None
    white = score.white()
    mate = white.mate()
    text = f"{(white.score() or 0) / 100:+.2f}" if mate is None else f"#{mate}"
    return {"text": text, "chances": round(white.wdl(model="lichess").expectation(), 4)}


def tree_of(board: chess.Board) -> GameTree:
    """Make a tree that begins with this position, without the moves that led to it."""
    game = chess.pgn.Game()
    game.setup(board)
    return GameTree(game)


def tree_of_line(tree: GameTree) -> GameTree:
    """Make a tree of the moves that lead to the tree's cursor alone; its own cursor is at their end."""
    copy = tree_of(tree.game.board())
    for move in tree.cursor.board().move_stack:
        copy.play(move)
    return copy


def parse_move(board: chess.Board, text: str) -> chess.Move:
    """Read a legal move, in UCI's notation or as SAN; MessageError if it is none."""
    for read in (board.parse_uci, board.parse_san):
        try:
            move = read(text)
        except ValueError:
            continue
        if move:  # null moves can be written, too
            return move
    raise MessageError(f"{text} is not a legal move here")


def parse_line(board: chess.Board, texts: Sequence[str]) -> list[chess.Move]:
    """Read moves that are played one after the other from this position; MessageError if one is not legal."""
    board = board.copy(stack=False)
    moves = []
    for text in texts:
        moves.append(parse_move(board, text))
        board.push(moves[-1])
    return moves


# --- PGN in --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoadedPgn:
    """A game read from a PGN.

    Attributes
    ----------
    tree : GameTree
        The game.
    titles : list of str
        What the games of the text are called.
    index : int
        Which of them was read.
    problem : str or None
        What cut the game short, if anything did.
    """

    tree: GameTree
    titles: list[str]
    index: int
    problem: str | None


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds the game without writing errors to the log: they are told to the user."""

    def __init__(self) -> None:
        super().__init__(Game=chess.pgn.Game)

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def load_pgn(text: str, index: int = 0) -> LoadedPgn:
    """Read a game of a PGN.

    Parameters
    ----------
    text : str
        The PGN, of one game or several.
    index : int
        Which game, from 0.

    Raises
    ------
    MessageError
        If there is no such game, it is of a variant that is not played here, or nothing of it can be read.
    """
    source = io.StringIO(text)
    titles: list[str] = []
    places: list[int] = []
    while len(titles) < _MAX_GAMES:
        place = source.tell()
        headers = chess.pgn.read_headers(source)
        if headers is None:
            break
        places.append(place)
        titles.append(_title(headers))
    if index >= len(places):
        raise MessageError("this PGN has no game" if not places else f"this PGN has only {len(places)} games")
    source.seek(places[index])
    game = chess.pgn.read_game(source, Visitor=_QuietBuilder)
    assert game is not None  # its headers were read
    problem = str(game.errors[0]) if game.errors else None
    try:
        variant = game.headers.variant()
        board = game.board()
    except ValueError as error:
        raise MessageError(f"this game cannot be read: {error}") from None
    if variant is not chess.Board:
        raise MessageError(f"this game is of another variant: {variant.uci_variant}")
    if not board.is_valid():
        raise MessageError(f"the game starts from an illegal position: {status_text(board)}")
    if not game.variations and problem is not None:
        raise MessageError(f"this game cannot be read: {problem}")
    if not game.variations and set(game.headers.values()) <= {"?", "????.??.??", "*"}:
        raise MessageError("this is not PGN: no tags and no moves")
    _drop_null_moves(game)
    tree = GameTree(game)
    if len(tree) > MAX_NODES:
        raise MessageError(f"the game has more than {MAX_NODES} moves")
    return LoadedPgn(tree, titles, index, problem)


def board_from_fen(fen: str) -> chess.Board:
    """Set up a position, by the rules of Chess960 where its castling rights need them.

    Raises
    ------
    MessageError
        If the FEN cannot be read or the position is illegal; the text says what is wrong.
    """
    try:
        board = chess.Board(fen.strip())
        if not board.is_valid():
            other = chess.Board(fen.strip(), chess960=True)
            board = other if other.is_valid() else board
    except ValueError as error:
        raise MessageError(f"this is no FEN: {error}") from None
    if not board.is_valid():
        raise MessageError(f"the position is illegal: {status_text(board)}")
    return board


def status_text(board: chess.Board) -> str:
    """Say what makes a position illegal, such as ``no white king``."""
    names = [str(flag.name) for flag in chess.Status if flag and flag & board.status()]
    return ", ".join(name.lower().replace("_", " ") for name in names)


def _title(headers: chess.pgn.Headers) -> str:
    players = f"{headers.get('White', '?')} - {headers.get('Black', '?')}"
    rest = [headers.get("Result", "*"), headers.get("Event", "?"), headers.get("Date", "?").replace(".??", "")]
    return ", ".join([players, *(part for part in rest if part not in ("?", "*", "????"))])[:120]


def _drop_null_moves(game: chess.pgn.Game) -> None:
    """Cut lines off where a side passes, which is written in comments on games and is no move to analyse."""
    todo: list[chess.pgn.GameNode] = [game]
    while todo:
        node = todo.pop()
        node.variations = [child for child in node.variations if child.move]
        todo += node.variations


# --- walking -------------------------------------------------------------------------------------------------------


def _ancestry(node: chess.pgn.GameNode) -> list[chess.pgn.GameNode]:
    """Give the node, its parent, and so on to the root."""
    nodes = [node]
    while nodes[-1].parent is not None:
        nodes.append(nodes[-1].parent)
    return nodes


def _walk(root: chess.pgn.GameNode, board: chess.Board) -> Iterator[chess.pgn.ChildNode]:
    """Give all nodes below the root, parents first; the board shows the position before each as it is given."""
    todo: list[chess.pgn.ChildNode | None] = list(reversed(root.variations))
    while todo:
        node = todo.pop()
        if node is None:
            board.pop()
            continue
        yield node
        board.push(node.move)
        todo.append(None)
        todo += reversed(node.variations)
