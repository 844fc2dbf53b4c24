"""The UCI loop, in this process and against an engine that only pretends to think."""

import io
import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from loop_talk import TIMEOUT, ClosedPipe, Load, LoopTalk, SlowLoading, break_core, loader_of
from samples import LINE

from knightadder import __version__
from knightadder.engine.errors import PositionError
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.loader import Loader, load_engine
from knightadder.engine.options import OPTIONS, Options
from knightadder.protocols import conversation, uci_conversation
from knightadder.protocols.uci_conversation import Uci
from knightadder.protocols.uci_text import format_info

# --- The loop -------------------------------------------------------------------------------------------------------


class FakeEngine:
    """Does as told in the test: a search ends at once, or when `let_go` is set, or at `stop` if it is endless."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.problem: str | None = None
        self.calls: list[str] = []
        self.position = "startpos"
        self.limits: Limits | None = None
        self.let_go = threading.Event()
        self.let_go.set()
        self.answers = threading.Event()  # whether it gives the result of a search that has ended
        self.answers.set()
        self.stopped = threading.Event()
        self.thread: threading.Thread | None = None
        self.closed = False
        self.ready = True

    def set_option(self, name: str, text: str | None) -> list[str]:
        self.calls.append(f"set_option {name}={text}")
        return [f"tables of {text}"] if self.options.set(name, text).name == "SyzygyPath" else []

    def set_position(self, fen: str | None = None, moves: Sequence[str] = ()) -> tuple[str, ...]:
        if fen == "broken" or "e2e5" in moves:
            raise PositionError("no such position")
        self.position = " ".join([fen or "startpos", *moves])
        self.calls.append(f"set_position {self.position}")
        return ("something left out",) if fen == "strange" else ()

    def new_game(self) -> None:
        self.calls.append("new_game")

    def diagram(self) -> str:
        return f"board\nFen: {self.position}"

    def evaluation(self) -> str:
        raise ZeroDivisionError("by nought")

    def go(
        self,
        limits: Limits,
        on_info: Callable[[Info | CurrentMove | Message], None],
        on_done: Callable[[Result], None],
    ) -> None:
        self.calls.append("go")
        self.limits = limits
        self.stopped.clear()

        def search() -> None:
            on_info(LINE)
            if limits.ponder or limits.unlimited:
                self.stopped.wait(TIMEOUT)
            else:
                self.let_go.wait(TIMEOUT)
            self.answers.wait(TIMEOUT)
            on_done(Result("e2e4", "e7e5", LINE))

        self.thread = threading.Thread(target=search)
        self.thread.start()

    def stop(self) -> None:
        self.calls.append("stop")
        self.stopped.set()
        self.let_go.set()

    def ponderhit(self) -> None:
        self.calls.append("ponderhit")
        self.stopped.set()

    def wait(self, timeout: float | None = None) -> bool:
        if self.thread is not None:
            self.thread.join(timeout)
            return not self.thread.is_alive()
        return True

    def perft(self, depth: int, bulk: bool = True) -> dict[str, int]:
        self.stopped.clear()
        self.calls.append(f"perft {depth}")
        self.let_go.wait(TIMEOUT)
        return {"e2e4": 20, "g1f3": 19}

    def hurry(self) -> None:
        self.calls.append("hurry")
        self.ready = True

    def close(self) -> None:
        self.closed = True


class Conversation(LoopTalk):
    """A UCI loop in a thread."""

    def __init__(self, load: Load | None = None) -> None:
        super().__init__(FakeEngine(Options()), Uci, load)

    def ask(self, *lines: str | bytes) -> list[str]:
        """Send lines, and give what is answered before the answer to an `isready` after them."""
        self.send(*lines, "isready")
        return self.read_until("readyok")[:-1]

    def leave(self) -> list[str]:
        rest = super().leave()
        if self.engine.thread is not None:
            self.engine.thread.join(TIMEOUT)
        return rest


@pytest.fixture(autouse=True)
def no_lines_of_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no line says in between for how long the engine has been loading."""
    monkeypatch.setattr(uci_conversation, "TICK", math.inf)


@pytest.fixture
def talk() -> Iterator[Conversation]:
    conversation = Conversation()
    yield conversation
    conversation.leave()


def test_uci_gives_identity_and_options(talk: Conversation) -> None:
    talk.send("uci")
    assert talk.read_until("uciok") == [
        f"id name Knightadder {__version__}",
        "id author the Knightadder authors",
        *(option.uci() for option in OPTIONS),
        "uciok",
    ]


def test_a_ponder_hit_is_passed_on_only_while_pondering(talk: Conversation) -> None:
    talk.send("go infinite")
    talk.read()
    assert talk.ask("ponderhit") == []
    talk.send("stop")
    talk.read_until("bestmove")
    assert "ponderhit" not in talk.engine.calls
    talk.send("go ponder wtime 1000 btime 1000")
    talk.read()
    talk.send("ponderhit")
    assert talk.read().startswith("bestmove")
    assert talk.engine.calls.count("ponderhit") == 1


def test_commands_for_an_idle_engine_wait_in_order_for_the_end_of_a_search(talk: Conversation) -> None:
    talk.engine.let_go.clear()
    talk.send("go depth 3")
    talk.read()
    assert talk.ask("position startpos moves e2e4", "ucinewgame", "d", "setoption name Hash value 32") == []
    assert talk.engine.calls == ["go"]
    talk.engine.let_go.set()
    assert talk.read().startswith("bestmove")
    assert [talk.read(), talk.read()] == ["board", "Fen: startpos e2e4"]
    talk.ask()
    assert talk.engine.calls[1:] == ["set_position startpos e2e4", "new_game", "set_option Hash=32"]


def test_after_stop_the_next_position_and_search_need_not_wait_for_bestmove(talk: Conversation) -> None:
    talk.send("go infinite", "stop", "position startpos moves e2e4", "go depth 2")
    lines = talk.read_until("bestmove") + talk.read_until("bestmove")
    assert not [line for line in lines if line.startswith("info string")]
    assert talk.engine.calls == ["go", "stop", "set_position startpos e2e4", "go"]


@pytest.mark.parametrize("first", ["ponderhit", "stop"])
def test_a_second_ponder_hit_is_for_the_search_that_waits(talk: Conversation, first: str) -> None:
    talk.engine.answers.clear()
    go = "go ponder wtime 300 btime 300"
    talk.send(go, first, go, "ponderhit", "uci")
    talk.read_until("uciok")  # all of it has been heard before the first search has ended
    talk.engine.answers.set()
    talk.read_until("bestmove")
    talk.read_until("bestmove")
    assert talk.engine.calls == ["go", first, "go", "ponderhit"]


@pytest.mark.parametrize(
    ("begin", "end", "call"),
    [("go infinite", "stop", "stop"), ("go ponder wtime 300 btime 300", "ponderhit", "ponderhit")],
)
@pytest.mark.parametrize("between", [[], ["position startpos moves e2e4"]])
def test_what_follows_a_search_that_waits_is_for_that_search(
    talk: Conversation, begin: str, end: str, call: str, between: list[str]
) -> None:
    talk.engine.answers.clear()
    talk.send("go infinite", "stop", *between, begin, end, "position startpos moves d2d4", "uci")
    talk.read_until("uciok")  # all of it has been heard before the first search has ended
    talk.engine.answers.set()
    lines = talk.read_until("bestmove") + talk.read_until("bestmove")
    assert not [line for line in lines if line.startswith("info string")]
    talk.ask()
    moved = [f"set_{command.replace(' moves', '')}" for command in between]
    assert talk.engine.calls == ["go", "stop", *moved, "go", call, "set_position startpos d2d4"]


@pytest.mark.parametrize("second", ["go infinite", "go ponder wtime 300 btime 300", "go depth 40"])
@pytest.mark.parametrize("first", ["go nodes 100", "go perft 3"])
def test_a_stop_after_two_searches_is_for_the_second_if_the_first_ends_by_itself(
    talk: Conversation, first: str, second: str
) -> None:
    talk.engine.let_go.clear()
    talk.send(first, second, "stop", "uci")
    talk.read_until("uciok")  # all of it has been heard before the first search has ended
    talk.engine.let_go.set()
    talk.read_until("bestmove" if first == "go nodes 100" else "Nodes searched")
    talk.read_until("bestmove")
    assert talk.engine.calls == ["go" if first == "go nodes 100" else "perft 3", "go", "stop"]


def test_a_second_stop_ends_the_running_search(talk: Conversation) -> None:
    talk.engine.let_go.clear()
    talk.send("go depth 40", "go infinite", "stop", "stop")
    told = [line for line in talk.read_until("bestmove") if line.startswith("info string")]
    assert told == ["info string stop waits for the next search: send stop again to end the running search now"]
    talk.read_until("bestmove")
    assert talk.engine.calls == ["go", "stop", "go", "stop"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("castle", "info string unknown command: castle"),
        ("castle long please", "info string unknown command: castle long please"),
        (b"\xff\xfe caf\xe9\n", "info string unknown command: \\udcff\\udcfe caf\\udce9"),
        ("x" * 5000, f"info string unknown command: {'x' * 283}..."),
        ("setoption", "info string setoption: expected name NAME value VALUE"),
        ("setoption name Contempt value 3", "info string unknown option: Contempt"),
        ("setoption name Hash value 0", "info string option Hash: 0 is not between 1 and 33554432"),
        ("setoption name Hash", "info string option Hash: expected a whole number, not nothing"),
        ("debug", "info string debug: expected on or off"),
        ("go perft", "info string go perft: expected a depth from 1 to 60"),
        ("go perft 61", "info string go perft: expected a depth from 1 to 60"),
        ("go perft many", "info string go perft: expected a depth from 1 to 60"),
        ("bench deep", "info string bench: expected a depth of 1 or more, or nothing"),
        ("bench 0", "info string bench: expected a depth of 1 or more, or nothing"),
        ("setoption name a" + 3_000_000 * " " + "b", "info string unknown option: a b"),
        ("setoption name SyzygyPath value a\0b", "info string an option must be one line of text without NUL"),
        ("setoption name a\0b", "info string an option must be one line of text without NUL"),
        (f"debug {'on ' * 100_000}", "info string debug: expected on or off"),
        ("bench 1 2", "info string bench: expected a depth of 1 or more, or nothing"),
        ("eval", "info string eval failed: ZeroDivisionError: by nought"),
        ("register later", "info string Knightadder is free software and needs no registration"),
    ],
)
def test_a_bad_line_is_answered_with_one_line_and_changes_nothing(
    talk: Conversation, line: str | bytes, answer: str
) -> None:
    assert talk.ask("position startpos moves a2a3") == []
    assert talk.ask(line) == [answer]
    assert talk.ask("d") == ["board", "Fen: startpos a2a3"]
    assert talk.engine.options.hash_mb == 16


@pytest.mark.parametrize(("legal", "best"), [(["a2a3", "a2a4"], "a2a3"), ([], "(none)")])
def test_a_search_that_cannot_be_started_is_answered_with_a_legal_move(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch, legal: list[str], best: str
) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(talk.engine, "go", fail)
        patch.setattr(talk.engine, "legal_moves", lambda: legal, raising=False)
        assert talk.ask("go depth 3", "stop") == ["info string go failed: MemoryError: no room", f"bestmove {best}"]
    talk.send("go depth 3")
    assert talk.read_until("bestmove")[-1] == "bestmove e2e4 ponder e7e5"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("position", "info string position: expected startpos or fen"),
        ("position startpos e2e4", "info string position: expected moves after startpos, not e2e4"),
        ("position fen broken", "info string no such position"),
        ("position startpos moves e2e5", "info string no such position"),
        (f"position startpos {'e2e4 ' * 100_000}", "info string position: expected moves after startpos, not e2e4"),
        (f"position startpos moves {'e2e5 ' * 100_000}", "info string no such position"),
    ],
)
def test_after_a_position_that_is_refused_there_is_none(talk: Conversation, line: str, answer: str) -> None:
    none = "info string there is no position: the last position was refused"
    assert talk.ask("position startpos moves a2a3") == []
    assert talk.ask(line) == [answer]
    talk.engine.calls.clear()
    for command in ("go", "go infinite", "go ponder wtime 9 btime 9"):
        assert talk.ask(command) == [none, "bestmove (none)"]
    for command in ("d", "eval", "go perft 1"):
        assert talk.ask(command) == [none]
    assert talk.engine.calls == []
    talk.send("position startpos moves d2d4", "go depth 1")
    assert talk.read_until("bestmove")[-1] == "bestmove e2e4 ponder e7e5"
    assert talk.engine.calls == ["set_position startpos d2d4", "go"]


def test_a_bad_number_of_go_is_named_and_the_rest_counts(talk: Conversation) -> None:
    talk.send("go depth three movetime 5")
    assert talk.read_until("bestmove")[0] == "info string go: ignored depth three"
    assert talk.engine.limits == Limits(movetime=5)


def test_a_byte_order_mark_and_line_ends_are_overlooked(talk: Conversation) -> None:
    assert talk.ask(b"\xef\xbb\xbfd\r\n", b"\r\n", b"  \t \n") == ["board", "Fen: startpos"]


def test_what_is_left_out_of_a_position_is_said(talk: Conversation) -> None:
    assert talk.ask("position fen strange", "d") == ["info string something left out", "board", "Fen: strange"]


def test_options_may_have_spaces_and_bytes_that_are_not_text(talk: Conversation) -> None:
    assert talk.ask("setoption name move overhead value 100", b"setoption name SyzygyPath value /a  b\xe9\n") == [
        "info string tables of /a  b\\udce9"
    ]
    assert talk.engine.options.move_overhead == 100
    assert talk.engine.options.syzygy_path == "/a  b\udce9"
    assert talk.ask("setoption name Clear Hash") == []
    assert talk.engine.calls[-1] == "set_option Clear Hash=None"


@pytest.mark.parametrize(
    ("encoding", "folder"), [("utf-8", "/Büro/ča"), ("cp1252", "/Büro/Öl"), ("cp932", "/将棋"), ("cp1251", "/шахматы")]
)
def test_a_path_may_be_in_the_encoding_of_the_system(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch, encoding: str, folder: str
) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: encoding)
    line = f"setoption name SyzygyPath value {folder}"
    assert talk.ask(line.encode(encoding), line.encode()) == [f"info string tables of {folder}"] * 2


def test_isready_waits_until_the_engine_is_ready_and_what_follows_waits_behind_it(talk: Conversation) -> None:
    talk.engine.ready = False
    talk.send("isready", "d", "debug maybe")
    assert talk.read() == "info string debug: expected on or off"
    talk.engine.ready = True
    assert talk.read_until("Fen:") == ["readyok", "board", "Fen: startpos"]


@pytest.mark.parametrize(
    ("begin", "end", "call"),
    [("go infinite", "stop", "stop"), ("go ponder wtime 300 btime 300", "ponderhit", "ponderhit")],
)
def test_what_follows_a_search_that_waits_for_the_engine_is_for_that_search(
    talk: Conversation, begin: str, end: str, call: str
) -> None:
    talk.engine.ready = False
    talk.send("isready", begin, end, "uci")
    talk.read_until("uciok")
    talk.engine.ready = True
    assert talk.read_until("bestmove")[0] == "readyok"
    assert talk.engine.calls == ["go", call]


def test_isready_waits_for_no_benchmark_that_fills_the_table_while_other_commands_wait(talk: Conversation) -> None:
    talk.engine.let_go.clear()
    talk.send("go perft 3", "position startpos moves e2e4", "uci")
    talk.read_until("uciok")
    talk.engine.ready = False
    assert talk.ask() == []
    assert talk.engine.calls == ["perft 3"]
    talk.engine.let_go.set()
    talk.read_until("Nodes searched")


def test_quit_does_not_wait_until_the_engine_is_ready(talk: Conversation) -> None:
    talk.engine.ready = False
    talk.send("isready", "isready")
    assert talk.leave() == ["readyok", "readyok"]
    assert "hurry" in talk.engine.calls


def test_quit_hurries_no_benchmark(talk: Conversation) -> None:
    talk.engine.let_go.clear()
    assert talk.ask("bench 1") == []
    talk.send("quit")
    talk.wait_until_input_ended()
    assert "hurry" not in talk.engine.calls
    talk.engine.let_go.set()
    assert talk.wait_for_end()[-1].endswith(" nps")


def test_quit_hurries_no_search_that_waits(talk: Conversation) -> None:
    talk.engine.ready = False
    talk.send("isready", "go depth 3", "quit")
    talk.wait_until_input_ended()
    assert talk.engine.calls == []
    talk.engine.ready = True
    assert talk.wait_for_end() == ["readyok", format_info(LINE), "bestmove e2e4 ponder e7e5"]


def test_a_traceback_goes_to_standard_error_only_for_those_who_debug(
    talk: Conversation, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.ask("eval")
    assert capsys.readouterr().err == ""
    talk.ask("debug on", "eval")
    assert "Traceback" in capsys.readouterr().err
    talk.ask("debug off", "eval", "debug on", "setoption name Contempt")
    assert capsys.readouterr().err == ""


def test_quit_leaves_even_during_a_search() -> None:
    talk = Conversation()
    talk.send("go infinite")
    talk.read()
    assert talk.leave() == ["bestmove e2e4 ponder e7e5"]
    assert talk.status == 0
    assert talk.engine.closed


def test_what_comes_before_quit_is_carried_out_and_what_comes_after_is_not() -> None:
    talk = Conversation()
    talk.engine.let_go.clear()
    talk.send("go perft 2", "position startpos moves e2e4", "d", "go infinite", "position startpos", "d", "quit", "uci")
    talk.wait_until_input_ended()
    assert talk.rest() == []
    talk.engine.let_go.set()
    lines = talk.wait_for_end()
    talk.end_input()
    assert [line for line in lines if not line.startswith("info")] == [
        "e2e4: 20",
        "g1f3: 19",
        "",
        "Nodes searched: 39",
        "board",
        "Fen: startpos e2e4",
        "bestmove e2e4 ponder e7e5",
        "board",
        "Fen: startpos",
    ]
    assert talk.status == 0


def test_the_board_is_shown_after_the_benchmark_which_has_other_positions() -> None:
    talk = Conversation()
    talk.engine.let_go.clear()
    assert talk.ask("position startpos moves e2e4", "bench 1", "d") == []
    talk.engine.let_go.set()
    lines = talk.leave()
    assert lines[-2:] == ["board", "Fen: startpos e2e4"]


def test_the_end_of_input_stops_the_search_and_its_best_move_is_written() -> None:
    talk = Conversation()
    talk.send("go infinite")
    talk.end_input()
    assert talk.wait_for_end() == [format_info(LINE), "bestmove e2e4 ponder e7e5"]
    assert talk.status == 0


def test_at_the_end_of_input_all_received_commands_are_carried_out_in_order() -> None:
    talk = Conversation()
    talk.send(
        "uci", "position startpos moves e2e4", "go infinite", "position startpos", "d", "go depth 9", "go perft 2"
    )
    talk.end_input()
    lines = talk.wait_for_end()
    assert [line for line in lines if not line.startswith(("id", "option", "info"))] == [
        "uciok",
        "bestmove e2e4 ponder e7e5",
        "board",
        "Fen: startpos",
        "bestmove e2e4 ponder e7e5",
        "e2e4: 20",
        "g1f3: 19",
        "",
        "Nodes searched: 39",
    ]


def test_when_nobody_reads_any_more_the_loop_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    still_open: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    still_open.put(b"uci\n")
    uci = Uci(iter(still_open.get, b""), ClosedPipe(), loader_of(FakeEngine(Options())))
    assert uci.run() == 0
    assert uci.output_closed
    still_open.put(b"")
    assert capsys.readouterr().err == ""


# --- While the core is being loaded -----------------------------------------------------------------------------------


class SlowConversation(SlowLoading, Conversation):
    """A conversation whose engine is loaded when the test says so."""


@pytest.fixture
def loading() -> Iterator[SlowConversation]:
    conversation = SlowConversation()
    yield conversation
    conversation.may_finish.set()
    conversation.leave()


def test_why_there_is_no_network_is_told_when_the_engine_is_loaded(loading: SlowConversation) -> None:
    loading.engine.problem = "the network is lost"
    loading.started.wait(TIMEOUT)
    loading.may_finish.set()
    assert loading.read() == "info string the network is lost"


def test_uci_and_help_are_answered_while_loading(loading: SlowConversation) -> None:
    loading.send("position startpos", "isready", "uci", "help", "castle")
    assert loading.read_until("uciok")[0] == f"id name Knightadder {__version__}"
    assert "  quit" in loading.read_until("info string unknown")
    assert loading.engine.calls == []


def test_commands_for_the_engine_wait_in_order_for_loading(loading: SlowConversation) -> None:
    loading.send("setoption name Hash value 32", "position startpos moves e2e4", "isready", "go infinite", "stop", "d")
    loading.may_finish.set()
    assert loading.read() == "readyok"
    assert loading.engine.calls[:2] == ["set_option Hash=32", "set_position startpos e2e4"]
    assert loading.read() == format_info(LINE)
    assert {loading.read(), loading.read(), loading.read()} == {
        "bestmove e2e4 ponder e7e5",
        "board",
        "Fen: startpos e2e4",
    }


def test_an_isready_that_waits_is_told_each_step(loading: SlowConversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "TICK", 0.01)
    monkeypatch.setattr(uci_conversation, "TICK", 0.01)
    assert loading.started.wait(TIMEOUT)
    loading.report("compiling 1/2: perft")
    loading.send("isready")
    assert loading.read().startswith("info string compiling 1/2: perft (")
    loading.report("compiling 2/2: search")
    assert loading.read_until("info string compiling 2/2: search (")
    assert loading.read().startswith("info string compiling 2/2: search (")  # again after a while without news
    loading.may_finish.set()
    assert loading.read_until("readyok")


@pytest.mark.parametrize("end", ["quit", "end of input"])
def test_leaving_does_not_wait_for_loading(end: str) -> None:
    talk = SlowConversation()
    assert talk.started.wait(TIMEOUT)
    if end == "quit":
        talk.send("uci", "quit")
        talk.read_until("uciok")
    else:
        talk.end_input()
    talk.ends_while_loading()


@pytest.mark.parametrize("last", [[], ["quit"], ["quit", "position startpos", "go infinite"]])
def test_what_waits_for_loading_is_still_carried_out(last: list[str]) -> None:
    talk = SlowConversation()
    talk.send("isready", "go infinite", *last)
    talk.end_input()
    talk.wait_until_input_ended()
    talk.may_finish.set()
    assert talk.wait_for_end() == ["readyok", format_info(LINE), "bestmove e2e4 ponder e7e5"]


def test_an_engine_that_is_loaded_after_quit_need_not_be_ready() -> None:
    talk = SlowConversation()
    talk.engine.ready = False
    talk.send("isready", "quit")
    talk.wait_until_input_ended()
    talk.may_finish.set()
    assert talk.wait_for_end() == ["readyok"]
    talk.end_input()


@pytest.mark.parametrize("available", [0, 1])  # threads: one reads the input, another loads the engine
def test_without_threads_the_process_ends_with_one_line(monkeypatch: pytest.MonkeyPatch, available: int) -> None:
    def start_or_fail(thread: threading.Thread) -> None:
        if next(left, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    start, left = threading.Thread.start, iter(range(available))
    monkeypatch.setattr(threading.Thread, "start", start_or_fail)
    output = io.StringIO()
    conversation = Uci([b"isready\n"], output, Loader(Options()))
    assert conversation.run() == 1
    assert conversation.close()
    assert output.getvalue() == "info string the system allows no more threads\n"


def test_a_failure_to_load_is_said_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_core(monkeypatch)
    talk = Conversation(load_engine)
    talk.send("isready")
    lines = talk.wait_for_end()
    talk.end_input()
    assert lines == ["info string the engine cannot be loaded: ImportError: no numba here"]
    assert talk.status == 1
    assert "ImportError" in capsys.readouterr().err


# --- While the core is compiled ---------------------------------------------------------------------------------------


def test_a_search_that_waits_for_the_compiler_is_told_each_step(loading: SlowConversation) -> None:
    assert loading.started.wait(TIMEOUT)
    loading.report("compiling 0/2")
    loading.send("position startpos moves d2d4", "go movetime 1000", "uci")
    loading.read_until("uciok")
    for step in ("compiling 1/2", "compiling 2/2"):
        loading.report(step)
        assert loading.read_until(f"info string {step} (")
    loading.may_finish.set()
    assert loading.read_until("bestmove")[-2:] == [format_info(LINE), "bestmove e2e4 ponder e7e5"]
    assert loading.engine.calls == ["set_position startpos d2d4", "go"]


def test_a_stop_that_comes_before_the_core_is_compiled_ends_the_search_at_once(loading: SlowConversation) -> None:
    assert loading.started.wait(TIMEOUT)
    loading.report("compiling 1/2")
    loading.send("go infinite", "stop")
    loading.may_finish.set()
    assert loading.read_until("bestmove")[-1] == "bestmove e2e4 ponder e7e5"
