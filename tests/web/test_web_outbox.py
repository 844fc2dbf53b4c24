"""What waits to be sent: it stays little, however slowly a tab reads."""

import asyncio
import json
from functools import partial

import pytest
from stand_in_engine import StandInEngine
from starlette.websockets import WebSocketDisconnect

from knightadder.web.session import Session
from knightadder.web.site.outbox import Outbox
from knightadder.web.site.tabs import End, Tab


class SlowTab:
    """A tab that sends messages as fast as they are taken, and reads none until it is let."""

    def __init__(self, messages):
        self._messages = iter(messages)
        self.taken = 0
        self.read = []
        self.blocked = asyncio.Event()
        self.reads = asyncio.Event()

    async def receive(self):
        self.taken += 1
        await asyncio.sleep(0)  # let the others go on
        return {"type": "websocket.receive", "text": next(self._messages, None)}

    async def send_text(self, text):
        self.blocked.set()
        await self.reads.wait()
        self.read.append(json.loads(text))


def test_a_tab_that_does_not_read_is_not_answered():
    async def serve():
        tab = SlowTab([json.dumps({"type": "check_fen", "fen": str(number)}) for number in range(500)])
        serving = asyncio.create_task(Tab(partial(Session, StandInEngine), "server").serve(tab))
        await tab.blocked.wait()
        for _ in range(1000):  # what it could do now, it has then done
            await asyncio.sleep(0)
        assert tab.taken <= 1
        tab.reads.set()
        assert await serving is End.GOODBYE
        return [message["fen"] for message in tab.read if message["type"] == "fen_checked"]

    assert asyncio.run(serve()) == [str(number) for number in range(500)]


def test_only_the_newest_lines_wait():
    async def send():
        tab, outbox = SlowTab([]), Outbox()
        tab.reads.set()
        for number in range(1000):
            outbox.put({"type": "lines", "number": number})
            outbox.put({"type": "progress", "number": number})
        outbox.put({"type": "error"})
        sending = asyncio.create_task(outbox.send_all(tab))
        await outbox.empty()
        sending.cancel()
        return tab.read

    assert asyncio.run(send()) == [
        {"type": "lines", "number": 999},
        {"type": "progress", "number": 999},
        {"type": "error"},
    ]


@pytest.mark.parametrize("error", [WebSocketDisconnect(), RuntimeError("closed")])
def test_nobody_waits_for_a_tab_that_is_gone(error):
    class Gone:
        async def send_text(self, text):
            raise error

    async def send():
        outbox = Outbox()
        outbox.put({"type": "error"})
        await outbox.send_all(Gone())
        outbox.put({"type": "error"})
        await outbox.empty()

    asyncio.run(send())
