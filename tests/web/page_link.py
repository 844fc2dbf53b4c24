"""A page's connection to the server, in the hands of a test."""


class Link:
    """A connection that keeps the page's messages while it is `slow`, and that can break."""

    def __init__(self):
        self.slow = False
        self._waiting = []

    def connect(self, socket):
        self._page, self._server = socket, socket.connect_to_server()
        socket.on_message(lambda message: self._waiting.append(message) if self.slow else self._server.send(message))

    def deliver(self):
        self.slow = False
        while self._waiting:
            self._server.send(self._waiting.pop(0))

    def lose(self, forgotten=False):
        """Break the connection; the server forgets the tab's session only after a goodbye.

        The page tries to connect again once its clock has run for half a second.
        """
        self._server.close(code=1000 if forgotten else 3000)
        self._page.close()
