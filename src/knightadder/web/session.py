"""One tab of the board: its game and its engine.

All code here runs in the event loop and handles one message after the other. Sending only puts a message into a queue.
Nothing else runs between two awaits. During an await, the flag may fall or a search may end; so check
`PlayedGame.running` again after it. The engine loads and searches in other threads.
"""

from __future__ import annotations

import asyncio
import datetime
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import chess
import chess.engine
import chess.pgn

from knightadder.engine.errors import EngineError
from knightadder.engine.strength import MAX_ELO, MIN_ELO
from knightadder.rules import outcome_of
from knightadder.web import messages
from knightadder.web.analysis import analyse, analyse_threat, evaluate, evaluate_position
from knightadder.web.clock import ChessClock
from knightadder.web.desk import EVENT, Desk, GameFile
from knightadder.web.game_loading import LoadedDesk, Loading
from knightadder.web.gametree import (
    GameTree,
    ancestry,
    tree_of,
    tree_of_line,
)
from knightadder.web.keeper import Keeper
from knightadder.web.messages import Message, MessageError
from knightadder.web.moments import Moment, find_moments
from knightadder.web.other_engine import OtherEngine
from knightadder.web.played_game import PlayedGame
from knightadder.web.resources import Resources
from knightadder.web.reviews import Effort, Reviews
from knightadder.web.tab_engine import TabEngine
from knightadder.web.typed import board_from_fen, parse_line, parse_move
from knightadder.web.views import (
    View,
    board_view,
    game_view,
    games_view,
    hint_view,
    history_view,
    nodes_view,
    position_view,
    tree_view,
    worths_view,
)

if TYPE_CHECKING:
    from knightadder.library.board_engine import Engine
    from knightadder.web.other_engine import CompanionEngine
    from knightadder.web.saved_games import SavedGames

_USER = "You"
_HINT_NODES = 400_000  # nodes of the search for a hint, which takes about a second


class Session:
    """The state of a tab.

    `make_engine` loads an engine; it is called once, in a thread. `send` takes a message for the page, and must not
    block. `make_other` makes the second engine, if there is one. `saved` are the user's games.
    """

    def __init__(
        self,
        make_engine: Callable[[], Engine],
        send: Callable[[View], None],
        resources: Resources | None = None,
        make_other: Callable[[], CompanionEngine] | None = None,
        saved: SavedGames | None = None,
    ) -> None:
        self._send = send
        self._worker = TabEngine(make_engine, send, resources or Resources())
        self._other = OtherEngine(make_other, send)
        self._keeper = Keeper(saved, send)
        self._loading = Loading(self._keeper)
        self._desk = Desk(GameTree())
        self._analysing = False
        self._lines = 1
        self._threat = False
        self._flag: asyncio.TimerHandle | None = None

    @property
    def _reviews(self) -> Reviews:
        return self._desk.reviews

    @property
    def _tree(self) -> GameTree:
        return self._desk.tree

    @property
    def _game(self) -> PlayedGame | None:
        return self._desk.game

    @property
    def _running_game(self) -> PlayedGame | None:
        return self._game if self._game is not None and self._game.running else None

    @property
    def _tip(self) -> chess.pgn.GameNode:
        return self._desk.tip

    # --- start and end ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to load the engine, and send the current state to the page."""
        self._worker.load()
        self.resume()

    async def pause(self) -> None:
        """Stop the analysis while there is no page; a game and its clocks continue."""
        if self._analysing and not self._running_game:
            await self._worker.stop()
        self._other.pause()

    def resume(self) -> None:
        """Send the current state to a new page, and continue."""
        self._send({"type": "strength", "min": MIN_ELO, "max": MAX_ELO})
        self._send(self._worker.resources.view())
        self._worker.show()
        self._other.resume()
        self._send(tree_view(self._reviews))
        self._send(games_view(self._desk))
        self._show_game()  # before the position, in which the page may play a move made in advance
        if self._worker.busy:
            self._show_position()
        else:
            self._go_on()

    async def handle(self, text: str) -> None:
        """Handle a message. If it is refused, the answer is an error of the message's type, and nothing changes."""
        about = None
        try:
            message = messages.parse(text)
            about = message.__struct_config__.tag
            await _HANDLERS[type(message)](self, message)
        except EngineError as error:
            self._send({"type": "error", "about": about, "text": str(error)})
            if self._analysing and not self._worker.busy:  # the analysis was stopped for the message that was refused
                self._go_on()

    async def close(self) -> None:
        """Stop the search and close the engine."""
        if self._flag is not None:
            self._flag.cancel()
        await asyncio.gather(self._worker.close(), self._other.close(), self._keeper.close())

    # --- playing ---------------------------------------------------------------------------------------------------

    async def _new_game(self, message: messages.NewGame) -> None:
        self._refuse_in_game("no new game")
        if message.start == "here":
            board = self._tree.board(self._tree.cursor)
            if outcome_of(board) is not None:
                raise MessageError("the game is over in this position")
            tree = await asyncio.to_thread(tree_of_line, self._tree.cursor)
        else:
            number = random.randrange(960) if message.number is None else message.number
            board = chess.Board() if message.start == "standard" else chess.Board.from_chess960_pos(number)
            tree = tree_of(board)
        await self._worker.stop()
        user = {"white": chess.WHITE, "black": chess.BLACK, "random": random.choice(chess.COLORS)}[message.color]
        clock = None if message.initial is None else ChessClock(message.initial, message.increment)
        game = PlayedGame(user, message.elo, clock, message.move_time, start_ply=board.ply(), pace=message.pace)
        goes_on = message.start == "here" and self._desk.is_interrupted()
        headers = tree.game.headers
        if goes_on:
            headers.update(self._tree.game.headers)
        headers["Event"] = EVENT
        headers["Date"] = f"{datetime.date.today():%Y.%m.%d}"
        headers["White"], headers["Black"] = (_USER, game.opponent) if user else (game.opponent, _USER)
        headers["TimeControl"] = "-" if clock is None else str(clock)
        self._analysing = False
        self._worker.new_game()
        desk = Desk(tree, game, GameFile(began=board.ply()))
        if goes_on:
            desk.entry = self._desk.entry
        await self._change_to(desk.follow(self._desk, "the new game"))

    async def _play(self, message: messages.Play) -> None:
        node = self._tree.node(message.node)
        board = self._tree.board(node)
        move = parse_move(board, message.move)
        game = self._running_game
        if game is None:
            if message.in_game:
                raise MessageError("your move came after the end of the game")
            await self._worker.stop()
            self._play_moves(node, [move])
        elif node is not self._tip or board.turn != game.user:
            raise MessageError("it is not your move")
        else:
            await self._worker.stop()
            game.draw_offered = False
            if game.running and not game.out_of_time(board):
                self._make_move(game, move)
                self._show_tip()
        self._go_on()

    def _make_move(self, game: PlayedGame, move: chess.Move) -> None:
        """Play a move in the game against the engine, press the clock, and check whether the game has ended."""
        before, shown = self._tip, self._tree.cursor
        mover = before.turn()
        self._desk.tip = self._tree.play(move, before)
        if shown is not before and mover != game.user:
            self._tree.cursor = shown  # the user is looking at an earlier position
        if game.clock is not None:
            self._tip.set_emt(game.clock.press())
            self._tip.set_clock(game.clock.remaining(mover))
        game.settle(self._tree.board(self._tip))

    def _show_tip(self) -> None:
        """Send the newest move, and make the game the main line, because taken-back moves leave variations."""
        self._show_nodes([self._tip])
        if not self._tip.is_mainline():
            self._make_main(self._tip)

    async def _go_on_playing(self, game: PlayedGame) -> None:
        """Start the clock once the engine is loaded, and let the engine move if it is its turn."""
        engine = await self._worker.ready(game.elo)
        board = self._tree.board(self._tip)
        if game.clock is not None and game.clock.running is None:
            game.clock.start(board.turn)
            self._watch_flag()
            self._show_game()
        if board.turn == game.user:
            return
        # Leaving the block waits for the end of the search, so the engine is idle even after a cancelled search.
        async with engine.stream(board, game.limit()) as stream:
            analysis = await stream.result_async()
        if analysis.best_move is not None:
            await asyncio.sleep(game.pause(board, analysis.best_move))
        if analysis.best_move is not None and not game.out_of_time(board):
            self._make_move(game, analysis.best_move)
            game.note_score(analysis.score, board.fullmove_number)
            self._tip.set_eval(analysis.score, analysis.best.depth)
            self._show_tip()
        self._worker.leave()
        self._go_on()

    async def _take_back(self, _: messages.TakeBack) -> None:
        game = self._game
        if game is None:
            raise MessageError("there is no game")
        node = self._tip
        while node.parent is not None and node.turn() == game.user:  # take back the engine's reply too
            node = node.parent
        before = node.parent
        if before is None or node.ply() <= game.start_ply:
            raise MessageError("there is no move of yours to take back")
        await self._worker.stop()
        if not game.running:
            await self._go_on_from(before, game)
            return
        self._delete_node(node)
        self._desk.forget_edits()
        self._tree.cursor = self._desk.tip = before
        game.resume_from(before)
        self._go_on()

    async def _go_on_from(self, node: chess.pgn.GameNode, over: PlayedGame) -> None:
        """Continue a finished game from one of its nodes, at a new desk: undoing leads back to the finished game."""
        tree = await asyncio.to_thread(tree_of_line, node)
        tree.game.headers.update(self._tree.game.headers)
        game = over.again()
        game.resume_from(tree.cursor)
        desk = Desk(tree, game, GameFile(began=over.start_ply))
        desk.entry = self._desk.entry
        await self._change_to(desk.follow(self._desk, "the moves taken back"))

    async def _resign(self, _: messages.Resign) -> None:
        game = self._running()
        await self._worker.stop()
        if game.running:
            game.resign()
        self._go_on()

    async def _offer_draw(self, _: messages.OfferDraw) -> None:
        game = self._running()
        if not game.accepts_draw(self._tree.board(self._tip)):
            self._send({"type": "notice", "text": "Knightadder declines the draw"})
            return
        await self._worker.stop()
        if game.running:
            game.finish("1/2-1/2", "Draw agreed")
        self._go_on()

    async def _hint(self, message: messages.Hint) -> None:
        game = self._running()
        if self._tree.node(message.node) is not self._tip or self._tip.turn() != game.user:
            raise MessageError("you can only ask for a hint when it is your turn")
        await self._worker.stop()
        if game.running:
            self._worker.start(partial(self._find_hint, game))

    async def _find_hint(self, game: PlayedGame) -> None:
        await self._go_on_playing(game)  # starts the clock if the game was waiting for the engine
        board = self._tree.board(self._tip)
        engine = await self._worker.ready()
        async with engine.stream(board, chess.engine.Limit(nodes=_HINT_NODES)) as stream:
            analysis = await stream.result_async()
        if analysis.best_move is not None:
            self._send(hint_view(self._tree.id(self._tip), board, analysis.best_move))

    def _running(self) -> PlayedGame:
        if self._running_game is None:
            raise MessageError("no game is being played")
        return self._running_game

    # --- moving about the tree -------------------------------------------------------------------------------------

    def _refuse_in_game(self, what: str) -> None:
        if self._running_game:
            raise MessageError(f"{what} while the game is running: finish it or resign")

    async def _go_to(self, message: messages.GoTo) -> None:
        self._tree.cursor = self._tree.node(message.node)
        if self._analysing:
            await self._worker.stop()
            self._go_on()
        else:  # the engine's work does not depend on the node that is shown
            self._show_position()

    async def _play_line(self, message: messages.PlayLine) -> None:
        self._refuse_in_game("no variations")
        node = self._tree.node(message.node)
        moves = parse_line(self._tree.board(node), message.moves)
        await self._worker.stop()
        self._play_moves(node, moves)
        self._go_on()

    def _play_moves(self, node: chess.pgn.GameNode, moves: Sequence[chess.Move]) -> None:
        """Play a sequence of moves and show the last; new moves can be undone."""
        line = [node]
        for move in moves:
            if not line[-1].has_variation(move):
                break
            line.append(line[-1].variation(move))
        new = moves[len(line) - 1 :]
        if new:
            self._tree.make_room(len(new))
            done = self._desk.edit(f"the move {self._tree.board(line[-1]).san(new[0])}", line[-1:])
            for move in new:
                line.append(self._tree.play(move, line[-1]))
            done()
        self._tree.cursor = line[-1]
        self._show_nodes(line[1:])

    async def _preview(self, message: messages.Preview) -> None:
        board = self._tree.board(self._tree.node(message.node))
        for move in parse_line(board, message.moves):
            board.push(move)
        self._send({"type": "preview", "node": message.node, "moves": message.moves, **board_view(board)})

    async def _draw(self, message: messages.Draw) -> None:
        node = self._tree.node(message.node)
        done = self._desk.edit("the drawing", [node])
        self._tree.set_shapes(node, message.shapes)
        if not self._running_game:  # undoing it later would take back the moves after it
            done()
        self._show_nodes([node])
        self._show_history()

    async def _delete(self, message: messages.Delete) -> None:
        self._refuse_in_game("no move can be deleted")
        node = self._tree.node(message.node)
        await self._worker.stop()
        done = self._desk.edit(f"deleting {self._tree.san(node)}", [node.parent] if node.parent else [])
        self._delete_node(node)
        done()
        if self._tip not in self._tree:
            self._desk.game = None  # its moves no longer exist
        self._go_on()

    def _delete_node(self, node: chess.pgn.GameNode) -> None:
        number = self._tree.id(node)
        self._tree.delete(node)
        self._send({"type": "deleted", "node": number})

    async def _promote(self, message: messages.Promote) -> None:
        self._refuse_in_game("no variation can be moved")
        node = self._tree.node(message.node)
        done = self._desk.edit("the new main line", ancestry(node))
        self._make_main(node)
        done()
        self._show_edit()

    async def _remark(self, message: messages.Remark) -> None:
        self._refuse_in_game("no comments")
        node = self._tree.node(message.node)
        done = self._desk.edit("the comment", [node])
        self._show_nodes(self._reviews.remark(node, message.comment, set(message.nags)))
        done()
        self._show_history()

    async def _reorder(self, message: messages.Reorder) -> None:
        self._refuse_in_game("no variation can be moved")
        node = self._tree.node(message.node)
        done = self._desk.edit("the order of variations", [node.parent] if node.parent else [])
        place = self._tree.reorder(node, message.up)
        done()
        self._send({"type": "reordered", "node": message.node, "place": place})
        self._show_edit()

    def _make_main(self, node: chess.pgn.GameNode) -> None:
        self._tree.promote(node)
        self._send({"type": "promoted", "node": self._tree.id(node)})

    # --- undo and redo ---------------------------------------------------------------------------------------------

    async def _undo(self, _: messages.Undo) -> None:
        await self._walk_history(self._desk.names()[0], Desk.back)

    async def _redo(self, _: messages.Redo) -> None:
        await self._walk_history(self._desk.names()[1], Desk.forth)

    async def _walk_history(self, name: str | None, step: Callable[[Desk], Desk]) -> None:
        self._refuse_in_game("nothing can be undone")
        if name is None:
            raise MessageError("there is nothing to undo or redo")
        await self._worker.stop()
        await self._change_to(step(self._desk))

    # --- loading positions and games -------------------------------------------------------------------------------

    async def _load_fen(self, message: messages.LoadFen) -> None:
        self._refuse_in_game("no position can be set up")
        board, left_out = board_from_fen(message.fen)
        new = message.fen == chess.STARTING_FEN
        await self._change_to(
            Desk(tree_of(board)).follow(self._desk, "the new board" if new else "the position set up")
        )
        self._tell(left_out)

    async def _check_fen(self, message: messages.CheckFen) -> None:
        problem = None
        try:
            board_from_fen(message.fen)
        except MessageError as error:
            problem = str(error)
        self._send({"type": "fen_checked", "fen": message.fen, "problem": problem})

    async def _load_pgn(self, message: messages.LoadPgn) -> None:
        self._refuse_in_game("no game can be loaded")
        await self._show_loaded(await self._loading.loaded(message), "the loaded game")

    async def _choose_game(self, message: messages.ChooseGame) -> None:
        self._refuse_in_game("no other game can be chosen")
        await self._show_loaded(await self._loading.chosen(message, self._desk))

    async def _save_game(self, _: messages.SaveGame) -> None:
        await self._keeper.save(self._desk)

    async def _open_saved(self, message: messages.OpenSaved) -> None:
        self._refuse_in_game("no game can be opened")
        await self._show_loaded(await self._loading.opened(message), "the opened game")

    async def _restore(self, message: messages.Restore) -> None:
        self._refuse_in_game("no game can be loaded")
        await self._change_to(await self._loading.restored(message))

    async def _show_loaded(self, loaded: LoadedDesk, name: str | None = None) -> None:
        """Show a loaded game; with a name, undoing leads back to the game before it."""
        desk, problems = loaded
        await self._change_to(desk if name is None else desk.follow(self._desk, name))
        self._tell(problems)

    def _tell(self, sentences: Sequence[str]) -> None:
        if sentences:  # the page shows one notice at a time
            self._send({"type": "notice", "text": ". ".join(f"{each[:1].upper()}{each[1:]}" for each in sentences)})

    async def _change_to(self, desk: Desk) -> None:
        await self._worker.stop()
        self._desk = desk
        self._send(await asyncio.to_thread(tree_view, desk.reviews))  # in a thread, because a long game takes a while
        self._send(games_view(desk))
        self._go_on()

    # --- analysing -------------------------------------------------------------------------------------------------

    async def _analyse(self, message: messages.Analyse) -> None:
        if message.on:
            self._refuse_in_game("no analysis")
        await self._worker.stop()
        self._analysing = message.on
        self._lines = message.lines
        self._threat = message.on and message.threat
        self._go_on()

    async def _switch_other(self, message: messages.SwitchOther) -> None:
        if message.on:
            self._refuse_in_game("no analysis")
        self._other.switch(message.on, message.lines)

    async def _go_on_analysing(self) -> None:
        engine = await self._worker.ready()
        if self._threat and not self._tree.board(self._tree.cursor).is_check():
            await analyse_threat(engine, self._tree, self._lines, self._send)
        else:
            await analyse(engine, self._reviews, self._lines, self._send)

    async def _configure(self, message: messages.Configure) -> None:
        chosen = self._worker.resources.chosen(message)
        await self._worker.stop()
        self._worker.resources = chosen
        self._send(chosen.view())
        self._go_on()

    async def _evaluate(self, message: messages.Evaluate) -> None:
        self._refuse_in_game("no evaluation")
        await self._worker.stop()
        self._analysing = self._analysing and not message.on
        self._go_on()
        if message.on:
            self._worker.start(partial(self._evaluate_line, Effort(message.nodes, message.seconds)))

    async def _evaluate_line(self, effort: Effort) -> None:
        nodes = self._tree.line()
        try:
            await self._evaluate_all(nodes, effort)
            done = self._desk.edit("the evaluation", nodes)
            self._show_nodes(self._reviews.review(nodes))
            done()
            self._show_edit()
        finally:
            self._worker.show_progress(len(nodes), len(nodes))

    async def _evaluate_all(self, nodes: Sequence[chess.pgn.GameNode], effort: Effort) -> None:
        engine = await self._worker.ready()
        await evaluate(engine, self._reviews, nodes, self._send, self._worker.show_progress, effort)

    async def _find_moments(self, _: messages.Moments) -> None:
        game = self._over()
        await self._worker.stop()
        self._analysing = False
        self._go_on()
        self._worker.start(partial(self._evaluate_game, game))

    async def _evaluate_game(self, game: PlayedGame) -> None:
        line = ancestry(self._tip)[::-1]
        try:
            await self._evaluate_all(line, Effort())
            game.moments = find_moments(line, self._reviews.judged(line), game.user)
            self._show_game()
        finally:
            self._worker.show_progress(len(line), len(line))

    async def _retry(self, message: messages.Retry) -> None:
        node = self._tree.node(message.node)
        moment = next((each for each in self._over().moments or [] if each.node is node), None)
        if moment is None:
            raise MessageError("there is no better move to find in this position")
        move = parse_move(self._tree.board(node), message.move)
        await self._worker.stop()
        self._worker.start(partial(self._try_move, moment, move))

    async def _try_move(self, moment: Moment, move: chess.Move) -> None:
        board = self._tree.board(moment.node)
        san = board.san(move)
        board.push(move)
        good = move == moment.better[0]
        if not good and move != moment.move:
            good = moment.is_good(await evaluate_position(await self._worker.ready(), board))
        told = {"san": san, "good": good, "repeated": move == moment.move}
        self._send({"type": "retried", "node": self._tree.id(moment.node), **told, "after": board_view(board)})

    def _over(self) -> PlayedGame:
        if self._game is None or self._game.running:
            raise MessageError("there is no finished game")
        return self._game

    async def _show_worths(self, message: messages.Worths) -> None:
        self._refuse_in_game("no evaluation")
        board = self._tree.board(self._tree.node(message.node))
        if not self._worker.loaded:
            raise MessageError("the engine is not loaded")
        self._send(await asyncio.to_thread(worths_view, board))

    # --- the engine's work -----------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Send the current state, and start the engine's next work; the engine must be idle."""
        self._show_headers()
        self._show_position()
        self._show_game()
        self._watch_flag()
        if self._running_game:
            self._worker.start(partial(self._go_on_playing, self._running_game))
        elif self._analysing and outcome_of(self._tree.board(self._tree.cursor)) is None:
            self._worker.start(self._go_on_analysing)

    def _watch_flag(self) -> None:
        """Schedule a check for the moment when the running clock reaches zero."""
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        game = self._running_game
        if game is not None and game.clock is not None and game.clock.running is not None:
            left = game.clock.remaining(game.clock.running)
            self._flag = asyncio.get_running_loop().call_later(left, self._look_at_flag, game)

    def _look_at_flag(self, game: PlayedGame) -> None:
        if game.out_of_time(self._tree.board(self._tip)):
            self._worker.cancel()
        self._show_position()
        self._show_game()
        self._watch_flag()

    # --- messages to the page --------------------------------------------------------------------------------------

    def _show_position(self) -> None:
        game, shown = self._running_game, self._tree.cursor
        movable = game is None or (shown is self._tip and shown.turn() == game.user)
        premover = game.user if game is not None and shown is self._tip and not movable else None
        self._send(
            {
                **position_view(self._tree, movable, premover),
                "at_tip": shown is self._tip,  # the newest position of the game; variations may follow it
                "analysing": self._analysing,
                "threat": self._threat,
                "summary": self._reviews.summary(),
            }
        )
        board = self._tree.board(shown)
        self._other.follow(self._tree.id(shown), None if game is not None or outcome_of(board) is not None else board)

    def _show_nodes(self, nodes: Iterable[chess.pgn.GameNode]) -> None:
        self._send(nodes_view(self._reviews, nodes))

    def _show_game(self) -> None:
        self._send(game_view(self._game, self._tree))
        self._show_history()
        headers = self._tree.game.headers
        if self._game is not None and headers["Result"] != self._game.result:
            headers["Result"] = self._game.result
            self._send({"type": "headers", "headers": dict(headers)})
        self._keeper.keep(self._desk)

    def _show_edit(self) -> None:
        """Send everything besides the nodes that an edit of the tree may have changed."""
        self._show_headers()
        self._show_position()
        self._show_history()

    def _show_history(self) -> None:
        self._send(history_view(*((None, None) if self._running_game else self._desk.names())))

    def _show_headers(self) -> None:
        """Send the headers if they no longer describe the main line."""
        if self._reviews.write_headers():
            self._send({"type": "headers", "headers": dict(self._tree.game.headers)})


_HANDLERS: dict[type[Message], Callable[[Session, Any], Awaitable[None]]] = {
    messages.NewGame: Session._new_game,
    messages.Play: Session._play,
    messages.PlayLine: Session._play_line,
    messages.Preview: Session._preview,
    messages.TakeBack: Session._take_back,
    messages.Resign: Session._resign,
    messages.OfferDraw: Session._offer_draw,
    messages.Hint: Session._hint,
    messages.Draw: Session._draw,
    messages.GoTo: Session._go_to,
    messages.Delete: Session._delete,
    messages.Promote: Session._promote,
    messages.Remark: Session._remark,
    messages.Reorder: Session._reorder,
    messages.Analyse: Session._analyse,
    messages.SwitchOther: Session._switch_other,
    messages.Configure: Session._configure,
    messages.Evaluate: Session._evaluate,
    messages.Moments: Session._find_moments,
    messages.Retry: Session._retry,
    messages.Worths: Session._show_worths,
    messages.LoadFen: Session._load_fen,
    messages.CheckFen: Session._check_fen,
    messages.LoadPgn: Session._load_pgn,
    messages.ChooseGame: Session._choose_game,
    messages.SaveGame: Session._save_game,
    messages.OpenSaved: Session._open_saved,
    messages.Restore: Session._restore,
    messages.Undo: Session._undo,
    messages.Redo: Session._redo,
}
