"""Writes games in Portable Game Notation, with what the engines thought of each move."""

from __future__ import annotations

import datetime
from pathlib import Path

import chess
import chess.pgn

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.referee import Game, PlayedMove

_TERMINATIONS = {
    "time": "time forfeit",
    "illegal": "rules infraction",
    "crash": "abandoned",
    "silent": "abandoned",
}


def move_comment(move: PlayedMove) -> str:
    """Write score from the mover's view, depth, time and nodes of a move: ``+0.31/12 0.052s n=20011``."""
    if move.info is None:
        return f"{move.seconds:.3f}s"
    nodes = f" n={move.info.nodes}" if move.info.nodes else ""
    return f"{move.info.text()}/{move.info.depth} {move.seconds:.3f}s{nodes}"


def game_text(fixture: Fixture, game: Game, white: Competitor, black: Competitor, chess960: bool = False) -> str:
    """Write a game.

    Parameters
    ----------
    fixture : Fixture
        Which game.
    game : Game
        The game.
    white, black : Competitor
        The engines.
    chess960 : bool
        Whether castling is that of Chess960.

    Returns
    -------
    str
        The game, without an empty line at its end.
    """
    board = chess.Board(game.opening.fen, chess960=chess960)
    text = chess.pgn.Game()
    text.setup(board)
    headers = text.headers
    headers["Event"] = f"{fixture.white} against {fixture.black}"
    headers["Site"] = "?"
    headers["Date"] = datetime.date.today().strftime("%Y.%m.%d")
    headers["Round"] = str(fixture.round + 1)
    headers["White"] = fixture.white
    headers["Black"] = fixture.black
    headers["Result"] = game.result
    if game.opening.name:
        headers["Opening"] = game.opening.name
    if white.limits == black.limits:
        headers["TimeControl"] = str(white.limits)
    else:
        headers["WhiteTimeControl"], headers["BlackTimeControl"] = str(white.limits), str(black.limits)
    if game.fault:
        headers["Termination"] = _TERMINATIONS[game.fault.kind]
    else:
        headers["Termination"] = "adjudication" if "adjudication" in game.reason else "normal"
    node: chess.pgn.GameNode = text
    for uci in game.opening.moves:
        node = node.add_variation(board.push_uci(uci), comment="book")
    for move in game.moves:
        node = node.add_variation(board.push_uci(move.uci), comment=move_comment(move))
    node.comment = f"{node.comment}, {game.reason}" if node.comment else game.reason
    return str(text)


def append_game(file: Path, text: str) -> None:
    """Append a game, or nothing if the text is empty, to a file; OptionError if it cannot be written."""
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n\n" if text else "")
    except OSError as error:
        raise OptionError(f"cannot write {file}: {error.strerror}") from None
