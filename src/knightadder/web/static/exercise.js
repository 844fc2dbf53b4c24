// The code shared by the puzzle page and the drill page: the board, the status, hints and keys.

import { Answers } from "./answers.js";
import { ask } from "./ask.js";
import { Board } from "./board.js";
import { byId, showTitle } from "./elements.js";
import { handOver, leaveBy } from "./handover.js";
import { startKeys } from "./keys.js";
import { startLook } from "./look.js";
import { showLinks } from "./pages.js";
import { read, write } from "./stored.js";
import { startTheme } from "./theme.js";

const LATER = ". Your answer is kept in this browser and sent later";

export class Exercise {
  /**
   * @param {string} name the page's name, for the link back from the board's page
   * @param {{onMove: (move: string) => void, onChoice: () => void, onLate: (reply: object) => void}} events `onMove` gets
   *   the user's move; `onChoice` is called after the user has chosen which exercises to show; `onLate` gets the server's
   *   reply to an answer that could not be sent at first
   * @param {Object<string, () => void>} actions id of a button -> action of the button; the id's first letter is the
   *   key for the action
   */
  constructor(name, { onMove, onChoice, onLate }, actions) {
    this.name = name;
    this.key = name.toLowerCase(); // of what the browser stores for this page
    this.over = true; // whether the user can no longer answer
    this.hints = 0; // number of hints given for the next move
    this.timer = 0; // for the next event of the exercise that is shown
    this.newest = null; // the newest request for an exercise
    this.answers = new Answers(`${this.key} answers`, (reply) => {
      if (this.replyOf(reply, LATER)) onLate(reply);
    });
    startTheme(byId("theme"));
    startLook();
    this.board = new Board(byId("board"), { onMove });
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    startKeys(Object.fromEntries(Object.entries(actions).map(([id, action]) => [id[0], action])));
    leaveBy(byId("to-board"), name);
    showLinks();
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    byId("choice").addEventListener("change", onChoice);
  }

  /** The values that the browser has stored for this page, in all tabs: the user's choice of exercises, and others. */
  get remembered() {
    return read(localStorage, this.key, {}) ?? {};
  }

  remember(fields) {
    write(localStorage, this.key, { ...this.remembered, ...fields });
  }

  /** Send a request after the kept answers, and return the server's reply. If that fails, show the error and return null. */
  async ask(path) {
    this.complain("");
    return this.replyOf(await this.fetch(path));
  }

  /** Send a request after the kept answers, and return the server's reply or `{ problem }`. */
  async fetch(path) {
    await this.answers.sendKept();
    return ask(path);
  }

  /**
   * Return the exercise to show next, for which `request` asks with `fetch`. If the user asks again meanwhile, the newest
   * request counts, and the earlier ones get null. If the newest fails, its error is shown and the one before it counts.
   */
  async next(request) {
    this.complain("");
    const asked = { reply: request(), later: null };
    if (this.newest) this.newest.later = asked;
    this.newest = asked;
    const found = await asked.reply;
    for (let { later } = asked; later; later = later.later) if (!(await later.reply).problem) return null;
    return asked === this.newest || found.problem ? this.replyOf(found) : found;
  }

  /** Send the user's answer, and return the server's reply. If the answer is sent later, say so and return null. */
  async answer(path) {
    this.complain("");
    return this.replyOf(await this.answers.send(path), LATER);
  }

  /** The server's reply; null if that is a problem, which is shown with an advice. */
  replyOf(found, advice = "") {
    this.complain(found.problem ? found.problem + advice : "");
    return found.problem ? null : found;
  }

  /** Show a problem; "" hides it. A screen reader does not repeat a problem that stays the same. */
  complain(text) {
    if (byId("problem").textContent !== text) byId("problem").textContent = text;
    byId("problem").hidden = !text;
  }

  /** Show a position in which the user must find a move. */
  pose(position, title, detail) {
    this.hints = 0;
    this.show(position, false, title, detail);
  }

  /** Show the position at the end of an exercise. `position` is null if there is no exercise to show. */
  finish(position, title, detail) {
    this.show(position, true, title, detail);
  }

  show(position, over, title, detail) {
    clearTimeout(this.timer);
    this.over = over;
    this.board.setArrows([]);
    this.board.set(position ?? { ...this.board.position, legal: {} });
    byId("hint").disabled = byId("show").disabled = over;
    byId("analyse").hidden = !over || !position;
    this.tell(title, detail);
  }

  /** Do something after some milliseconds, unless another position or exercise is shown before. */
  later(action, milliseconds) {
    this.timer = setTimeout(action, milliseconds);
  }

  /** Show a title and a detail as the status. */
  tell(title, detail = "") {
    showTitle(byId("status"), title, detail);
  }

  /** Give a hint: the first hint shows the piece to move, the second its destination. */
  hint(move) {
    const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
    this.hints += 1;
    if (this.hints === 1) this.board.select(from);
    else this.board.setArrows([[from, to]]);
  }

  /** Show a game on the board's page, whose link leads back to this page. Without a server, this page stays. */
  async handOver(game) {
    if (await this.ask("/pages")) handOver(game, this.name);
  }
}

/** Fill a list with choices, which are pairs of text and value. Select the choice with the value `chosen`, or the first. */
export function offer(id, choices, chosen) {
  byId(id).replaceChildren(...choices.map(([text, value]) => new Option(text, value)));
  byId(id).value = choices.some(([, value]) => value === chosen) ? chosen : choices[0][1];
}
