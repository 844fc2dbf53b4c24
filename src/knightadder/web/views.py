"""The messages to the page: positions, games and lines of analysis as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import chess
import chess.pgn

from knightadder.pgn.games import text_of
from knightadder.rules import outcome_of
from knightadder.web.gametree import GameTree, score_view
from knightadder.web.played_game import reason_of

if TYPE_CHECKING:
    from knightadder.library.results import Line
    from knightadder.web.desk import Desk
    from knightadder.web.moments import Moment
    from knightadder.web.played_game import PlayedGame
    from knightadder.web.reviews import Reviews

View: TypeAlias = dict[str, Any]

LINES_EVERY = 0.1  # seconds between two updates of the lines of analysis
_MAX_PLIES_SHOWN = 24  # maximum number of plies shown in a line of analysis
_MAX_PLIES_OF_MOMENT = 7  # maximum number of plies shown in the better line of a moment


def tree_view(reviews: Reviews) -> View:
    """Describe the whole tree; later changes are sent separately."""
    tree = reviews.tree
    return {"type": "tree", "nodes": reviews.rows(tree.nodes()), "headers": dict(tree.game.headers)}


def nodes_view(reviews: Reviews, nodes: Iterable[chess.pgn.GameNode]) -> View:
    """Describe new or changed nodes; a new node comes after its parent and becomes the last of its siblings."""
    return {"type": "nodes", "nodes": reviews.rows(nodes)}


def games_view(desk: Desk) -> View:
    """Describe the games that the tab can choose from, which of them is on the board, and where that game is saved."""
    titles = [asdict(title) for title in desk.file.titles]
    return {**place_view(desk), "type": "games", "titles": titles, "began": desk.file.began, "sent": desk.file.sent}


def place_view(desk: Desk) -> View:
    """Describe the place of a desk's game among the user's games; the page keeps it for a restart of the server."""
    place = desk.entry.place
    return {"type": "place", "file": desk.file.number, "index": desk.index, "place": [place.number, place.version]}


def history_view(undo: str | None, redo: str | None) -> View:
    """Describe the edits that can be undone and redone; None if there is no such edit."""
    return {"type": "history", "undo": undo, "redo": redo}


def position_view(tree: GameTree, movable: bool, premover: chess.Color | None = None) -> View:
    """Describe the position at the tree's cursor, with the legal moves if the user may move.
    `premover` is the side that may make a premove while the other side thinks.
    """
    board = tree.board(tree.cursor)
    outcome = outcome_of(board)
    opening = tree.opening(tree.cursor)
    return {
        "type": "position",
        "node": tree.id(tree.cursor),
        **board_view(board),
        "san": tree.san(tree.cursor),
        **(moves_view(board) if movable else {"legal": {}, "promotions": []}),
        "premoves": {} if premover is None else premoves_view(board, premover),
        "fen": board.fen(),
        "ply": board.ply(),
        "outcome": None if outcome is None else f"{reason_of(outcome)}, {outcome.result().replace('1/2', '½')}",
        "opening": None if opening is None else {"eco": opening.eco, "name": opening.name},
        "score": tree.score(tree.cursor),
    }


def board_view(board: chess.Board) -> View:
    """Describe the pieces, the side to move, the last move, and the king in check."""
    king = board.king(board.turn)
    return {
        "pieces": {chess.square_name(square): _piece_name(piece) for square, piece in board.piece_map().items()},
        "turn": "white" if board.turn else "black",
        "last": _last_move(board),
        "check": chess.square_name(king) if king is not None and board.is_check() else None,
    }


def moves_view(board: chess.Board) -> View:
    """Describe the legal moves; see `legal_view`."""
    promotions = sorted({move.uci()[:4] for move in board.legal_moves if move.promotion is not None})
    return {"legal": legal_view(board), "promotions": promotions}


def legal_view(board: chess.Board) -> dict[str, dict[str, str]]:
    """Return the moves in UCI notation by from-square and target square; promotions lack the new piece.
    The target of castling is the king's new square or the rook's, unless another king move has that target.
    """
    legal: dict[str, dict[str, str]] = {}
    castlings = []
    for move in board.legal_moves:
        if board.is_castling(move):
            castlings.append(move)
        else:
            targets = legal.setdefault(chess.square_name(move.from_square), {})
            targets[chess.square_name(move.to_square)] = move.uci()[:4]
    for move in castlings:
        _add_castling(legal, board, move)
    return legal


def _add_castling(moves: dict[str, dict[str, str]], board: chess.Board, castling: chess.Move) -> None:
    targets = moves.setdefault(chess.square_name(castling.from_square), {})
    for square in (_king_goal(castling), _castling_rook(board, castling)):
        if square != castling.from_square:
            targets.setdefault(chess.square_name(square), board.uci(castling))


def premoves_view(board: chess.Board, color: chess.Color) -> dict[str, dict[str, str]]:
    """Return the moves that may become legal after the opponent's next move, as `legal_view` does.
    They are the moves of the pieces on an empty board, all captures of pawns, and castling if the right remains.
    """
    own = board.copy(stack=False)
    own.turn = color
    moves: dict[str, dict[str, str]] = {}
    for start in chess.SquareSet(own.occupied_co[color]):
        kind = own.piece_type_at(start)
        assert kind is not None
        alone = chess.Board(None, chess960=own.chess960)
        alone.turn = color
        alone.set_piece_at(start, chess.Piece(kind, color))
        goals = alone.attacks(start) | {move.to_square for move in alone.pseudo_legal_moves}
        targets = {chess.square_name(goal): chess.square_name(start) + chess.square_name(goal) for goal in goals}
        moves[chess.square_name(start)] = targets
    king = own.king(color)
    for rook in chess.SquareSet(own.clean_castling_rights() & own.occupied_co[color]):
        _add_castling(moves, own, chess.Move(king or 0, rook))
    return moves


def game_view(game: PlayedGame | None, tree: GameTree) -> View:
    """Describe the game against the engine in a tree, if there is one."""
    if game is None:
        return {"type": "game", "game": None}
    clock = game.clock
    return {
        "type": "game",
        "game": {
            "user": "white" if game.user else "black",
            "opponent": game.opponent,
            "running": game.running,
            "result": game.result.replace("1/2", "½"),
            "reason": game.reason,
            "draw_offered": game.draw_offered and game.running,
            "moments": None if game.moments is None else [_moment_view(each, tree) for each in game.moments],
            "clock": None
            if clock is None
            else {
                "white": round(clock.remaining(chess.WHITE), 2),
                "black": round(clock.remaining(chess.BLACK), 2),
                "running": None if clock.running is None else "white" if clock.running else "black",
            },
        },
    }


def _moment_view(moment: Moment, tree: GameTree) -> View:
    """Describe a moment that decided the game; its node is the one before the move."""
    from knightadder.review.coach import KINDS  # here, because it loads the library

    board = tree.board(moment.node)
    return {
        "node": tree.id(moment.node),
        "played": board.variation_san([moment.move]) + moment.mark,
        "kind": KINDS[moment.fault.kind],
        "explanation": moment.fault.text,
        "percents": [round(each) for each in moment.percents],
        "best": _squares(board, moment.better[0]),
        "line": board.variation_san(moment.better[:_MAX_PLIES_OF_MOMENT]),
    }


def lines_pgn(name: str, board: chess.Board, lines: Iterable[Sequence[chess.Move]]) -> str:
    """Return a position with lines from it as PGN. The first line is the main line, and the name is the event."""
    game = chess.pgn.Game()
    game.headers["Event"] = name
    game.setup(board)
    for line in lines:
        game.add_line(line)
    return text_of(game)


def hint_view(node: int, board: chess.Board, move: chess.Move) -> View:
    """Describe a good move in the position of a node: its from-square and target square."""
    return {"type": "hint", "node": node, "move": _squares(board, move)}


def lines_view(node: int, board: chess.Board, lines: Mapping[int, Line]) -> View:
    """Describe lines of analysis (at least one), by rank from 1; `node` is the number of the analysed node."""
    newest = max(lines.values(), key=lambda line: line.nodes)
    return {
        "type": "lines",
        "node": node,
        "turn": "white" if board.turn else "black",
        "ply": board.ply(),
        "depth": newest.depth,
        "seldepth": newest.seldepth,
        "nodes": newest.nodes,
        "nps": newest.nps,
        "hashfull": newest.hashfull,
        "tbhits": newest.tbhits,
        "time": round(newest.time, 1),
        "lines": [
            {
                "score": score_view(line.score),
                "depth": line.depth,
                "nodes": line.nodes,
                **_line_view(board, line.pv[:_MAX_PLIES_SHOWN]),
            }
            for _, line in sorted(lines.items())
        ],
    }


def worths_view(board: chess.Board) -> View:
    """Describe the static value of a position and the value of each piece; neither exists in check.
    The first call in a process takes a while, because it sets up the tables of the evaluation.
    """
    from knightadder.library.positions import evaluate  # here, because it loads the core

    known = None if board.is_check() else evaluate(board)
    return {
        "type": "worths",
        "fen": board.fen(),
        "value": None if known is None else _pawns(known.centipawns),
        "pieces": {} if known is None else {chess.square_name(at): _pawns(cp) for at, cp in known.pieces.items()},
    }


def _pawns(centipawns: int) -> str:
    return f"{centipawns / 100:+.2f}"


def _line_view(board: chess.Board, moves: Sequence[chess.Move]) -> View:
    """Describe a line of moves: in both notations, and the squares of its first move as an arrow."""
    arrow = _squares(board, moves[0]) if moves else None
    board = board.copy(stack=False)
    sans, ucis = [], []
    for move in moves:
        ucis.append(board.uci(move))
        sans.append(board.san_and_push(move))
    return {"moves": ucis, "sans": sans, "arrow": arrow}


def _last_move(board: chess.Board) -> list[str] | None:
    if not board.move_stack:
        return None
    before = board.copy(stack=1)
    return _squares(before, before.pop())


def _squares(board: chess.Board, move: chess.Move) -> list[str]:
    """Return the names of a move's from-square and target square; for castling, the king's squares."""
    goal = _king_goal(move) if board.is_castling(move) else move.to_square
    return [chess.square_name(move.from_square), chess.square_name(goal)]


def _king_goal(castling: chess.Move) -> chess.Square:
    kingside = chess.square_file(castling.to_square) > chess.square_file(castling.from_square)
    return chess.square(6 if kingside else 2, chess.square_rank(castling.from_square))


def _castling_rook(board: chess.Board, castling: chess.Move) -> chess.Square:
    if board.chess960:
        return castling.to_square
    kingside = chess.square_file(castling.to_square) > chess.square_file(castling.from_square)
    return chess.square(7 if kingside else 0, chess.square_rank(castling.from_square))


def _piece_name(piece: chess.Piece) -> str:
    return ("w" if piece.color else "b") + piece.symbol().upper()
