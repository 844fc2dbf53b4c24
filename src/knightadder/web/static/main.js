// The board's page. This module connects the parts of the page, and keeps the newest state that the server has sent.

import { Board } from "./board.js";
import { clocksAt } from "./clocks.js";
import { Drawing } from "./drawing.js";
import { Editor } from "./editor.js";
import { byId, isolated, restoreValue, say, showTitle } from "./elements.js";
import { Explorer } from "./explorer.js";
import { Graph } from "./graph.js";
import { takeOver } from "./handover.js";
import { Hint } from "./hint.js";
import { History } from "./history.js";
import { Keeping } from "./keeping.js";
import { startKeys } from "./keys.js";
import { Known } from "./known.js";
import { Lines } from "./lines.js";
import { detailOf } from "./listing.js";
import { startLook, startLookDialog } from "./look.js";
import { Lost } from "./lost.js";
import { materialOf } from "./material.js";
import { MoveMenu } from "./menu.js";
import { Moments } from "./moments.js";
import { MoveList, plain } from "./moves.js";
import { showLinks } from "./pages.js";
import { writePgn, writeVariation } from "./pgn.js";
import { MyGames } from "./mygames.js";
import { OtherEngine } from "./other.js";
import { Players } from "./players.js";
import { Premove } from "./premove.js";
import { Remark } from "./remark.js";
import { Resources } from "./resources.js";
import { Setup } from "./setup.js";
import { Socket } from "./socket.js";
import { Sound } from "./sound.js";
import { showSummary } from "./summary.js";
import { startTheme } from "./theme.js";
import { Transfer } from "./transfer.js";
import { Tree } from "./tree.js";
import { TypedMove } from "./typed.js";
import { showVerdict } from "./verdict.js";
import { Walk } from "./walk.js";
import { Worths } from "./worths.js";

const [EVENT, USER] = ["Game on the web board", "You"]; // in the headers of games against the engine, as on the server
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const socket = new Socket();
const tree = new Tree();
let headers = {};
let position = null;
let shown = null; // the position drawn last; while the editor is open, new positions are not drawn
let game = null;
let mode = sessionStorage.getItem("mode") === "analyse" ? "analyse" : "play";
// The games that this tab has stored and a new server must still load; otherwise null. The field `asked` says whether the
// server has been asked to load them.
let saved = null;
let server = null; // the name of the run of the server that this page is or was connected to
let forgotten = null; // why the server no longer knows this page's session, for the user; null if it does
// The user's move or new game that the server has not answered yet; until then, no piece can be moved. For a move, `from` is
// the node before it, and `heading` is the node that the user went to just before, until the server shows it. Or null.
let unanswered = null;
let interrupted = null; // the user's side in the game against the engine, if it ended with an earlier session
let toastTimer = 0;
let evaluating = false;
const collapsed = new Map(); // for each game that has been on the board: the first nodes of its collapsed variations
let handedOver = takeOver(); // a game handed over by another page in this tab
let wantedPly = 0; // the ply to show as soon as the handed-over game is loaded

startTheme(byId("theme"));
startLookDialog(byId("look-dialog"), byId("look"), startLook());
const sound = new Sound(byId("sound"));
const players = new Players(byId("player-top"), byId("player-bottom"));
const board = new Board(byId("board"), { onMove: (move) => premove.take(move) || playMove(move) });
const keeping = new Keeping(tell);
let behind = keeping.saved() !== null; // whether the tab has moves, but not those of the server that it is connected to
const premove = new Premove(
  board,
  { play: playMove, keep: (move) => keeping.write("premove", move) },
  keeping.read("premove", { move: "", node: 0 }),
);
const drawing = new Drawing(board, { button: byId("draw"), tools: byId("draw-tools") }, (shapes) =>
  send("draw", { node: position.node, shapes }) ? position.node : null,
);
const hint = new Hint(byId("hint"), {
  ask: (node) => send("hint", { node }),
  show: (shapes) => drawing.hint(shapes),
});
const moments = new Moments(byId("moments"), byId("find-moments"), {
  ask: (on) => (on ? send("moments") : send("evaluate", { on })),
  open: openMoment,
  retry: (node, move) => send("retry", { node, move }),
  show: (shapes) => drawing.hint(shapes),
  play: (position) => board.set(position),
});
const resources = new Resources(byId("settings-dialog"), byId("settings"), (chosen) => socket.send("configure", chosen));
const known = new Known(byId("known"), playMove);
const worths = new Worths({ button: byId("worths"), value: byId("static-value") }, board, (node) =>
  socket.send("worths", { node }),
);
const explorer = new Explorer(
  byId("explorer"),
  { play: (node, move) => playMove(move, node), keep: (filters) => keeping.write("filters", filters) },
  keeping.read("filters", [["", ""]]),
);
// A typed move follows the position that the user has gone to, even if the server has not shown it yet.
const typed = new TypedMove(byId("type-move"), (move) => playMove(move, walk.node), () => Boolean(board.waiting));
const walk = new Walk(tree, {
  goTo: (node) => send("go_to", { node }),
  onChoose: showLine,
  allowed: () => !editor.isOpen,
});
walk.listen(byId("board"));
const moves = new MoveList(byId("moves"), { onChoose: (node) => walk.goTo(node), keep: keepCollapsed });
const remark = new Remark(
  byId("remark-dialog"),
  tree,
  {
    write: (node, comment, nags) => socket.send("remark", { node, comment, nags }),
    keep: (draft) => keeping.write("draft", draft),
  },
  keeping.read("draft", { path: [0], san: "", comment: "", move: "", position: "" }),
);
const menu = new MoveMenu(byId("move-menu"), byId("moves"), {
  allowed: () => !byId("tree-tools").hidden,
  prepare: prepareMenu,
  act: (action, node) => onMove[action](node),
});
const graph = new Graph(byId("graph"), (node) => walk.goTo(node));
const lines = new Lines(
  { lines: byId("lines"), readouts: byId("readouts"), score: byId("score"), preview: byId("preview") },
  {
    onPlay: (node, line) => send("play_line", { node, moves: line }),
    onPreview: (node, line) => socket.send("preview", { node, moves: line }),
  },
);
const other = new OtherEngine(byId("other"), byId("other-preview"), {
  onSwitch: switchOther,
  onArrows: () => board.setArrows(board.arrows[0], other.arrows),
  onPlay: (node, line) => send("play_line", { node, moves: line }),
  onPreview: (node, line) => socket.send("preview", { node, moves: line }),
});
const setup = new Setup(byId("setup"), startGame);
const editor = new Editor(byId("editor"), board, {
  onUse: (fen) => send("load_fen", { fen }) && leaveEditor(),
  onCheck: (fen) => socket.send("check_fen", { fen }),
  onClose: leaveEditor,
  keep: (fen) => keeping.write("editor", fen),
});
const transfer = new Transfer({
  onFen: (fen) => {
    if (mode === "play" && !game?.running) choose("analyse");
    send("load_fen", { fen });
  },
  onPgn: loadPgn,
  onGame: (index) => send("choose_game", { index }),
  write,
  players: () => [headers.White, headers.Black].filter((name) => name && name !== "?"),
  tell,
});
const myGames = new MyGames(byId("my-games"), byId("my-games-open"), {
  onOpen: (number) => send("open_saved", { number }),
  onSave: () => send("save_game"),
});
const lost = new Lost(byId("lost"), { retry: () => socket.retry(), save: () => transfer.save() });
const history = new History({ undo: byId("undo"), redo: byId("redo") }, (step) => send(step), () => !byId("tree-tools").hidden);

/** Send a message, and return whether it was sent. If it was not, tell the user why. */
function send(type, fields = {}) {
  const early = behind && !["analyse", "switch_other"].includes(type); // it could be about the moves of another server
  if (!early && socket.send(type, fields)) return true;
  refuse(socket.isOpen ? "The page still waits for the server: try again in a moment" : "There is no connection to the server");
  return false;
}

/** Load a game, and show the tab where it can be analysed. */
function loadPgn(pgn, raw) {
  if (mode === "play" && !game?.running) choose("analyse");
  return send("load_pgn", { pgn, raw, number: keeping.send({ pgn, raw }) });
}

function write() {
  return writePgn(headers, tree.root);
}

// --- messages from the server ---

socket.on("open", () => {
  setEngineState("loading");
  lost.hide();
  if (editor.isOpen) editor.changed(); // the server may have missed the last change
});
socket.on("closed", ({ reason, cause }) => {
  setEngineState("failed", "No connection");
  lost.show(reason, cause);
  behind = true;
  if (unanswered) unanswered = { from: null, heading: null }; // the first position after a new connection is the answer
  typed.refused();
  moments.refused();
  board.lock(true);
  players.stopClock();
  if (transfer.busy) transfer.refused("There is no connection to the server");
  showProgress({ done: 0, all: 0 });
  history.show({});
  resources.forget();
  hint.reset();
});
socket.on("session", (message) => {
  const { continued } = message;
  saved = continued ? null : keeping.saved();
  keeping.connected(message);
  if (!continued) premove.set(null);
  interrupted = !continued && game?.running ? game.user : null;
  const restarted = server !== message.server;
  forgotten = continued || server === null ? null : restarted ? "The server was restarted" : "The server no longer knew this tab";
  ({ server } = message);
});
socket.on("resources", (message) => {
  resources.take(message);
  hint.reset(); // new settings interrupt the engine's search
  moments.refused();
});
socket.on("strength", (message) => setup.setStrengths(message));
socket.on("engine", ({ state, text }) => setEngineState(state, text));
socket.on("error", ({ text, about }) => {
  if (about === "load_pgn") wantedPly = 0;
  const returning = about === "restore" || (about === null && saved?.asked); // null: the message was malformed
  if (about === "load_pgn") transfer.refused(text);
  else if (returning) transfer.open(Object.values(saved?.edited ?? {})[0] ?? "", `The game could not be brought back: ${text}`);
  else if (!inDialog(about, text)) refuse(text);
  if (returning) {
    saved = null;
    behind = false;
    board.lock(false);
  }
  if (about === "draw") drawing.sent.clear();
});

/** If the action that failed belongs to a dialog, show the problem there. Return whether it is shown. */
function inDialog(about, text) {
  if (about === "remark") return remark.reopen(text);
  return ["open_saved", "save_game"].includes(about) && myGames.refused(text);
}

/** Tell the user why an action failed. */
function refuse(text) {
  if (position) walk.stay(position.node);
  typed.refused();
  hint.reset();
  moments.refused();
  tell(text);
  goOn();
}

/** Let the user move again after the server has answered. */
function goOn() {
  unanswered = null;
  board.goOn();
  board.refresh(); // a dropped piece returns to its square
}

socket.on("notice", ({ text }) => tell(text));

socket.on("tree", (message) => {
  tree.set(message.nodes);
  drawing.sent.clear();
  walk.stay(tree.root.id);
  setHeaders(message.headers);
  showMoves();
  goToWanted();
});

/** Go to the position at `wantedPly`, or to the last position if the game is shorter. */
function goToWanted() {
  let node = tree.root;
  while (node.children.length && node.ply < wantedPly) [node] = node.children;
  wantedPly = 0;
  walk.goTo(node.id);
}

socket.on("nodes", ({ nodes }) => {
  const commented = nodes.some(({ id, comment }) => plain(tree.get(id)?.comment ?? "") !== plain(comment));
  drawing.correct(nodes);
  remark.written(nodes);
  const grown = tree.update(nodes);
  keep();
  if (grown || commented) {
    showMoves();
  } else {
    moves.refresh(nodes);
    showLine();
  }
});

socket.on("deleted", ({ node }) => {
  const { parent } = tree.get(node);
  tree.delete(node);
  if (!tree.get(walk.node)) walk.stay(parent);
  keep();
  showMoves();
});

socket.on("promoted", ({ node }) => {
  tree.promote(node);
  keep();
  showMoves();
});

socket.on("reordered", ({ node, place }) => {
  tree.reorder(node, place);
  keep();
  showMoves();
});

socket.on("headers", (message) => {
  setHeaders(message.headers);
  keep();
});

function setHeaders(told) {
  headers = told;
  players.setNames(ratedName("White"), ratedName("Black"));
  byId("about-game").textContent = detailOf({ result: headers.Result, event: headers.Event, date: headers.Date });
}

function playerName(side) {
  return headers[side] && headers[side] !== "?" ? headers[side] : side;
}

function ratedName(side) {
  const rating = Number(headers[`${side}Elo`]);
  return rating ? `${isolated(playerName(side))} (${rating})` : playerName(side);
}

/** Store the game in the browser, so that it survives a reload of the page and a restart of the server. */
function keep() {
  if (saved) return;
  keeping.keep(pgnToKeep(), tree.path(position?.node));
  keepCollapsed();
}

function keepCollapsed() {
  keeping.write("collapsed", [...moves.collapsed].filter((node) => tree.get(node)).map((node) => tree.path(node)));
}

function pgnToKeep() {
  return tree.root.children.length || tree.root.comment || headers.FEN ? write() : "";
}

socket.on("position", (message) => {
  const first = !position;
  position = message;
  walk.arrive(message.node);
  if (unanswered?.heading === message.node) unanswered.heading = null;
  // A position that the server sent before it had the move is not the answer.
  else if (unanswered?.heading === null && unanswered.from !== message.node) {
    unanswered = null;
    board.goOn();
  }
  if (!saved) keeping.keepPath(tree.path(message.node));
  if (board.locked && !behind) board.lock(false);
  if (first) {
    reopenEditor();
    showPanels();
  }
  if (!editor.isOpen) showPosition();
  if (!board.waiting) typed.answered();
  if (mode === "play") stopEngines(); // the analysis may have begun after the user had left the tab "Analyse"
});

socket.on("game", (message) => {
  const started = !game?.running && message.game?.running;
  const appears = !game && message.game; // for example after a reload
  const ended = game?.running && message.game && !message.game.running;
  game = message.game;
  if (game?.clock) game.clock.since = performance.now();
  if (started || appears) {
    if (position) flip(game.user === "black"); // otherwise the page was reloaded, and keeps its side
    byId("setup").hidden = true;
  }
  if (started || ended) showMoves();
  if (ended) sound.play("end");
  if (!game) byId("setup").hidden = false;
  showStatus();
  showPanels();
  if (unanswered && (started || ended)) {
    goOn();
    typed.answered();
  }
  if (handedOver && !saved) {
    keeping.write("editor", null);
    loadPgn(handedOver.pgn, false);
    if (!game?.running) flip(handedOver.side === "black");
    wantedPly = handedOver.ply;
    handedOver = null;
  }
});

socket.on("lines", (message) => {
  if (message.node !== position?.node || !position.analysing || editor.isOpen) return;
  lines.show(message);
  board.setArrows(message.lines.map((line) => line.arrow).filter(Boolean), other.arrows);
  byId("board").classList.toggle("threat", Boolean(message.threat));
  if (message.threat) return; // the score of a threat is not the evaluation of the position
  showEvaluation(message.lines[0].score);
  tree.get(message.node).score = message.lines[0].score;
  showLine();
});

socket.on("other_engine", (message) => {
  other.take(message);
  if (mode === "play") stopEngines();
});
socket.on("other_lines", (message) => editor.isOpen || other.show(message, position?.node));
socket.on("hint", (message) => hint.take(message));
socket.on("retried", (message) => {
  typed.answered();
  board.refresh(); // a dropped piece returns to its square
  moments.retried(message);
});
socket.on("worths", (message) => worths.show(message));
socket.on("preview", (message) => {
  for (const each of [lines, other.lines]) each.showPreview(message, board.flipped);
});
socket.on("fen_checked", (message) => editor.checked(message));
socket.on("games", (message) => {
  if (saved && !saved.asked) {
    saved.asked = true;
    const { asked, ...fields } = saved;
    socket.send("restore", fields);
    return; // the new server's board is still empty, so there is nothing to show
  }
  if (saved) {
    keeping.restored(saved);
    saved = null;
    tellReturn();
  }
  behind = false;
  if (keeping.isNew(message)) leaveEditor();
  showCollapsed(`${message.file} ${message.index}`);
  keeping.open(message, pgnToKeep(), tree.path(tree.root.id));
  transfer.showGames(message);
  transfer.loaded();
  myGames.opened();
  if (!handedOver) remark.reopen();
});

/** Collapse the variations of the game on the board that are collapsed, even if the page has been reloaded meanwhile. */
function showCollapsed(game) {
  const known = keeping.file === null ? (keeping.read("collapsed", [[0]]) ?? []) : [];
  if (keeping.file === null) collapsed.clear(); // the numbers of the files and nodes are those of an earlier server
  if (!collapsed.has(game)) collapsed.set(game, new Set(known.map((path) => tree.at(path)?.id)));
  moves.collapsed = collapsed.get(game);
  keepCollapsed();
  showMoves();
}
socket.on("saved", () => myGames.saved());
socket.on("place", (message) => keeping.keepPlace(message));
socket.on("history", (names) => history.show(names));
socket.on("progress", showProgress);

/** Tell the user what has become of the moves and of the game, if the server no longer knew this tab's session. */
function tellReturn() {
  const unfinished = mode === "play" && headers.Event === EVENT && headers.Result === "*";
  if (headers.Result !== "*") interrupted = null; // the game ended before the page learned of it
  // A page without an earlier session was reloaded after a restart, or its tab was duplicated.
  if (!forgotten && unfinished) interrupted = headers.Black === USER ? "black" : "white";
  if (interrupted) setup.chooseHere(interrupted);
  const goesOn = "“Start the game” continues from this position";
  if (forgotten) tell(interrupted ? `${forgotten}, which ended the game: ${goesOn}` : `${forgotten}; your moves are back`);
  else if (interrupted) tell(`The game is not running in this tab: ${goesOn}`);
}

// --- actions of the user ---

function playMove(move, node = position.node) {
  if (board.waiting) return; // the moves that the user sees are those of the position before the last move
  if (mode === "play" && moments.take(node, move)) return;
  if (mode === "play" && !game?.running) {
    board.refresh(); // a dropped piece returns to its square
    typed.refused();
    tell(
      game
        ? "The game is over: “Analyse the game” lets you try other moves, “New game” starts a new one"
        : "No game has begun: “Start the game” begins a game, and on the tab “Analyse” you can move for both sides",
    );
    return;
  }
  if (!send("play", { node, move, in_game: Boolean(game?.running) })) return;
  unanswered = { from: node, heading: walk.heading };
  board.wait();
}

function startGame(fields) {
  sound.play("move"); // played here because browsers allow sounds only after a click
  if (!send("new_game", fields)) return;
  unanswered = {}; // the answer is the game, not a position
  board.wait();
}

/** Show the position of a decisive moment, even if the board shows a move that the user has tried there. */
function openMoment(node) {
  walk.goTo(node);
  if (position.node === node) showPosition();
}

const actions = {
  ArrowLeft: () => walk.previous(),
  ArrowRight: () => walk.next(),
  ArrowUp: () => walk.up(),
  ArrowDown: () => walk.down(),
  Home: () => walk.first(),
  End: () => walk.last(),
  Enter: () => {
    drawing.turn(false); // otherwise the drawing tools would cover the text field for moves
    typed.focus();
  },
  Escape: () => {
    premove.set(null);
    drawing.escape();
  },
  d: () => drawing.turnByKey(),
  1: () => drawing.choose(0),
  2: () => drawing.choose(1),
  3: () => drawing.choose(2),
  4: () => drawing.choose(3),
  f: () => flip(!board.flipped),
  m: () => menu.open(walk.node),
  c: () => menu.actions.allowed() && onMove.remark(walk.node),
  e: () => showScores(!byId("moves").classList.contains("scored")),
  x: () => {
    if (mode === "analyse" && !editor.isOpen) analyse(true, !position?.threat);
  },
  " ": () => {
    if (mode === "analyse" && !editor.isOpen) analyse(!position?.analysing);
  },
};
startKeys(actions);
flip(keeping.read("flipped", true) ?? false);
byId("first").addEventListener("click", actions.Home);
byId("previous").addEventListener("click", actions.ArrowLeft);
byId("next").addEventListener("click", actions.ArrowRight);
byId("last").addEventListener("click", actions.End);
byId("flip").addEventListener("click", actions.f);

function flip(flipped) {
  keeping.write("flipped", flipped);
  board.flip(flipped);
  players.flip(flipped);
  byId("evaluation").classList.toggle("flipped", flipped);
}

function analyse(on, threat = false) {
  send("analyse", { on, lines: Number(byId("line-count").value), threat });
}

/** The actions in the context menu of a move, by name. */
const onMove = {
  remark: (node) => remark.open(tree.get(node)),
  main: (node) => send("promote", { node }),
  up: (node) => send("reorder", { node: tree.variationOf(node).id, up: true }),
  down: (node) => send("reorder", { node: tree.variationOf(node).id, up: false }),
  collapse: (node) => moves.collapse(tree.variationOf(node).id),
  copy: (node) => transfer.copy(writeVariation(tree.get(node)), "The moves are on the clipboard"),
  delete: (node) => send("delete", { node }),
};

/** Hide the menu's actions that are impossible at a node. Return the node's move, which is the menu's name. */
function prepareMenu(id, buttons) {
  const node = tree.get(id);
  const first = tree.variationOf(id);
  const siblings = first ? tree.get(first.parent).children : [];
  const place = siblings.indexOf(first);
  buttons.main.hidden = tree.isMain(id);
  buttons.up.hidden = place < 1;
  buttons.down.hidden = !first || place === siblings.length - 1;
  buttons.collapse.hidden = place < 1;
  buttons.collapse.textContent = moves.collapsed.has(first?.id) ? "Show the whole variation" : "Collapse the variation";
  buttons.copy.hidden = buttons.delete.hidden = !node.san;
  return node.san || "Start";
}

/** Show or hide the evaluation of each move in the list; the browser remembers the choice. */
function showScores(on) {
  byId("moves").classList.toggle("scored", on);
  byId("scores").setAttribute("aria-pressed", String(on));
  localStorage.setItem("scores", String(on));
}
showScores(localStorage.getItem("scores") === "true");
byId("scores").addEventListener("click", actions.e);
byId("menu").addEventListener("click", () => menu.open(walk.node));

function switchOther(on) {
  send("switch_other", { on, lines: Number(byId("line-count").value) });
}

byId("analysis").addEventListener("click", () => analyse(!position?.analysing));
byId("threat").addEventListener("click", () => analyse(true, !position?.threat));
for (const id of ["effort", "line-count"]) {
  restoreValue(byId(id), localStorage.getItem(id) ?? byId(id).value);
  byId(id).addEventListener("change", () => localStorage.setItem(id, byId(id).value));
}
byId("line-count").addEventListener("change", () => {
  if (position?.analysing) analyse(true, position.threat);
  if (other.on) switchOther(true);
});
byId("evaluate").addEventListener("click", () => {
  const [unit, number] = byId("effort").value.split(" ");
  send("evaluate", { on: !evaluating, [unit]: Number(number) });
});
byId("promote").addEventListener("click", () => send("promote", { node: walk.node }));
byId("delete").addEventListener("click", () => send("delete", { node: walk.node }));
byId("take-back").addEventListener("click", () => send("take_back"));
byId("undo-end").addEventListener("click", () => send("take_back"));
byId("offer-draw").addEventListener("click", () => send("offer_draw"));
byId("new-game").addEventListener("click", () => {
  setup.leaveHere();
  byId("game").hidden = true;
  byId("setup").hidden = false;
});
byId("analyse-game").addEventListener("click", () => choose("analyse"));
byId("reset").addEventListener("click", () => send("load_fen", { fen: START }));
byId("play-here").addEventListener("click", () => {
  setup.chooseHere();
  byId("setup").hidden = false;
  byId("game").hidden = true;
  choose("play");
});
byId("edit").addEventListener("click", () => {
  stopEngines();
  editor.open(position.fen);
  showPanels();
});

/** Close the editor for good. */
function leaveEditor() {
  keeping.write("editor", null);
  if (editor.isOpen) closeEditor();
}

/** Hide the editor; the tab "Analyse" opens it again with the same position. */
function closeEditor() {
  editor.close();
  showPosition();
  showPanels();
}

/** Open the editor again after a reload, or when the user comes back to the tab "Analyse". */
function reopenEditor() {
  const fen = keeping.read("editor", "");
  if (!fen || mode !== "analyse" || game?.running) return;
  editor.open(fen);
  showPanels();
}

byId("resign").addEventListener("click", (event) => {
  const button = event.currentTarget;
  if (button.classList.contains("sure")) send("resign");
  setResign(!button.classList.contains("sure"));
});
addEventListener("pointerdown", (event) => event.target.id !== "resign" && setResign(false));

function setResign(sure) {
  byId("resign").classList.toggle("sure", sure);
  byId("resign").textContent = sure ? "Really resign?" : "Resign";
}

for (const name of ["play", "analyse"]) {
  byId(`tab-${name}`).addEventListener("click", () => choose(name));
  byId(`tab-${name}`).addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.stopPropagation();
    choose(name === "play" ? "analyse" : "play");
    byId(`tab-${mode}`).focus();
  });
}

function choose(name) {
  mode = name;
  sessionStorage.setItem("mode", mode);
  if (editor.isOpen) closeEditor();
  if (mode === "play") stopEngines();
  reopenEditor();
  showPanels();
}

/** Turn off the engines that analyse. */
function stopEngines() {
  if (position?.analysing) analyse(false);
  if (other.on) switchOther(false);
}

// --- drawing ---

/** Show the position and update every card that depends on it. */
function showPosition() {
  const before = shown;
  shown = position;
  premove.show(position, tree.get(position.node)?.parent);
  players.setMaterial(materialOf(headers.FEN ?? START, position.pieces));
  if (before?.fen !== position.fen || before?.node !== position.node) {
    lines.clear();
    announce(before, position);
  }
  lines.reserve(position.analysing && !position.outcome ? Number(byId("line-count").value) : 0);
  if (position.outcome) byId("readouts").textContent = position.outcome;
  byId("analysis").setAttribute("aria-checked", String(position.analysing));
  byId("threat").setAttribute("aria-checked", String(position.threat));
  // An unchanged position must not overwrite a text that the user is typing.
  if (before?.fen !== position.fen) byId("fen").value = position.fen;
  byId("opening").querySelector(".eco").textContent = position.opening?.eco ?? "";
  byId("opening").querySelector(".name").textContent = position.opening?.name ?? "Moves";
  byId("opening").title = position.opening?.name ?? "";
  other.follow(position, Number(byId("line-count").value));
  board.setArrows([], other.arrows);
  showLine();
  showEvaluation(position.score);
  showSummary(byId("summary"), position.summary, { white: playerName("White"), black: playerName("Black") });
  allowPlayHere();
  showStatus();
  showWorths();
  showExplorer();
}

function showPanels() {
  const running = Boolean(game?.running);
  for (const name of ["play", "analyse"]) {
    byId(`tab-${name}`).setAttribute("aria-selected", String(mode === name));
    byId(`tab-${name}`).tabIndex = mode === name ? 0 : -1;
    byId(`panel-${name}`).hidden = mode !== name || editor.isOpen;
  }
  byId("evaluation").hidden = mode === "play" || running;
  byId("graph-card").hidden = mode === "play" || running || editor.isOpen;
  byId("transfer").hidden = mode === "play" || editor.isOpen;
  byId("tree-tools").hidden = mode === "play" || running || editor.isOpen;
  byId("moves-card").hidden = editor.isOpen;
  drawing.allow(!editor.isOpen);
  for (const name of ["first", "previous", "next", "last"]) byId(name).disabled = editor.isOpen;
  byId("type-move").elements.move.disabled = editor.isOpen;
  for (const name of ["fen-use", "open-file", "load-pgn", "reset"]) byId(name).disabled = running;
  byId("edit").disabled = running || !position;
  allowPlayHere();
  showLine();
  showWorths();
  showExplorer();
}

/** Allow a game from the position on the board only if the game is not over there. */
function allowPlayHere() {
  setup.allowHere(!position?.outcome);
  byId("play-here").disabled = Boolean(game?.running || position?.outcome);
}

/** Update the opening explorer. It is hidden while the user may not analyse. */
function showExplorer() {
  explorer.update(mode === "analyse" && !game?.running && !editor.isOpen ? position : null);
}

/** Update the worth of each piece, and the book and tablebase moves. Both are hidden while the user may not analyse. */
function showWorths() {
  const possible = mode === "analyse" && !game?.running && !editor.isOpen && document.body.dataset.engine === "ready";
  worths.update(possible ? position : null);
  known.update(possible && position ? position.fen : null);
}

function showMoves() {
  moves.render(tree, !game?.running);
  showLine();
}

function showLine() {
  if (!position) return;
  moves.mark(position.node, walk.ahead);
  showClocks();
  if (!editor.isOpen) drawing.show(tree.get(position.node)?.shapes ?? []);
  if (!byId("graph-card").hidden) graph.render(tree.line(position.node), position.node);
  showVerdict(byId("verdict"), byId("tree-tools").hidden ? null : tree.get(position.node));
  byId("promote").hidden = tree.isMain(position.node);
  byId("delete").disabled = position.node === tree.root.id;
}

/** Show the clocks of the running game, or else the clocks recorded at the move shown. */
function showClocks() {
  const live = game?.clock && (game.running || position.at_tip);
  players.setClock(live ? game.clock : clocksAt(tree, position.node, headers.TimeControl));
  if (!socket.isOpen) players.stopClock();
}

function showEvaluation(score) {
  const bar = byId("evaluation");
  const chances = score?.chances ?? 0.5;
  bar.querySelector(".white").style.height = `${chances * 100}%`;
  const text = bar.querySelector("span");
  text.textContent = score ? barText(score.text) : "";
  text.classList.toggle("above", chances < 0.5);
  bar.setAttribute("aria-label", score ? `Evaluation ${score.text}, from White's view` : "Evaluation");
}

/** A score for the evaluation bar, without its sign: pawns to one decimal, mates and results unchanged. */
function barText(score) {
  return Number.isNaN(Number(score)) ? score : Math.abs(score).toFixed(1);
}

function showStatus() {
  const card = byId("game");
  const yours = Boolean(game?.running && position && Object.keys(position.legal).length);
  hint.update(position?.node, yours);
  card.hidden = !game || !byId("setup").hidden;
  if (!game || !position) return;
  moments.update(game.moments, walk.node);
  const status = card.querySelector(".status");
  const [title, detail] = game.running ? runningStatus() : [resultTitle(), `${game.reason}, ${game.result}`];
  showTitle(status, title, detail);
  card.querySelector(".running").hidden = !game.running;
  card.querySelector(".over").hidden = game.running;
  byId("offer-draw").textContent = game.draw_offered ? "Accept draw" : "Offer draw";
  if (!game.running) setResign(false);
}

function runningStatus() {
  const yours = position.turn === game.user;
  if (!position.at_tip) return ["An earlier position", "→ goes back to the game"];
  if (game.draw_offered) return ["Your move", "Knightadder offers a draw"];
  return yours ? ["Your move", position.check ? "You are in check" : `You play ${game.user}`] : ["Knightadder is thinking…", game.opponent];
}

function resultTitle() {
  if (game.result === "½-½") return "Draw";
  return (game.result === "1-0") === (game.user === "white") ? "You won" : "You lost";
}

function setEngineState(state, text = "") {
  const texts = { loading: "The engine is loading…", ready: "", failed: text };
  say(byId("engine-state"), texts[state]);
  byId("engine-state").classList.toggle("bad", state === "failed");
  document.body.dataset.engine = state;
  showWorths();
}

/** Announce a new move to screen readers, and play its sound. */
function announce(before, now) {
  byId("announcer").textContent = [now.san, now.outcome].filter(Boolean).join(", ");
  if (!before || tree.get(now.node)?.parent !== before.node) return;
  const captured = Object.keys(now.pieces).length < Object.keys(before.pieces).length;
  sound.play(now.check ? "check" : captured ? "capture" : "move");
}

function showProgress({ done, all }) {
  evaluating = done < all;
  moments.progress({ done, all });
  byId("evaluate").textContent = evaluating ? "Stop" : "Evaluate the game";
  byId("progress-text").textContent = evaluating ? `${done} of ${all}` : "";
  byId("progress").hidden = !evaluating;
  byId("progress").max = Math.max(all, 1);
  byId("progress").value = done;
}

/** Show a message that disappears after a while or at the next action. */
function tell(text) {
  const toast = byId("toast");
  toast.textContent = text[0].toUpperCase() + text.slice(1);
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(hush, 5000);
}

function hush() {
  byId("toast").hidden = true;
}
for (const action of ["pointerdown", "keydown", "wheel"]) addEventListener(action, hush, { capture: true, passive: true });

// While the page is scrolled, it always reaches down to the bottom of the window. Otherwise the page would jump when a
// card below the board becomes shorter, for example when a game starts.
addEventListener("scroll", () => {
  // In browsers that bounce at the end of a page, scrollY may lie beyond the end.
  const height = Math.min(scrollY + innerHeight, document.documentElement.scrollHeight);
  document.body.style.minHeight = scrollY > 0 ? `${height}px` : "";
});

showPanels();
showLinks();
socket.connect();
