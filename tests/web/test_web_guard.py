"""Who may ask the server: the user's page, and nobody else."""

import pytest
from board_tab import connect_to, get
from websockets.exceptions import InvalidStatus

from knightadder.web.site.guard import is_loopback, is_own_host


def test_the_address_lets_the_browser_in(server):
    answer, _ = get(server, f"/?token={server.token}", Cookie="")
    assert (answer.status, answer.headers["Location"]) == (303, "/")  # nobody can read the token there
    cookie, *properties = answer.headers["Set-Cookie"].split("; ")
    assert cookie == server.cookie and {"HttpOnly", "SameSite=lax"} <= set(properties)
    answer, page = get(server, "/", Cookie=cookie)
    assert answer.status == 200 and "<title>Knightadder" in page


def test_the_ticket_lets_one_browser_in(own_server):
    answer, _ = get(own_server, f"/?token={own_server.ticket}", Cookie="")
    cookie = answer.headers["Set-Cookie"].split("; ")[0]
    assert (answer.status, answer.headers["Location"], cookie) == (303, "/", own_server.cookie)
    answer, text = get(own_server, f"/?token={own_server.ticket}", Cookie="")
    assert answer.status == 403 and text.startswith("This address has been used before.")
    assert get(own_server, f"/?token={own_server.ticket}", Cookie=cookie)[0].status == 200  # the same browser again


@pytest.mark.parametrize("path", ["/main.js", "/nothing", "/?token=guessed", "/?token=%FF"])
@pytest.mark.parametrize(
    "cookie", ["", "knightadder-1={token}", "knightadder-{port}=guessed", "knightadder-{port}=\xe4"]
)
def test_nothing_is_served_without_the_token(server, path, cookie):
    port = server.host.split(":")[1]
    answer, body = get(server, path, Cookie=cookie.format(port=port, token=server.token))
    assert answer.status == 403 and "Open the whole address" in body and "<" not in body


@pytest.mark.parametrize("token", ["", "?token=", "?token=guessed"])
def test_no_socket_is_opened_without_the_token(server, token):
    with pytest.raises(InvalidStatus) as caught, connect_to(f"http://{server.host}/{token}"):
        pass
    assert caught.value.response.status_code == 403


def test_the_cookie_opens_a_socket(server):
    with connect_to(f"http://{server.host}/", additional_headers={"Cookie": server.cookie}) as socket:
        assert "session" in socket.recv()


def test_another_host_name_is_refused(server):
    answer, body = get(server, "/", Host="rebound.example:8642")
    assert answer.status == 421 and "<html" not in body
    assert get(server, "/", Host="localhost:8642")[0].status == 200


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://foreign.example",
        "http://127.0.0.1:1",
        "null",
        "http://localhost",
        "http://[broken",
        "http://[::1",
        "",
    ],
)
def test_a_foreign_origin_is_refused(server, origin):
    with pytest.raises(InvalidStatus) as caught, connect_to(server.address, origin=origin):
        pass
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize(
    ("header", "listening", "own"),
    [
        ("127.0.0.1:8642", "127.0.0.1", True),
        ("localhost:8642", "127.0.0.1", True),
        ("LOCALHOST", "127.0.0.1", True),
        ("[::1]:8642", "127.0.0.1", True),
        ("[::1]:8642", "::1", True),
        ("192.168.0.7:8642", "127.0.0.1", False),
        ("evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("[broken", "127.0.0.1", False),
        ("192.168.0.7:8642", "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False),
        ("board.example:80", "board.example", True),
    ],
)
def test_names_of_this_server(header, listening, own):
    assert is_own_host(header, listening) is own


def test_loopback_addresses():
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.7", "board.example", "")))
