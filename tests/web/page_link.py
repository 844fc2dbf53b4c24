"""A page's connection to the server, in the hands of a test."""

from board_tab import PATIENCE


class Link:
    """A connection that can break; it keeps the page's messages while `slow`, and the server's while `late`."""

    def __init__(self, engine):
        self._engine = engine
        self.slow = self.late = False
        self._waiting, self._answers = [], []

    def connect(self, socket):
        self._page, self._server = socket, socket.connect_to_server()
        socket.on_message(lambda message: self._waiting.append(message) if self.slow else self._server.send(message))
        self._server.on_message(lambda message: self._answers.append(message) if self.late else socket.send(message))

    def deliver(self):
        self.slow = self.late = False
        while self._waiting:
            self._server.send(self._waiting.pop(0))
        while self._answers:
            self._page.send(self._answers.pop(0))

    def deliver_first(self, page):
        """Deliver the first message of the page, and keep the others."""
        while not self._waiting:
            page.wait_for_timeout(5)
        self._server.send(self._waiting.pop(0))

    def lose(self, forgotten=False):
        """Break the connection; the server forgets the tab's session only after a goodbye.

        The page tries to connect again once its clock has run for half a second.
        """
        self._server.close(code=1000 if forgotten else 3000)
        self._page.close()
        if forgotten:  # else the page could come back before that
            assert self._engine.closed.wait(PATIENCE)
