"""The game: positions, moves and history, against python-chess."""

import random

import chess
import numpy as np
import pytest

from knightadder.core.board.repetition import GAME_KEYS
from knightadder.core.tables import new_tables
from knightadder.engine.errors import PositionError
from knightadder.engine.game import Game

TABLES = new_tables()
SHUFFLE = ["g1f3", "g8f6", "f3g1", "f6g8"]
ROOK_ENDING = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"


@pytest.fixture
def game() -> Game:
    return Game(TABLES)


def bitboards(board: chess.Board) -> np.ndarray:
    ep = board.ep_square if board.has_legal_en_passant() else 64
    men = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
    sides = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    rest = board.castling_rights, ep, int(not board.turn), board.halfmove_clock
    return np.array([*men, *sides, *rest], np.uint64)


def random_game(board: chess.Board, plies: int, rng: random.Random, reversible: bool = False) -> list[str]:
    """Play random moves; without mates and stalemates and, if asked, captures and pawn moves."""
    moves = []
    while len(moves) < plies:
        choice = [move for move in board.legal_moves if not (reversible and board.is_zeroing(move))]
        rng.shuffle(choice)
        for move in choice:
            board.push(move)
            if any(board.legal_moves):
                moves.append(move.uci())
                break
            board.pop()
        else:
            raise AssertionError("nothing left to play")
    return moves


def ending(board: chess.Board) -> set[str]:
    """Say by which rules of draws the game is over."""
    reasons = set()
    if board.halfmove_clock >= 100 and any(board.legal_moves):
        reasons.add("the fifty-move rule")
    if board.is_repetition(3):
        reasons.add("threefold repetition")
    if board.is_insufficient_material():
        reasons.add("insufficient material")
    return reasons


@pytest.mark.parametrize("seed", range(2))
def test_a_game_of_a_thousand_plies_is_followed_with_its_draws(game: Game, seed: int) -> None:
    moves = random_game(chess.Board(), 1000, random.Random(seed))
    board = chess.Board()
    for played, move in enumerate(moves, 1):
        board.push_uci(move)
        if played % 31 == 0 or played == len(moves):
            game.set_up(None, moves[:played])
            assert game.fen() == board.fen(en_passant="legal")
            assert set(game.legal_moves_uci()) == {move.uci() for move in board.legal_moves}
            drawn_by = game.status().partition("; drawn by ")[2]
            assert drawn_by in (ending(board) or {""})


@pytest.mark.parametrize(("start", "reversible"), [(chess.STARTING_FEN, False), (ROOK_ENDING, True)])
def test_moves_can_be_played_one_by_one(game: Game, start: str, reversible: bool) -> None:
    moves = random_game(chess.Board(start), 300, random.Random(7), reversible)
    board = chess.Board(start)
    game.set_up(start)
    for move in moves:
        game.push(game.find(move))
        board.push_uci(move)
        assert game.fen() == board.fen(en_passant="legal")
        assert game.drawn == bool(ending(board))


def test_repetitions_are_counted_from_the_first_position_on(game: Game) -> None:
    board = chess.Board()
    for plies in range(13):
        game.set_up(None, (SHUFFLE * 4)[:plies])
        assert ("threefold repetition" in game.status()) == board.is_repetition(3), plies
        board.push_uci((SHUFFLE * 4)[plies])
    # A right to castle, lost by the king's step and back, makes another position of the same board.
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    steps = ["e1e2", "e8e7", "e2e1", "e7e8"] * 3
    for plies in range(len(steps)):
        game.set_up("4k3/8/8/8/8/8/8/4K2R w K - 0 1", steps[:plies])
        assert ("threefold repetition" in game.status()) == board.is_repetition(3), plies
        board.push_uci(steps[plies])


def test_more_reversible_moves_than_there_is_room_for_keep_the_latest_keys(game: Game) -> None:
    board = chess.Board(ROOK_ENDING)
    moves = random_game(board, GAME_KEYS + 77, random.Random(5), reversible=True)
    game.set_up(ROOK_ENDING, moves)
    assert game.fen() == board.fen(en_passant="legal")
    keys = []
    replay = chess.Board(ROOK_ENDING)
    other = Game(TABLES)
    for move in moves:
        other.set_up(replay.fen(en_passant="legal"))
        keys.append(int(other.record.stack[0].key))
        replay.push_uci(move)
    assert game.record.key_count == GAME_KEYS
    assert game.record.keys[:GAME_KEYS].tolist() == keys[-GAME_KEYS:]


@pytest.mark.parametrize(
    ("fen", "moves", "message"),
    [
        ("nonsense", [], "^illegal position: "),
        ("8/8/8/8/8/8/8/8 w - - 0 1", [], "^illegal position: "),
        ("4k3/8/8/8/8/8/8/4K2R b K - 0 0 0 0", [], "^illegal position: "),
        ("4k2R/8/8/8/8/8/8/4K3 w - - 0 1", [], r"check \(4k2R/8/8/8/8/8/8/4K3 w - - 0 1\)$"),
        (None, ["e2e4", "e7e5", "e4e5", "g1f3"], "^illegal move: e4e5$"),
        (None, ["e2e4", "0000"], "^illegal move: 0000$"),
        (None, [""], "^illegal move:$"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", ["a7a8"], "^illegal move: a7a8$"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", ["a7a8k"], "^illegal move: a7a8k$"),
    ],
)
def test_what_is_not_legal_is_refused_and_all_stays_as_it_was(
    game: Game, fen: str | None, moves: list[str], message: str
) -> None:
    # One move before the third repetition, so that a loss of the history would show.
    game.set_up(None, (SHUFFLE * 2)[:-1])
    before = game.diagram()
    with pytest.raises(PositionError, match=message):
        game.set_up(fen, moves)
    assert game.diagram() == before
    assert game.record.key_count == 7
    assert game.legal_moves_uci()


@pytest.mark.parametrize(
    ("fen", "status"),
    [
        (chess.STARTING_FEN, "White to move"),
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "White is checkmated"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "Black is stalemated"),
        ("4k3/8/8/8/8/8/8/4K2R b - - 99 90", "Black to move"),
        ("4k3/8/8/8/8/8/8/4K2R b - - 100 90", "Black to move; drawn by the fifty-move rule"),
        ("4k2R/8/4K3/8/8/8/8/8 b - - 100 90", "Black is checkmated"),
        ("4k2R/8/8/8/8/8/8/4K3 b - - 0 1", "Black to move, in check"),
        ("4k3/8/8/8/8/8/8/4K1N1 w - - 0 1", "White to move; drawn by insufficient material"),
    ],
)
def test_the_state_of_the_game_is_said(game: Game, fen: str, status: str) -> None:
    game.set_up(fen)
    assert game.status() == status
    assert status in game.diagram().splitlines()


def test_the_diagram_shows_the_board_as_python_chess_prints_it(game: Game) -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    game.set_up(board.fen())
    lines = game.diagram().splitlines()
    assert [line[3:] for line in lines[:8]] == str(board).splitlines()
    assert f"Fen: {board.fen()}" in lines
    assert f"Moves: {' '.join(sorted(move.uci() for move in board.legal_moves))}" in lines
    game.set_up("4k2R/8/8/8/8/8/8/4K3 b - - 0 1")
    assert "Checkers: h8" in game.diagram().splitlines()


def test_a_copy_has_the_same_game_and_goes_its_own_way(game: Game) -> None:
    game.set_up(None, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2)
    copy = game.copy()
    assert (copy.fen(), copy.drawn, copy.ply) == (game.fen(), True, 8)
    copy.push(copy.find("e2e4"))
    assert (copy.ply, game.ply, game.drawn) == (9, 8, True)


def test_a_flag_of_the_caller_stops_only_its_own_perft(game: Game) -> None:
    stop, own = np.zeros(1, np.uint64), int(game.record.stop_address)
    assert sum(game.perft(3, stop=stop).values()) == 8902
    game.set_up()  # the record in which perft counted becomes the game's record
    assert int(game.record.stop_address) == own


def test_a_king_may_be_in_check_without_a_piece(game: Game) -> None:
    game.set_up("4k3/4r3/8/8/8/8/4Q3/4K3 w - - 0 1")
    without = game.evaluate_without(chess.E7)
    game.set_up("4k3/8/8/8/8/8/4Q3/4K3 b - - 0 1")  # legal, since the king in check is to move
    assert abs(without + game.evaluate()) < 50  # but for the move
    assert without > 5_000


# --- Positions from bitboards -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chess960", [False, True])
def test_bitboards_give_the_position_that_the_fen_gives(game: Game, chess960: bool) -> None:
    rng, by_fen = random.Random(3), Game(TABLES)
    for number in range(60):
        board = chess.Board.from_chess960_pos(16 * number) if chess960 else chess.Board()
        random_game(board, rng.randrange(60), rng)
        by_fen.set_up(board.fen(en_passant="legal"))
        assert game.set_up_bitboards(bitboards(board), board.fullmove_number)
        assert game.record.stack[0].tobytes() == by_fen.record.stack[0].tobytes()
        assert (game.ply, game.fen(chess960)) == (by_fen.ply, by_fen.fen(chess960))


def test_moves_are_played_from_bitboards(game: Game) -> None:
    assert game.set_up_bitboards(bitboards(chess.Board()), 1, SHUFFLE * 2)
    assert game.drawn
    assert game.fen() == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 8 5"
    with pytest.raises(PositionError, match="illegal move: e2e5"):
        game.set_up_bitboards(bitboards(chess.Board()), 1, ["e2e4", "e7e5", "e2e5"])
    assert game.ply == 8


KINGS, WHITE_MEN, CASTLING, EP, TURN = 5, 6, 8, 9, 10


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, chess.BB_RANK_1),  # pawns where other men stand
        (0, chess.BB_RANK_3),  # pawns that belong to nobody
        (0, 0),  # men of no type
        (KINGS, chess.BB_E1),
        (WHITE_MEN, chess.BB_ALL),  # men that belong to both sides
        (CASTLING, chess.BB_B1),
        (CASTLING, chess.BB_E4),
        (EP, chess.E3),
        (EP, 65),
        (EP, 2**64 - 1),
        (TURN, 2),
        (TURN, 2**64 - 1),
    ],
)
def test_impossible_bitboards_are_refused(game: Game, place: int, value: int) -> None:
    game.set_up(None, ["e2e4"])
    numbers = bitboards(chess.Board())
    numbers[place] = value
    assert not game.set_up_bitboards(numbers, 1)
    assert game.fen() == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def test_bitboards_with_a_king_that_can_be_captured_are_refused(game: Game) -> None:
    assert not game.set_up_bitboards(bitboards(chess.Board("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")), 1)


@pytest.mark.parametrize("placement", ["5K1R w H", "6KR w H", "R1K5 w A", "R2K4 w A", "RK6 w A"])
def test_castling_is_never_written_as_another_move(game: Game, placement: str) -> None:
    game.set_up(f"4k3/8/8/8/8/8/8/{placement} - 0 1")
    moves = game.legal_moves()
    for chess960 in (False, True):
        assert [game.find(name) for name in game.legal_moves_uci(chess960)] == moves
        assert sum(game.perft(1, chess960=chess960).values()) == len(moves)
