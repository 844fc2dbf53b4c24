"""A bot that plays on a server of this machine."""

import contextlib
import threading
from dataclasses import replace

import pytest
from fake_lichess import BOT, TOKEN
from lichess_players import PATIENCE, TIMEOUTS, Chooser, StillClock

from knightadder.lichess.bot import Bot
from knightadder.lichess.bot_api import Lichess
from knightadder.lichess.engines import GameEngines
from knightadder.lichess.settings import BotSettings


class Running:
    """A bot in a thread of its own."""

    def __init__(self, bot, lichess, engines, clock):
        self.bot, self.lichess, self.engines, self.clock = bot, lichess, engines, clock
        self.failure = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            self.bot.run()
        except Exception as error:
            self.failure = error

    def wait(self):
        """Wait until the bot has ended by itself."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the bot does not end"


@pytest.fixture
def start_bot():
    """Start bots, which are ended after the test."""
    with contextlib.ExitStack() as stack:

        def start(server, make_engine=Chooser, clock=None, **settings):
            clock = clock or StillClock()
            made = []

            def make():
                made.append(make_engine())
                return made[-1]

            lichess = Lichess(server.url, TOKEN, clock, threading.Event(), TIMEOUTS)
            settings = replace(BotSettings(url=server.url), **settings)
            running = Running(Bot(lichess, BOT, GameEngines(make), settings, clock), lichess, made, clock)
            stack.callback(lichess.close)
            stack.callback(running.wait)
            stack.callback(running.bot.interrupt)
            stack.callback(running.bot.interrupt)
            return running

        yield start
