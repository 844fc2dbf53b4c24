// The page of drills. The server chooses each drill by spaced repetition, and sends its position with the right moves.
// Only the first answer counts. It is right, right after a hint, or wrong.

import { ask as askServer } from "./ask.js";
import { Board } from "./board.js";
import { handOver, leaveBy } from "./handover.js";
import { startKeys } from "./keys.js";
import { startLook } from "./look.js";
import { startTheme } from "./theme.js";

const byId = (id) => document.getElementById(id);
const KINDS = [
  ["All", {}],
  ["My mistakes", { kind: "mistake" }],
  ["My repertoire with White", { kind: "repertoire", side: "white" }],
  ["My repertoire with Black", { kind: "repertoire", side: "black" }],
];

let groups = [];
let drill = null;
let last = 0; // the number of the previous drill, so that no drill is asked twice in a row
let hints = 0;
let saving = null; // the promise of the server's reply to the user's answer; null before the answer
let over = false;

startTheme(byId("theme"));
startLook();
const board = new Board(byId("board"), { onMove: take });
const actions = { h: giveHint, s: showSolution, a: analyse, n: chosen };
for (const [key, id] of [["h", "hint"], ["s", "show"], ["a", "analyse"], ["n", "next"]]) byId(id).addEventListener("click", actions[key]);
startKeys(actions);
leaveBy(byId("to-board"), "Drills");
byId("choice").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["kind", "theme-of", "opening"]) byId(id).addEventListener("change", chosen);

const ask = (path, options) => askServer(byId("problem"), path, options);
const kind = () => KINDS[Number(byId("kind").value)][1];
const isOf = (wanted) => (group) => Object.entries(wanted).every(([name, value]) => !value || group[name] === value);
const sum = (list, name) => list.reduce((total, each) => total + each[name], 0);

/** The filters that are set: kind, theme and opening. */
function choice() {
  const { theme, opening } = byId("choice").elements;
  return Object.fromEntries(Object.entries({ ...kind(), theme: theme.value, opening: opening.value }).filter(([, value]) => value));
}

async function count() {
  const found = await ask("/drills");
  if (!found) return;
  groups = found.groups;
  const before = byId("kind").value || "0";
  byId("kind").replaceChildren(
    ...KINDS.flatMap(([name, wanted], number) => (groups.some(isOf(wanted)) || !number ? [new Option(name, number)] : [])),
  );
  byId("kind").value = before;
  if (!byId("kind").value) byId("kind").value = "0";
  offer("theme-of", "theme", "All themes", kind());
  offer("opening", "opening", "All openings", { ...kind(), theme: byId("theme-of").value });
  const chosenOnes = groups.filter(isOf(choice()));
  byId("count").textContent = `${sum(chosenOnes, "due")} due, ${sum(chosenOnes, "new")} new`;
}

/** Offer the values that occur among the drills; keep the chosen value if it is still among them. */
function offer(id, name, all, wanted) {
  const before = byId(id).value;
  const values = [...new Set(groups.filter(isOf(wanted)).map((group) => group[name]))].sort();
  byId(id).replaceChildren(new Option(all, ""), ...values.map((value) => new Option(value, value)));
  byId(id).value = values.includes(before) ? before : "";
}

async function chosen() {
  await count();
  await open();
}

/** Fetch and show the next drill. */
async function open() {
  await saving;
  byId("problem").hidden = true;
  const found = await ask(`/drills/next?${new URLSearchParams({ ...choice(), after: last })}`);
  if (!found) return;
  drill = found.drill;
  hints = 0;
  saving = null;
  over = false;
  for (const id of ["before", "about", "comment"]) byId(id).replaceChildren();
  byId("hint").disabled = byId("show").disabled = drill === null;
  byId("analyse").hidden = true;
  board.setArrows([]);
  if (drill === null) {
    over = true;
    if (!groups.length) tell("There are no drills yet", "To make drills, run “knightadder report --drills” or “knightadder drills repertoire”.");
    else tell("Done for now", found.wait ? `The next drill is due ${found.wait}.` : "No drill matches this choice.");
    return;
  }
  last = drill.number;
  board.flip(drill.side === "black");
  board.set(drill.position);
  byId("before").textContent = drill.before;
  const mover = drill.side === "white" ? "White" : "Black";
  tell(`${mover} to move`, drill.kind === "mistake" ? "Find a better move than in the game" : "Find the move of your repertoire");
}

/** Send the grade of the answer to the server, unless this drill has been answered before. */
function grade(how) {
  saving ??= ask(`/drills/${drill.number}?grade=${how}`, { method: "POST", keepalive: true }).then(async (found) => {
    await count();
    return found;
  });
}

function take(move) {
  if (move in drill.good) {
    grade(hints ? "hard" : "good");
    end("Right", move);
    return;
  }
  board.set(drill.position);
  if (move === drill.played) tell("Wrong", `${drill.san} was played in the game. Try another move`);
  else tell("Wrong", "Try another move");
  grade("again");
}

/** Give a hint: first the piece to move, then its destination. */
function giveHint() {
  if (over) return;
  const [move] = Object.keys(drill.good);
  hints += 1;
  if (hints === 1) board.select(move.slice(0, 2));
  else board.setArrows([[move.slice(0, 2), move.slice(2, 4)]]);
}

function showSolution() {
  if (over) return;
  grade("again");
  end("The solution", Object.keys(drill.good)[0]);
}

/** Open the board's page with the right moves, to analyse them. */
function analyse() {
  if (drill && over) handOver(drill, "Drills");
}

async function end(title, move) {
  const answered = drill;
  over = true;
  board.setArrows([]);
  board.set(drill.good[move].after);
  byId("hint").disabled = byId("show").disabled = true;
  byId("analyse").hidden = false;
  tell(title, drill.good[move].line);
  const words = drill.about || drill.opening;
  byId("about").replaceChildren(drill.link ? Object.assign(document.createElement("a"), { href: drill.link, textContent: words, rel: "noreferrer" }) : words);
  const told = drill.kind === "mistake" ? [`In the game: ${drill.san}`, drill.theme, drill.opening] : [drill.comment];
  byId("comment").textContent = told.filter(Boolean).join(". ");
  const found = await saving;
  if (found && drill === answered && over) byId("status").querySelector("small").append(`. Again ${found.wait}`);
}

function tell(title, detail = "") {
  byId("status").replaceChildren(title, Object.assign(document.createElement("small"), { textContent: detail }));
}

chosen();
