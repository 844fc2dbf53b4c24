// Shows the report's puzzles. The page contains all data for them: positions, legal moves, good moves and lines.
"use strict";

const puzzles = JSON.parse(document.getElementById("puzzle-data").textContent);
const find = (name) => document.querySelector(`.solver ${name}`);
const solved = new Set();
const files = "abcdefgh";
let current = 0;
let from = null; // the selected square; null if there is none
let over = false; // whether the puzzle is solved, or its solution has been shown

/** The pieces of a position, read from its FEN: square -> letter of the piece. */
function piecesOf(fen) {
  const pieces = {};
  fen.split(" ")[0].split("/").forEach((row, at) => {
    let file = 0;
    for (const letter of row) {
      if (/\d/.test(letter)) file += Number(letter);
      else pieces[files[file++] + (8 - at)] = letter;
    }
  });
  return pieces;
}

function draw(fen, last) {
  const puzzle = puzzles[current];
  const pieces = piecesOf(fen);
  const targets = from === null ? [] : puzzle.legal.filter((move) => move.uci.startsWith(from)).map((move) => move.uci.slice(2, 4));
  const squares = [];
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const rank = puzzle.white ? 8 - row : row + 1;
      const file = puzzle.white ? column : 7 - column;
      const name = files[file] + rank;
      const square = document.createElement("button");
      square.type = "button";
      square.dataset.square = name;
      const piece = pieces[name];
      if (piece) square.classList.add(`piece-${piece === piece.toUpperCase() ? "w" : "b"}${piece.toLowerCase()}`);
      square.classList.toggle("dark", (file + rank) % 2 === 1);
      square.classList.toggle("from", name === from);
      square.classList.toggle("to", targets.includes(name));
      square.classList.toggle("last", Boolean(last) && (last.startsWith(name) || last.slice(2, 4) === name));
      square.setAttribute("aria-label", piece ? `${name}, ${NAMES[piece.toLowerCase()]}, ${piece === piece.toUpperCase() ? "white" : "black"}` : name);
      squares.push(square);
    }
  }
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.square : undefined;
  find(".board").replaceChildren(...squares);
  if (focused) find(`[data-square=${focused}]`).focus();
}

const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };

function say(text, kind = "") {
  find(".said").textContent = text;
  find(".said").className = `said ${kind}`;
}

function open(number) {
  current = number;
  from = null;
  over = false;
  const puzzle = puzzles[current];
  find(".number").textContent = `Puzzle ${current + 1} of ${puzzles.length}`;
  find(".task").textContent = puzzle.task;
  find(".choice").replaceChildren();
  find(".line").textContent = "";
  find(".previous").disabled = current === 0;
  find(".next").disabled = current === puzzles.length - 1;
  say(`${puzzle.white ? "White" : "Black"} to move: find a better move than in the game.`);
  draw(puzzle.fen, "");
  count();
}

function count() {
  find(".solved").textContent = `${solved.size} solved`;
}

function show(good) {
  const puzzle = puzzles[current];
  over = true;
  from = null;
  draw(good.after, good.uci);
  find(".line").textContent = `${good.line}. In the game: ${puzzle.played}. ${puzzle.explanation} The winning chances fell from ${puzzle.before} % to ${puzzle.after} %.`;
}

function play(move) {
  const puzzle = puzzles[current];
  const good = puzzle.good.find((each) => each.uci === move.uci);
  find(".choice").replaceChildren();
  if (good) {
    solved.add(current);
    count();
    say(`${move.san} is right.`, "right");
    show(good);
    return;
  }
  from = null;
  draw(puzzle.fen, "");
  if (move.san === puzzle.played) say(`${move.san} was played in the game. Look for a better move.`, "wrong");
  else say(`${move.san} is not good enough. Try again.`, "wrong");
}

function press(square) {
  const puzzle = puzzles[current];
  if (over) return;
  const moves = puzzle.legal.filter((move) => from !== null && move.uci.slice(0, 4) === from + square);
  find(".choice").replaceChildren();
  if (moves.length === 1) {
    play(moves[0]);
  } else if (moves.length > 1) { // a promotion
    find(".choice").replaceChildren(
      ...moves.map((move) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = move.san;
        button.addEventListener("click", () => play(move));
        return button;
      }),
    );
  } else {
    from = square !== from && puzzle.legal.some((move) => move.uci.startsWith(square)) ? square : null;
    draw(puzzle.fen, "");
  }
}

find(".board").addEventListener("click", (event) => {
  const square = event.target.closest("[data-square]");
  if (square) press(square.dataset.square);
});
find(".previous").addEventListener("click", () => open(current - 1));
find(".next").addEventListener("click", () => open(current + 1));
find(".again").addEventListener("click", () => open(current));
find(".solution").addEventListener("click", () => {
  const good = puzzles[current].good[0];
  find(".choice").replaceChildren();
  say(`${good.san} was better.`);
  show(good);
});
open(0);
