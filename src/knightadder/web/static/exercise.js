// What the pages of puzzles and drills have in common: a board to answer on, the status, hints, and the keys.

import { ask } from "./ask.js";
import { Board } from "./board.js";
import { byId, showTitle } from "./elements.js";
import { handOver, leaveBy } from "./handover.js";
import { startKeys } from "./keys.js";
import { startLook } from "./look.js";
import { startTheme } from "./theme.js";

export class Exercise {
  /**
   * @param {string} name the page's name, for the way back from the board
   * @param {{onMove: (move: string) => void, onChoice: () => void}} events the user has moved, or chosen other exercises
   * @param {Object<string, () => void>} actions id of a button -> its action; the first letter of the id is its key
   */
  constructor(name, { onMove, onChoice }, actions) {
    this.name = name;
    this.over = true; // whether the user can no longer answer
    this.hints = 0; // number of hints given for the next move
    startTheme(byId("theme"));
    startLook();
    this.board = new Board(byId("board"), { onMove });
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    startKeys(Object.fromEntries(Object.entries(actions).map(([id, action]) => [id[0], action])));
    leaveBy(byId("to-board"), name);
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    byId("choice").addEventListener("change", onChoice);
  }

  /** Ask the server and give its answer; after an error, show the error and give null. */
  async ask(path, options = {}) {
    byId("problem").hidden = true;
    const found = await ask(path, options);
    if (!found.problem) return found;
    byId("problem").textContent = found.problem;
    byId("problem").hidden = false;
    return null;
  }

  /** Show a position in which the user is to find a move. */
  pose(position, title, detail) {
    this.hints = 0;
    this.show(position, false, title, detail);
  }

  /** Show the position at the end of an exercise; null if there is no exercise. */
  finish(position, title, detail) {
    this.show(position, true, title, detail);
  }

  show(position, over, title, detail) {
    this.over = over;
    this.board.setArrows([]);
    if (position) this.board.set(position);
    byId("hint").disabled = byId("show").disabled = over;
    byId("analyse").hidden = !over || !position;
    this.tell(title, detail);
  }

  /** Show a text as the status. */
  tell(title, detail = "") {
    showTitle(byId("status"), title, detail);
  }

  /** Give a hint for this move: first the piece to move, then its destination. */
  hint(move) {
    const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
    this.hints += 1;
    if (this.hints === 1) this.board.select(from);
    else this.board.setArrows([[from, to]]);
  }

  /** Show a game on the board, with the way back to this page. */
  handOver(game) {
    handOver(game, this.name);
  }
}

/** Fill a list with choices, pairs of text and value. Select the value `chosen` if the list has it, otherwise the first. */
export function offer(id, choices, chosen) {
  byId(id).replaceChildren(...choices.map(([text, value]) => new Option(text, value)));
  byId(id).value = choices.some(([, value]) => value === chosen) ? chosen : choices[0][1];
}
