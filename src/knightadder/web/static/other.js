// The card of the second engine, with a switch and the engine's lines. On the board, the engine's arrows are drawn beneath
// Knightadder's arrows.

import { Lines } from "./lines.js";

export class OtherEngine {
  /**
   * @param {HTMLElement} card hidden unless the server has a second engine
   * @param {HTMLElement} preview
   * @param {{onSwitch: (on: boolean) => void, onArrows: () => void, onPlay: Function, onPreview: Function}} actions
   */
  constructor(card, preview, actions) {
    this.card = card;
    this.button = card.querySelector(".switch");
    this.problem = card.querySelector(".problem");
    this.place = null; // the node and FEN of the position whose lines are shown
    this.arrows = [];
    this.on = false;
    this.actions = actions;
    this.lines = new Lines(
      { lines: card.querySelector(".lines"), readouts: card.querySelector(".readouts"), score: card.querySelector(".other-score"), preview },
      actions,
    );
    this.button.addEventListener("click", () => actions.onSwitch(!this.on));
  }

  /** Show the second engine's state as the server describes it. */
  take({ name, on, problem }) {
    this.card.hidden = false;
    this.on = on;
    this.button.setAttribute("aria-checked", String(on));
    this.button.lastElementChild.textContent = name;
    this.problem.textContent = problem ? problem[0].toUpperCase() + problem.slice(1) : "";
    this.problem.hidden = !problem;
    if (!on) this.clear();
    else if (!this.lines.message) this.lines.readouts.textContent = "Waiting for the first line…";
  }

  /** Show the second engine's lines if they are for `node`, the node on the board. */
  show(message, node) {
    if (!this.on || message.node !== node) return;
    this.lines.show(message);
    this.arrows = message.lines.map((line) => line.arrow).filter(Boolean);
    this.actions.onArrows();
  }

  /** Clear the lines if the position on the board is new, and reserve room for `count` lines. */
  follow({ node, fen, outcome }, count) {
    const place = `${node} ${fen}`;
    if (place !== this.place) this.clear();
    this.place = place;
    this.lines.reserve(this.on && !outcome ? count : 0);
  }

  clear() {
    this.lines.clear();
    this.lines.reserve(0);
    this.arrows = [];
    this.actions.onArrows();
  }
}
