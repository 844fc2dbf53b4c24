"""Requests of a page that wait until the test lets each of them be answered, in any order."""


def route_now(page, pattern, handler):
    """Let `handler` answer the page's requests whose URL matches `pattern`, from the next request on.

    After Playwright's `route`, a busy browser still sends some requests past the handler.
    """
    taken = []
    page.route("**/pages", lambda route: taken.append(route) or route.continue_())
    page.route(pattern, handler)
    while not taken:
        _ask_server(page)
    page.unroute("**/pages")


class HeldRequests:
    """Hold the page's requests whose URL matches `pattern`, numbered from 0."""

    def __init__(self, page, pattern):
        self._page = page
        self._routes = []
        route_now(page, pattern, lambda route: self._routes.append(route))

    def wait_for(self, count):
        """Wait until the page has sent this many requests."""
        while len(self._routes) < count:
            self._page.wait_for_timeout(5)

    def answer(self, number):
        """Let the server answer a request, and wait until the page has dealt with the answer."""
        route = self._routes[number]
        self._finish(route, route.continue_)

    def fail(self, number):
        """Answer a request with a problem, and wait until the page has dealt with it."""
        route = self._routes[number]
        self._finish(route, lambda: route.fulfill(json={"problem": "The server is busy"}))

    def _finish(self, route, finish):
        with self._page.expect_response(lambda response: response.request == route.request):
            finish()
        _ask_server(self._page)


def _ask_server(page):
    """Let the page ask the server for something harmless, and wait for the answer."""
    page.evaluate("fetch('/pages').then((answer) => answer.text())")
