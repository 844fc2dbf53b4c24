"""The example configuration for lichess-bot: its engine options are the engine's, and work as lichess-bot uses them."""

import sys
from pathlib import Path

import chess
import chess.engine
import pytest
import yaml

from knightadder.engine.options import OPTIONS
from knightadder.lichess.challenges import MODES, SPEEDS, VARIANTS

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "docs" / "lichess-bot.yml").read_text("utf-8"))
DECLARED = {option.name: option for option in OPTIONS}

# The options that lichess-bot's own example configuration sets, and those that it sets by itself through python-chess.
FIVE = {"Move Overhead", "Threads", "Hash", "SyzygyPath", "UCI_ShowWDL"}
MANAGED = {"UCI_Chess960", "MultiPV", "Ponder"}


def test_all_options_that_lichess_bot_sends_are_declared():
    assert set(DECLARED) >= FIVE | MANAGED
    assert set(CONFIG["engine"]["uci_options"]) == FIVE


@pytest.mark.parametrize(("name", "value"), CONFIG["engine"]["uci_options"].items())
def test_each_option_is_declared_and_its_value_in_range(name, value):
    option = DECLARED[name]
    assert option.type != "button" and not chess.engine.Option(name, "", None, None, None, None).is_managed()
    option.parse(str(value).lower() if isinstance(value, bool) else str(value))


def test_what_is_accepted_is_what_can_be_played():
    challenge = CONFIG["challenge"]
    assert set(challenge["variants"]) == set(VARIANTS)
    assert set(challenge["time_controls"]) <= set(SPEEDS)
    assert set(challenge["modes"]) == set(MODES)


def test_the_engine_plays_as_lichess_bot_uses_it(shared_engine):
    """The calls that lichess-bot makes, in their order; a game of Chess960 and one of chess.

    `shared_engine` has compiled the core by then, for which no program would wait.
    """
    with chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "knightadder"], timeout=200) as engine:
        engine.configure(CONFIG["engine"]["uci_options"])
        for board in (chess.Board(), chess.Board.from_chess960_pos(17)):
            opponent = chess.engine.Opponent(name="Rival", title="BOT", rating=2000, is_engine=True)
            engine.send_opponent_information(opponent=opponent, engine_rating=2100)
            first = chess.engine.Limit(time=10, nodes=200, clock_id="first move")
            clocks = chess.engine.Limit(
                white_clock=60, black_clock=60, white_inc=1, black_inc=1, nodes=200, clock_id="real time"
            )
            for ply in range(6):
                result = engine.play(
                    board,
                    first if ply < 2 else clocks,
                    info=chess.engine.INFO_ALL,
                    ponder=ply >= 2,
                    draw_offered=False,
                )
                assert "score" in result.info and "wdl" in result.info
                board.push(result.move)
            engine.send_game_result(board, chess.WHITE, "Black resigned")
        engine.ping()
