"""Draw the plots of the guide to the Python library (docs/python.md) into docs/images.

This takes a minute on one processor, and needs the extra ``workshop`` for matplotlib. The plots change a little with
each version of the engine.
"""

import argparse
from pathlib import Path

import chess
import numpy as np
from chess.engine import Limit
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knightadder import analyse_many, evaluate_many

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DOTS_PER_INCH = 100

OPERA_GAME = (
    "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 "
    "Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"
)
MIDDLE_GAME = "r2q1rk1/pp2bppp/2n1bn2/3p4/8/2N1BN2/PP2BPPP/R2Q1RK1 w - - 4 12"
ILLEGAL = -32_768


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES, help="folder for the plots (default: docs/images)")
    folder = parser.parse_args().folder
    for name, draw, size in (
        ("python-game.png", draw_game, (8.0, 3.6)),
        ("python-chess960.png", draw_start_positions, (8.0, 3.6)),
        ("python-knight.png", draw_knight, (5.0, 4.4)),
    ):
        figure = Figure(size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(folder / name, dpi=DOTS_PER_INCH)
        print(folder / name)


def draw_game(axes: Axes) -> None:
    """Plot the scores of Morphy's Opera Game: static evaluation and search."""
    board, boards, names = chess.Board(), [chess.Board()], OPERA_GAME.split()
    for name in names:
        board.push_san(name)
        boards.append(board.copy())
    searched = analyse_many(boards, Limit(nodes=500_000))
    pawns = [analysis.score.white().score(mate_score=100_000) / 100 for analysis in searched]
    glances = evaluate_many(boards) / 100
    plies = np.arange(len(boards))
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.fill_between(plies, np.clip(pawns, -10, 10), color="tab:blue", alpha=0.2)
    axes.plot(plies, np.clip(pawns, -10, 10), color="tab:blue", label="after 500,000 nodes")
    axes.plot(plies, np.clip(glances, -10, 10), color="tab:orange", label="at a glance")
    for ply, name in ((19, "10. Nxb5"), (25, "13. Rxd7"), (31, "16. Qb8+")):
        axes.annotate(
            name, (ply, np.clip(pawns[ply], -10, 10)), (0, 4), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set(xlabel="ply", ylabel="pawns, White's view", xlim=(0, len(names)), ylim=(-9, 11.5))
    axes.set_title("Morphy against the Duke of Brunswick and Count Isouard, Paris 1858", fontsize=10)
    axes.legend(loc="upper left", frameon=False)


def draw_start_positions(axes: Axes) -> None:
    """Plot White's advantage in the start positions of Chess960."""
    boards = [chess.Board.from_chess960_pos(number) for number in range(960)]
    searched = analyse_many(boards, Limit(nodes=50_000))
    scores = [analysis.score.white().score(mate_score=100_000) for analysis in searched]
    usual = scores[chess.Board().chess960_pos() or 0]
    axes.hist(scores, bins=list(range(min(scores) // 5 * 5, max(scores) + 6, 5)), color="tab:blue", alpha=0.7)
    axes.axvline(usual, color="tab:orange", label=f"the usual start position: {usual}")
    axes.axvline(float(np.mean(scores)), color="black", linestyle=":", label=f"mean: {np.mean(scores):.0f}")
    axes.set(xlabel="centipawns, White's view", ylabel="start positions")
    axes.set_title("The 960 start positions of Chess960, 50,000 nodes each", fontsize=10)
    axes.legend(frameon=False)


def draw_knight(axes: Axes) -> None:
    """Plot the value of a white knight on each square."""
    board = chess.Board(MIDDLE_GAME)
    board.remove_piece_at(chess.F3)
    boards = []
    for square in chess.SQUARES:
        moved = board.copy()
        if board.piece_at(square) is None:
            moved.set_piece_at(square, chess.Piece(chess.KNIGHT, chess.WHITE))
            moved.turn = chess.BLACK  # with White to move, Black's king could illegally be in check
        else:
            moved.clear_board()  # an invalid position leaves the square empty
        boards.append(moved)
    values = np.ma.masked_equal(evaluate_many(boards, illegal=ILLEGAL).reshape(8, 8), ILLEGAL)
    values = values - values.mean()
    image = axes.imshow(values, origin="lower", cmap="RdYlGn", vmin=-100, vmax=100)
    for (rank, file), value in np.ndenumerate(values):
        piece = board.piece_at(chess.square(file, rank))
        text = piece.unicode_symbol() if piece else f"{value:+.0f}"
        axes.text(file, rank, text, ha="center", va="center", fontsize=13 if piece else 8)
    axes.set_xticks(range(8), "abcdefgh")
    axes.set_yticks(range(8), "12345678")
    axes.set_title("A white knight's squares, in centipawns", fontsize=10)
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


if __name__ == "__main__":
    main()
