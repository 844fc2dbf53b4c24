// The puzzle page. The server sends each puzzle with all its positions, so this page knows no rules of chess.
// A puzzle counts as not solved after a wrong move or a hint, or after the solution was shown.

import { byId, element, showTitle } from "./elements.js";
import { Exercise, offer } from "./exercise.js";
import { read, write } from "./stored.js";

const REPLY_AFTER = 400; // milliseconds between the user's move and the reply, so that both can be seen
const BEFORE = "puzzles before"; // storage keys
const SOLVING = "puzzle being solved";
const MANY = 1000; // from this number of puzzles on, the default level is "Near my rating"
const STEP = 250; // width of each rating range that can be chosen, in Elo
const [LOWEST, HIGHEST] = [1000, 2500];

let puzzle = null;
let step = 0; // the index of the solver's next move
let answered = false; // whether this puzzle has been answered
let solving = false; // whether the user is solving this puzzle, or has begun to solve it before its first answer
let before = read(sessionStorage, BEFORE, [0]) ?? []; // the numbers of the puzzles shown before the current puzzle in this tab
let all = null; // the server's description of the puzzle collection: count, themes, ratings, progress

const page = new Exercise(
  "Puzzles",
  { onMove: take, onChoice: openNext, onLate: showReply },
  { hint: giveHint, show: showSolution, analyse, previous: goBack, next: openNext },
);

/** Let the user choose a theme and a level, and show the first puzzle. */
async function begin() {
  all = await page.ask("/puzzles");
  if (!all) return;
  before = before.filter((number) => number <= all.count); // the file may have been a larger one
  const known = page.remembered;
  const themes = [...all.themes].sort((one, other) => one.words.localeCompare(other.words));
  offer("theme-of", [["All themes", ""], ...themes.map(({ name, words, count }) => [`${words} (${count})`, name])], known.theme);
  offer("level", levels(), known.level ?? (all.count >= MANY && all.standing ? "mine" : ""));
  byId("choice").hidden = all.themes.length < 2 && byId("level").options.length < 2;
  showStanding(all.standing);
  showThemes(all.progress);
  const number = Number(location.hash.slice(1));
  const kept = keptIn(sessionStorage) ?? keptIn(localStorage);
  if (number && number <= all.count) await open(`/puzzles/${number}`);
  else if (kept) await open(`/puzzles/${kept.number}?${new URLSearchParams({ id: kept.id })}`);
  if (!puzzle) await openNext();
}

/** The puzzle that is being solved in this tab (sessionStorage), or in the tab that was used last; null if there is none. */
function keptIn(storage) {
  return read(storage, SOLVING, { id: "", number: 0, step: 0 });
}

/** Keep the puzzle that is being solved, and how far: a reload, or a tab opened later, goes on with it. */
function keep() {
  const { id, number } = puzzle;
  for (const storage of [sessionStorage, localStorage]) {
    if (solving) write(storage, SOLVING, { id, number, step });
    else if (keptIn(storage)?.id === id) write(storage, SOLVING, null);
  }
}

/** The levels to choose from, as pairs of the text shown and the name sent to the server. */
function levels() {
  const found = [["Any rating", ""]];
  if (!all.ratings) return found;
  if (all.standing) found.push(["Near my rating", "mine"], ["Easier for me", "easier"], ["Harder for me", "harder"]);
  const [least, most] = all.ratings;
  if (least < LOWEST) found.push([`Below ${LOWEST}`, `1-${LOWEST - 1}`]);
  for (let low = LOWEST; low < HIGHEST; low += STEP) {
    const high = low + STEP - 1;
    if (least <= high && most >= low) found.push([`${low} to ${high}`, `${low}-${high}`]);
  }
  if (most >= HIGHEST) found.push([`${HIGHEST} and more`, `${HIGHEST}-`]);
  return found;
}

async function openNext() {
  if (!all) return begin();
  const choice = { theme: byId("theme-of").value, level: byId("level").value };
  page.remember(choice);
  const after = puzzle?.number ?? page.remembered.number ?? 0;
  await open(`/puzzles/next?${new URLSearchParams({ ...choice, after })}`, puzzle ? [...before, puzzle.number] : before);
  if (puzzle) page.remember({ number: puzzle.number });
}

async function goBack() {
  if (before.length) await open(`/puzzles/${before.at(-1)}`, before.slice(0, -1));
}

/** Load a puzzle from a path on the server, and show it. `earlier` are the numbers of the puzzles shown before it. */
async function open(path, earlier = before) {
  const found = await page.next(() => page.fetch(path));
  if (!found) return;
  puzzle = found;
  before = earlier;
  write(sessionStorage, BEFORE, before);
  answered = puzzle.answered;
  location.replace(`#${puzzle.number}`); // so that a reload shows the same puzzle
  byId("count").textContent = `${puzzle.number.toLocaleString("en")} of ${puzzle.count.toLocaleString("en")}`;
  byId("rating").textContent = puzzle.rating === null ? "" : `Rating ${puzzle.rating}`;
  byId("themes").replaceChildren(); // themes would give the solution away
  byId("game").replaceChildren();
  byId("previous").disabled = !before.length;
  const kept = [keptIn(sessionStorage), keptIn(localStorage)].find((each) => each?.id === puzzle.id && each.step in puzzle.steps);
  step = kept?.step ?? 0;
  solving = Boolean(kept) || !answered;
  keep();
  page.board.flip(puzzle.side === "black");
  const again = answered ? ". You have answered this puzzle already, so it does not count" : "";
  askMove(`${puzzle.side === "white" ? "White" : "Black"} to move`, `Find the only good move${again}`);
}

/** Show the position in which the solver moves next. */
function askMove(title, detail) {
  page.pose(puzzle.steps[step].position, title, detail);
}

function take(move) {
  const { move: right, mates, after, position } = puzzle.steps[step];
  if (move in mates) return end("Solved", mates[move]);
  if (move !== right) {
    page.board.set(position);
    page.tell("Wrong", "Try another move");
    answer(false);
    return;
  }
  step += 1;
  if (step === puzzle.steps.length) return end("Solved", after);
  keep();
  page.board.setArrows([]);
  page.board.set(after);
  page.tell("Right");
  page.later(() => askMove("Right", "Go on"), REPLY_AFTER);
}

/** Send the answer to the server, unless this puzzle has been answered before, and show the user's new rating. */
async function answer(solved) {
  if (answered) return;
  answered = true;
  const { number, id, files } = puzzle;
  const found = await page.answer(`/puzzles/${number}?${new URLSearchParams({ id, solved: solved ? "yes" : "no", files })}`);
  if (found) showReply(found);
}

function showReply({ standing, change, progress }) {
  if (!standing) return;
  showStanding(standing, change);
  showThemes(progress);
}

function giveHint() {
  if (page.over) return;
  page.hint(puzzle.steps[step].move);
  answer(false);
}

function showSolution() {
  if (page.over) return;
  answer(false);
  end("The solution", puzzle.steps.at(-1).after);
}

function end(title, position) {
  solving = false;
  keep();
  byId("themes").replaceChildren(...puzzle.themes.map(themeRow));
  byId("game").replaceChildren(sourceOf(puzzle));
  page.finish(position, title, puzzle.solution);
  answer(title === "Solved");
}

function themeRow({ words, meaning }) {
  const row = element("li");
  row.append(words, meaning && element("small", "", `: ${meaning}`));
  return row;
}

/** The source of a puzzle: a button that shows its game on the board, a link to the game, or a description of the game. */
function sourceOf({ game, in_file: inFile, number, side }) {
  if (inFile) {
    const button = Object.assign(element("button", "", "Show the game"), { title: game });
    button.addEventListener("click", async () => {
      const found = await page.ask(`/puzzles/${number}/game`);
      if (found) page.handOver({ ...found, side });
    });
    return button;
  }
  if (!/^https?:\/\//.test(game)) return game;
  return Object.assign(element("a", "", "The game of this puzzle"), { href: game, target: "_blank", rel: "noreferrer" });
}

/** Open the board's page to analyse the solution. */
function analyse() {
  if (puzzle && page.over) page.handOver(puzzle);
}

function showStanding(standing, change = null) {
  byId("progress").hidden = !standing;
  if (!standing) return;
  const { rating, deviation, tried, solved, streak, best } = standing;
  const sign = change === null ? "" : ` (${change < 0 ? "−" : "+"}${Math.abs(change)})`;
  showTitle(byId("my-rating"), `${rating}${sign}`, `± ${deviation * 2}`);
  showTitle(byId("solved"), `${solved} of ${tried}`, tried ? `${Math.round((100 * solved) / tried)} %` : "");
  showTitle(byId("streak"), String(streak), `best ${best}`);
}

function showThemes(progress) {
  byId("by-theme").hidden = !progress.length;
  const table = byId("by-theme").querySelector("table");
  table.replaceChildren();
  for (const { words, tried, solved } of progress) {
    const row = table.insertRow();
    row.insertCell().textContent = words;
    row.insertCell().textContent = `${solved} of ${tried}`;
  }
}

begin();
