// Lists the moments that decided a finished game: the user's bad moves. For each moment, the user can look for a better
// move.

import { element, showTitle } from "./elements.js";

const COUNTS = [
  "None of your moves cost much",
  "One move decided the game",
  "Two moves decided the game",
  "Three moves decided the game",
];

export class Moments {
  /**
   * @param {HTMLElement} element
   * @param {HTMLButtonElement} button starts and stops the search for the moments
   * @param {{ask: (on: boolean) => void, open: (node: number) => void, retry: (node: number, move: string) => void,
   *   show: (shapes: string[]) => void, play: (position: object) => void}} actions `show` draws shapes on the board; `play`
   *   shows the position after a move
   */
  constructor(element, button, actions) {
    Object.assign(this, { element, button, actions });
    this.list = null; // the moments, as the server describes them; null before the search for moments
    this.open = null; // the chosen moment, in which the user looks for a better move
    this.solved = false;
    this.searching = false;
    button.addEventListener("click", () => actions.ask(!this.searching));
    element.querySelector("ol").addEventListener("click", (event) => {
      const chosen = event.target.closest("[data-moment]");
      if (chosen) this.choose(this.list[chosen.dataset.moment]);
    });
    element.querySelector(".show").addEventListener("click", () => this.showBest());
    this.mark();
  }

  /** Show the game's moments. `list` is null before the search for moments; `node` is the node that the user has gone to. */
  update(list, node) {
    if (JSON.stringify(list) !== JSON.stringify(this.list)) {
      this.list = list;
      if (this.open) this.actions.show([]);
      this.open = null;
      this.render();
      if (list) this.tellCount();
    }
    if (this.open && this.open.node !== node) this.close(); // the user has left the moment
    this.button.hidden = list !== null;
    this.element.hidden = list === null && !this.searching;
  }

  /** Show the progress of evaluating the game's positions, which is how the moments are found. */
  progress({ done, all }) {
    this.searching = done < all;
    this.button.textContent = this.searching ? "Stop" : "What decided the game";
    const bar = this.element.querySelector("progress");
    Object.assign(bar, { hidden: !this.searching, max: Math.max(all, 1), value: done });
    if (this.searching && !this.list) this.tell("Looking for the moves that decided the game", `${done} of ${all} positions`);
    this.element.hidden = this.list === null && !this.searching;
  }

  choose(moment) {
    Object.assign(this, { open: moment, solved: false });
    this.actions.show([]);
    this.actions.open(moment.node);
    this.tell(`Find a better move than ${moment.played}`, this.words(moment));
    this.mark();
  }

  words({ kind, percents: [before, after] }) {
    return `${kind}. Your chances fell from ${before} % to ${after} %`;
  }

  /** The explanation of the move played in the game. It may give the solution away, so it is shown after the solution. */
  played({ played, explanation }) {
    return `In the game: ${played} ${explanation}`;
  }

  close() {
    this.open = null;
    this.actions.show([]);
    this.tellCount();
    this.mark();
  }

  /** If a moment is open at this node, try the user's move. Return whether a moment is open there. */
  take(node, move) {
    if (!this.open || this.open.node !== node) return false;
    this.actions.retry(node, move);
    this.tell("Looking at this move…");
    return true;
  }

  /** Show the server's answer to a tried move. */
  retried({ node, san, good, repeated, after }) {
    const moment = this.open;
    if (moment?.node !== node) return;
    if (good) {
      this.solved = true;
      this.actions.show([]);
      this.actions.play(after);
      this.tell("Right", `${san} is good. The engine's line: ${moment.line}. ${this.played(moment)}`);
    } else if (repeated) this.tell("Try another move", `${san} was played in the game`);
    else this.tell("Try another move", `${san} costs too much as well`);
    this.mark();
  }

  /** After the server has refused a move, ask the user for a move again. */
  refused() {
    if (this.open && !this.solved) this.tell(`Find a better move than ${this.open.played}`, this.words(this.open));
  }

  showBest() {
    this.solved = true;
    this.actions.show([`G${this.open.best.join("")}`]);
    this.tell("The best move", `${this.open.line}. ${this.played(this.open)}`);
    this.mark();
  }

  render() {
    const rows = (this.list ?? []).map((moment, number) => {
      const button = element("button");
      button.dataset.moment = number;
      showTitle(button, moment.played, moment.kind);
      const row = element("li");
      row.append(button);
      return row;
    });
    this.element.querySelector("ol").replaceChildren(...rows);
    this.mark();
  }

  mark() {
    this.list?.forEach((moment, number) => {
      this.element.querySelector(`[data-moment="${number}"]`).setAttribute("aria-pressed", String(moment === this.open));
    });
    this.element.querySelector(".show").hidden = !this.open || this.solved;
  }

  tellCount() {
    const count = this.list.length;
    this.tell(COUNTS[count], count ? `Choose ${count === 1 ? "it" : "one"}, and find a better move` : "");
  }

  tell(title, detail = "") {
    showTitle(this.element.querySelector(".told"), title, detail);
  }
}
