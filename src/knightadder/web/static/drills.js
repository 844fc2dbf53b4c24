// The drill page. The server chooses each drill by spaced repetition, and sends the drill's position and right moves. Only
// the first answer counts. Its grade is "good", "hard" (right, but only after a hint) or "again" (wrong, or the solution
// was shown).

import { byId, element } from "./elements.js";
import { Exercise, offer } from "./exercise.js";
import { read, write } from "./stored.js";

const HINTED = "drills with a hint"; // storage key
const MOST_HINTED = 100; // maximum number of drills stored there
const KINDS = [
  ["All", {}],
  ["My mistakes", { kind: "mistake" }],
  ["My repertoire with White", { kind: "repertoire", side: "white" }],
  ["My repertoire with Black", { kind: "repertoire", side: "black" }],
];

let groups = [];
let drill = null;
let saving = null; // the promise of the server's reply to the user's answer; null before the answer

const page = new Exercise(
  "Drills",
  { onMove: take, onChoice: choose, onLate: tellLate },
  { hint: giveHint, show: showSolution, analyse, next: goOn },
);
let chosen = page.remembered; // the values that the user has chosen in the lists of kinds, themes and openings

const kind = () => KINDS[Number(byId("kind").value)][1];
const isOf = (wanted) => (group) => Object.entries(wanted).every(([name, value]) => !value || group[name] === value);
const sum = (list, name) => list.reduce((total, each) => total + each[name], 0);

/** The kind, theme and opening that the lists show. A filter that shows all drills is left out. */
function choice() {
  const { theme, opening } = byId("choice").elements;
  return Object.fromEntries(Object.entries({ ...kind(), theme: theme.value, opening: opening.value }).filter(([, value]) => value));
}

async function count() {
  const found = await page.ask("/drills");
  if (!found) return;
  groups = found.groups;
  const kinds = KINDS.flatMap(([name, wanted], number) => (groups.some(isOf(wanted)) || !number ? [[name, String(number)]] : []));
  offer("kind", kinds, chosen.kind);
  offerValues("theme-of", "theme", "All themes", kind());
  offerValues("opening", "opening", "All openings", { ...kind(), theme: byId("theme-of").value });
  const chosenOnes = groups.filter(isOf(choice()));
  byId("count").textContent = `${sum(chosenOnes, "due")} due, ${sum(chosenOnes, "new")} new`;
}

/** Offer the values that the field `name` has in these drills. Keep the chosen value if it is still offered. */
function offerValues(id, name, all, drills) {
  const values = [...new Set(groups.filter(isOf(drills)).map((group) => group[name]))].sort();
  offer(id, [[all, ""], ...values.map((value) => [value, value])], chosen[name]);
}

async function choose() {
  chosen = Object.fromEntries(new FormData(byId("choice")));
  page.remember(chosen);
  await goOn();
}

/** Go on to the next drill. The previous drill is not asked again at once. */
async function goOn() {
  if (drill) page.remember({ last: drill.number });
  await begin();
}

/** Fetch and show the next drill. */
async function begin() {
  const found = await page.next(async () => {
    await count();
    await saving;
    return page.fetch(`/drills/next?${new URLSearchParams({ ...choice(), after: page.remembered.last ?? 0 })}`);
  });
  if (!found) return;
  drill = found.drill;
  saving = null;
  for (const id of ["before", "about", "comment"]) byId(id).replaceChildren();
  if (drill === null) {
    if (!groups.length) page.finish(null, "There are no drills yet", "To make drills, run “knightadder report --drills” or “knightadder drills repertoire”.");
    else page.finish(null, "Done for now", found.wait ? `The next drill is due ${found.wait}.` : "No drill matches this choice.");
    return;
  }
  page.board.flip(drill.side === "black");
  byId("before").textContent = drill.before;
  const mover = drill.side === "white" ? "White" : "Black";
  const task = drill.kind === "mistake" ? "Find a better move than in the game" : "Find the move of your repertoire";
  page.pose(drill.position, `${mover} to move`, task);
}

/** Send the grade of the answer to the server, unless this drill has been answered before. */
function grade(how) {
  saving ??= page.answer(`/drills/${drill.number}?turn=${drill.turn}&grade=${how}&files=${drill.files}`).then(async (found) => {
    if (found) await count();
    return found;
  });
}

/** Go on after an answer that could not be sent at first. */
async function tellLate() {
  if (drill) await count();
  else await begin();
}

function take(move) {
  if (move in drill.good) {
    grade(hinted().includes(drill.turn) ? "hard" : "good");
    end("Right", move);
    return;
  }
  page.board.set(drill.position);
  if (move === drill.played) page.tell("Wrong", `${drill.san} was played in the game. Try another move`);
  else page.tell("Wrong", "Try another move");
  grade("again");
}

/** The turns of drills in which the user asked for a hint. They are stored, because the answer may come after a reload. */
function hinted() {
  return read(localStorage, HINTED, [""]) ?? [];
}

function giveHint() {
  if (page.over) return;
  page.hint(Object.keys(drill.good)[0]);
  write(localStorage, HINTED, [...hinted().filter((turn) => turn !== drill.turn), drill.turn].slice(-MOST_HINTED));
}

function showSolution() {
  if (page.over) return;
  grade("again");
  end("The solution", Object.keys(drill.good)[0]);
}

/** Open the board's page to analyse the right moves. */
function analyse() {
  if (drill && page.over) page.handOver(drill);
}

async function end(title, move) {
  const answered = drill;
  page.finish(drill.good[move].after, title, drill.good[move].line);
  const words = drill.about || drill.opening;
  byId("about").replaceChildren(drill.link ? Object.assign(element("a", "", words), { href: drill.link, rel: "noreferrer" }) : words);
  const told = drill.kind === "mistake" ? [`In the game: ${drill.san}`, drill.theme, drill.opening] : [drill.comment];
  byId("comment").textContent = told.filter(Boolean).join(". ");
  const found = await saving;
  if (!found || drill !== answered || !page.over) return;
  byId("status").querySelector("small").append(found.wait ? `. Again ${found.wait}` : ". This drill was answered already, or is no longer there, so this does not count");
}

begin();
