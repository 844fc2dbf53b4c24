"""Finding puzzles: candidates, solutions and what is too trivial."""

import chess
import pytest
from scripted_analyst import ScriptedAnalyst

from knightadder import Engine
from knightadder.puzzles.finding import Reason, find_puzzles
from knightadder.review.accuracy import rescale

NODES = 1000


def _game(fen, *sans):
    board = chess.Board(fen)
    for san in sans:
        board.push_san(san)
    return board


def _script(fen, sans, scores):
    """Give the script of a line: for each position the score of the move and, unless None, that of another one."""
    board, script = chess.Board(fen), {}
    for san, (score, second) in zip(sans, scores, strict=True):
        move = board.parse_san(san)
        others = [other for other in board.legal_moves if other != move]
        script[board.epd()] = [(score, san)] + ([] if second is None else [(second, board.san(others[0]))])
        board.push(move)
    return script


def _found(game, analyst):
    return [
        ([move.uci() for move in found.solution.moves], found.ply, found.saves)
        for found in find_puzzles(game, analyst, NODES).puzzles
    ]


# Black's queen runs into a fork: from each position on, the right move, its score, and the second-best score.
FORK = "1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1"
LINE = ("Qc8", "Nd6+", "Kd7", "Nxc8", "Kxc8", "g4")
SCORES = ((600, -350), (350, -600), (-350, -360), (350, -600), (-350, -360), (350, 340))


def _scores(**changed):
    return [changed.get(f"at{ply}", pair) for ply, pair in enumerate(SCORES)]


def test_a_mistake_that_loses_to_a_fork():
    (found,) = find_puzzles(_game(FORK, "Qc8"), ScriptedAnalyst(_script(FORK, LINE, SCORES)), NODES).puzzles
    solution = found.solution
    assert [move.uci() for move in solution.moves] == ["f5d6", "e8d7", "d6c8"]
    assert solution.fen == "2q1k3/8/8/5N2/8/8/6PP/7K w - - 1 2"
    assert (solution.previous_fen, solution.previous.uci()) == (FORK, "b8c8")
    assert (found.ply, found.saves, found.score) == (2, False, rescale(chess.engine.Cp(350)))


@pytest.mark.parametrize(
    ("scores", "moves"),
    [
        (_scores(at3=(350, 300)), ["f5d6"]),  # another move wins as well
        (_scores(at3=(350, None)), ["f5d6"]),  # the only legal move is no task
        (_scores(at3=(100, -600)), ["f5d6"]),  # no longer won
        (_scores(at1=(350, 300)), None),
        (_scores(at1=(200, -600)), None),  # not won
        (_scores(at0=(-320, None), at1=(1000, -600)), None),  # won before the mistake already
    ],
)
def test_a_solution_goes_on_while_only_one_move_wins(scores, moves):
    found = _found(_game(FORK, "Qc8"), ScriptedAnalyst(_script(FORK, LINE, scores)))
    assert found == ([] if moves is None else [(moves, 2, False)])


@pytest.mark.parametrize(("score", "found"), [(-600, True), (300, False)])
def test_the_other_moves_alone_must_be_worse(score, found):
    game = _game(FORK, "Qc8")
    analyst = ScriptedAnalyst(_script(FORK, LINE, SCORES), alone={game.epd(): [(score, "Kg1")]})
    assert bool(_found(game, analyst)) == found


@pytest.mark.parametrize("disagrees", [NODES, 4 * NODES])
def test_the_deciding_search_and_the_second_look_must_agree_with_the_quick_one(disagrees):
    script = _script(FORK, LINE, SCORES)
    start = _game(FORK, "Qc8").epd()

    def tell(board, nodes):
        return [(350, "Kg1"), (-600, "Nd6+")] if board.epd() == start and nodes == disagrees else None

    assert _found(_game(FORK, "Qc8"), ScriptedAnalyst(script, tell)) == []


def test_the_candidates_are_found_without_second_best_moves():
    searches = []
    analyst = ScriptedAnalyst(_script(FORK, LINE, SCORES), lambda board, nodes: searches.append(nodes))
    assert find_puzzles(_game(FORK, "Qc8"), analyst, NODES).puzzles
    assert None not in searches  # the depth that `annotate` needs to compare moves


def test_the_reason_why_a_game_has_no_puzzle():
    def reason(scores, moves=("Qc8",)):
        return find_puzzles(_game(FORK, *moves), ScriptedAnalyst(_script(FORK, LINE, scores)), NODES).reason

    assert reason(_scores(at0=(-320, None), at1=(350, -600))) == Reason.NO_MISTAKE
    assert reason(_scores(at1=(350, 300))) == Reason.SEVERAL
    assert reason(SCORES) is None
    hanging = "4k3/8/8/8/3r4/8/6PP/3R3K b - - 0 1"
    script = _script(hanging, ("Rd5", "Rxd5", "Ke7"), ((500, -500), (500, -500), (-500, -500)))
    assert find_puzzles(_game(hanging, "Rd5"), ScriptedAnalyst(script), NODES).reason == Reason.TRIVIAL


@pytest.mark.parametrize("nodes", [NODES, 4 * NODES])
def test_an_advantage_that_longer_searches_do_not_see(nodes):
    start = _game(FORK, "Qc8").epd()
    analyst = ScriptedAnalyst(
        _script(FORK, LINE, SCORES),
        lambda board, searched: [(0, "Kg1"), (-9, "Nd6+")] if board.epd() == start and searched == nodes else None,
    )
    findings = find_puzzles(_game(FORK, "Qc8"), analyst, NODES)
    assert (findings.puzzles, findings.reason) == ([], Reason.UNCLEAR)


@pytest.mark.parametrize(("passing", "zugzwang"), [(0, True), (-350, False)])
def test_zugzwang(passing, zugzwang):
    # After the puzzle's last move the opponent has few moves, and all lose; perhaps a pass would not.
    script = _script(FORK, LINE, SCORES)
    passed = _game(FORK, *LINE[:4])
    passed.push(chess.Move.null())
    script[passed.epd()] = [(-passing, "g3")]
    (found,) = find_puzzles(_game(FORK, "Qc8"), ScriptedAnalyst(script), NODES).puzzles
    assert found.zugzwang == zugzwang


def test_a_position_within_a_solution_is_no_other_puzzle():
    scores = _scores(at5=(350, -600))
    script = _script(FORK, LINE, scores) | {_game(FORK, "Qc8", "Nd6+").epd(): [(600, "Kd7")]}  # seen as a mistake
    assert len(_found(_game(FORK, "Qc8", "Nd6+", "Kd7"), ScriptedAnalyst(script))) == 1


@pytest.mark.parametrize(("plies", "both"), [(1, False), (4, False), (5, False), (6, True), (7, True)])
def test_puzzles_of_a_game_are_six_plies_apart(plies, both):
    start = _game(FORK, "Qc8")
    script = {start.epd(): [(350, "Nd6+"), (-600, "Kg1")]}
    game = _game(FORK, "Qc8", *("Kg1", "Kd8", "h3", "Kc7", "h4", "Kb8", "g3")[:plies])
    first, second = list(game.legal_moves)[:2]
    script[game.epd()] = [(600, game.san(first)), (-600, game.san(second))]
    found = [ply for _, ply, _ in _found(game, ScriptedAnalyst(script))]
    assert found == ([2, 2 + plies] if both else [2])


@pytest.mark.parametrize(("clock", "found"), [(59, True), (60, False)])
def test_no_puzzle_depends_on_the_fifty_move_rule(clock, found):
    fen = FORK.replace("- 0 1", f"- {clock} 90")
    assert bool(_found(_game(fen, "Qc8"), ScriptedAnalyst(_script(fen, LINE, SCORES)))) == found


def test_the_only_saving_move():
    scores = ((600, 0), (0, -600), (0, 0), (0, -10), (0, 0), (0, 0))
    expected = [(["f5d6"], 2, True)]
    assert _found(_game(FORK, "Qc8"), ScriptedAnalyst(_script(FORK, LINE, scores))) == expected
    won = ((600, 0), (400, -600), (-400, 0), (0, -10), (0, 0), (0, 0))  # it wins
    assert not any(saves for *_, saves in _found(_game(FORK, "Qc8"), ScriptedAnalyst(_script(FORK, LINE, won))))
    # The opponent made no mistake, but the player of the game did not find the move.
    level = ScriptedAnalyst(_script(FORK, LINE, ((0, 0), *scores[1:])))
    assert _found(_game(FORK, "Qc8"), level) == []
    level.script[_game(FORK, "Qc8", "Kg1").epd()] = [(600, "Qc1+")]
    assert _found(_game(FORK, "Qc8", "Kg1"), level) == expected


@pytest.mark.parametrize(
    ("fen", "mistake", "solution"),
    [
        ("3rk3/8/8/8/8/8/3R2PP/3R3K b - - 0 1", "Rxd2", "Rxd2"),  # takes back
        ("4k3/8/8/8/3r4/8/6PP/3R3K b - - 0 1", "Rd5", "Rxd5"),  # takes what hangs
        ("4k3/8/2p5/8/3q4/8/6PP/3R3K b - - 0 1", "Qd5", "Rxd5"),  # takes more than it may lose
        ("4k3/P7/8/8/3r4/8/6PP/7K b - - 0 1", "Rd7", "a8=Q+"),
    ],
)
def test_trivial_solutions_are_left_out(fen, mistake, solution):
    after = _game(fen, mistake, solution)
    reply = after.san(next(iter(after.legal_moves)))
    script = _script(fen, (mistake, solution, reply), ((500, -500), (500, -500), (-500, -500)))
    assert _found(_game(fen, mistake), ScriptedAnalyst(script)) == []


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/r7/5PPP/3R2K1 b - - 0 1", ["d1d8"]),
        ("6k1/P4ppp/8/8/8/r7/5PPP/3R2K1 b - - 0 1", None),  # two moves mate
    ],
)
def test_a_mate_in_one_must_be_the_only_one(fen, moves):
    start = _game(fen, "Rf3")
    analyst = ScriptedAnalyst({start.epd(): [("#1", "Rd8#")]})
    assert _found(start, analyst) == ([] if moves is None else [(moves, 2, False)])


def test_a_long_solution_is_cut():
    fen = "k7/8/8/7p/8/8/P7/7K b - - 0 1"

    def tell(board, nodes):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        best, other = (500, -500) if board.turn == chess.WHITE else ((-500, -500) if board.move_stack else (0, 0))
        return [(best, board.san(moves[0])), (other, board.san(moves[-1]))]

    (found,) = find_puzzles(_game(fen, "h4"), ScriptedAnalyst(tell=tell), NODES).puzzles
    assert len(found.solution.moves) == 11


def test_the_engine_finds_puzzles_and_the_same_ones_again():
    with Engine(hash_mb=4) as engine:
        mate = _game(chess.STARTING_FEN, "e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#")
        fork = _game(FORK, "Qc8")
        first = [find_puzzles(game, engine, 20_000).puzzles for game in (mate, fork)]
        again = [find_puzzles(game, engine, 20_000).puzzles for game in (fork, mate)]
    assert first == again[::-1]
    assert [[move.uci() for move in found.solution.moves][::2] for each in first for found in each] == [
        ["h5f7"],
        ["f5d6", "d6c8"],
    ]
