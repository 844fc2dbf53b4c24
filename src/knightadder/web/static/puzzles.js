// The page to solve puzzles on. The server gives each puzzle with all its positions, so this page knows no rules.

import { Board } from "./board.js";
import { startLook } from "./look.js";
import { startTheme } from "./theme.js";

const REPLY_AFTER = 400; // milliseconds, to see the own move first
const byId = (id) => document.getElementById(id);

let puzzle = null;
let step = 0; // the number of the solver's next move
let hints = 0; // given for that move
let waiting = 0; // the timer of a reply

startTheme(byId("theme"));
startLook();
const board = new Board(byId("board"), { onMove: take });
byId("hint").addEventListener("click", giveHint);
byId("show").addEventListener("click", showSolution);
byId("previous").addEventListener("click", () => open(puzzle.number - 1));
byId("next").addEventListener("click", () => open(puzzle.number + 1));

/** Load a puzzle by its number, from 1, and show it. */
async function open(number) {
  clearTimeout(waiting);
  const answer = await fetch(`/puzzles/${number}`);
  if (!answer.ok) {
    if (number !== 1) return open(1); // the address may be of another file, with more puzzles
    tell("There is no such puzzle");
    return;
  }
  puzzle = await answer.json();
  location.replace(`#${puzzle.number}`); // to be there again after a reload
  byId("count").textContent = `${puzzle.number} of ${puzzle.count}`;
  byId("rating").textContent = puzzle.rating === null ? "" : `Rating ${puzzle.rating}`;
  byId("themes").textContent = ""; // they would tell too much
  byId("game").textContent = "";
  byId("previous").disabled = puzzle.number === 1;
  byId("next").disabled = puzzle.number === puzzle.count;
  byId("hint").disabled = byId("show").disabled = false;
  step = 0;
  board.flip(puzzle.side === "black");
  ask(`${puzzle.side === "white" ? "White" : "Black"} to move`, "Find the only good move");
}

/** Show the position of the next step, and wait for a move. */
function ask(title, detail) {
  hints = 0;
  board.setArrows([]);
  board.set(puzzle.steps[step].position);
  tell(title, detail);
}

function take(move) {
  const { move: right, mates, after, position } = puzzle.steps[step];
  if (move in mates) return end("Solved", mates[move]);
  if (move !== right) {
    board.set(position);
    tell("Wrong", "Try another move");
    return;
  }
  step += 1;
  if (step === puzzle.steps.length) return end("Solved", after);
  board.setArrows([]);
  board.set(after);
  tell("Right", "");
  waiting = setTimeout(() => ask("Right", "Go on"), REPLY_AFTER);
}

/** First the piece to move, then where to. */
function giveHint() {
  if (step === puzzle.steps.length) return;
  const { move } = puzzle.steps[step];
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  hints += 1;
  if (hints === 1) board.select(from);
  else board.setArrows([[from, to]]);
}

function showSolution() {
  end("The solution", puzzle.steps.at(-1).after);
}

function end(title, position) {
  clearTimeout(waiting);
  step = puzzle.steps.length;
  board.setArrows([]);
  board.set(position);
  byId("hint").disabled = byId("show").disabled = true;
  byId("themes").textContent = puzzle.themes.join(", ");
  byId("game").textContent = puzzle.game;
  tell(title, puzzle.solution);
}

function tell(title, detail = "") {
  byId("status").replaceChildren(title, Object.assign(document.createElement("small"), { textContent: detail }));
}

open(Number(location.hash.slice(1)) || 1);
