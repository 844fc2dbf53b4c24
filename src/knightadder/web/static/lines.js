// Shows the engine's lines with their scores, and the search's depth, nodes and speed. Pointing at a move shows a preview
// of the position after the move; a click plays the line up to this move.

import { Board } from "./board.js";
import { element } from "./elements.js";
import { moveNumber } from "./tree.js";

export class Lines {
  /**
   * @param {{lines: HTMLElement, readouts: HTMLElement, score: HTMLElement, preview: HTMLElement}} elements
   * @param {{onPlay: (node: number, moves: string[]) => void, onPreview: (node: number, moves: string[]) => void}} actions
   */
  constructor(elements, actions) {
    Object.assign(this, elements);
    this.actions = actions;
    this.board = new Board(elements.preview.querySelector(".board"), { label: "Preview of the line" });
    this.message = null; // the message that is shown
    this.held = null; // the latest message, held back while the pointer or the focus is on the lines
    this.whole = new Set(); // the indexes of the unfolded lines, counted from 0
    this.lines.addEventListener("click", (event) => {
      this.unfold(event.target.closest(".unfold"));
      this.clicked = [event.clientX, event.clientY];
      this.withMove(event, (moves) => actions.onPlay(this.message.node, moves));
    });
    this.lines.addEventListener("keydown", (event) => this.walk(event));
    for (const kind of ["pointerover", "focusin"]) {
      this.lines.addEventListener(kind, (event) => this.look(event));
    }
    for (const kind of ["pointerleave", "focusout"]) {
      this.lines.addEventListener(kind, (event) => this.lines.contains(event.relatedTarget) || this.leave());
    }
  }

  show(message) {
    this.score.textContent = message.lines[0]?.score.text ?? "";
    this.readouts.textContent = [
      message.threat ? "Threat" : null,
      `depth ${message.depth}/${message.seldepth}`,
      `${short(message.nodes).trim()} nodes`,
      `${short(message.nps)}nps`,
      `hash ${(message.hashfull / 10).toFixed(0)} %`,
      message.tbhits ? `${short(message.tbhits).trim()} tablebase hits` : null,
    ].filter(Boolean).join(" · ");
    if (this.looking && this.message?.node === message.node) this.held = message;
    else this.render(message);
  }

  clear() {
    this.whole.clear();
    this.message = this.held = this.previewed = null;
    this.looking = false;
    this.preview.hidden = true;
    this.lines.replaceChildren();
    this.readouts.textContent = this.score.textContent = "";
  }

  /** Reserve room for `count` lines, so that the cards below do not move when the lines arrive. */
  reserve(count) {
    this.lines.style.minHeight = `calc(${count} * max(2.35rem, var(--finger)))`;
  }

  render(message) {
    this.message = message;
    const rows = message.lines.map((line, index) => {
      const row = element("li");
      const score = element("span", "score", line.score.text);
      const moves = element("span", "moves-of-line");
      line.sans.forEach((san, i) => {
        const ply = message.ply + i + 1;
        const place = moves.appendChild(element("span", "ply")); // prevents a line break between a number and its move
        if (i === 0 || ply % 2) place.append(element("span", "number", moveNumber(ply)));
        const button = place.appendChild(element(message.threat ? "span" : "button", "", san));
        if (message.threat) return; // a threat cannot be played: its first move is by the side not to move
        button.dataset.line = index;
        button.dataset.move = i;
        button.tabIndex = i ? -1 : 0;
      });
      const effort = element("span", "effort", `${line.depth} · ${short(line.nodes).trim()}`);
      effort.title = `Depth ${line.depth}, ${short(line.nodes).trim()} nodes`;
      const unfold = element("button", "unfold", "▾");
      unfold.setAttribute("aria-label", "The whole line");
      unfold.setAttribute("aria-expanded", String(this.whole.has(index)));
      row.append(score, moves, effort, unfold);
      return row;
    });
    this.lines.replaceChildren(...rows);
  }

  /** Unfold a line over several rows, or fold it to one row. */
  unfold(button) {
    if (!button) return;
    const rank = [...this.lines.children].indexOf(button.parentNode);
    if (!this.whole.delete(rank)) this.whole.add(rank);
    button.setAttribute("aria-expanded", String(this.whole.has(rank)));
  }

  /** Handle an arrow key: focus the previous or the next move of the line. Tab goes only to the first move of each line. */
  walk(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const moves = [...(event.target.closest(".moves-of-line")?.querySelectorAll("[data-move]") ?? [])];
    if (!step || !moves.length) return;
    moves[moves.indexOf(event.target) + step]?.focus();
    event.preventDefault();
    event.stopPropagation(); // otherwise the key would walk through the moves of the game
  }

  withMove(event, action) {
    const button = event.target.closest?.("[data-move]");
    if (button) action(this.message.lines[button.dataset.line].moves.slice(0, Number(button.dataset.move) + 1), button);
  }

  look(event) {
    // After a click, new lines appear under the resting pointer. They must not open a preview.
    const [x, y] = this.clicked ?? [];
    if (Math.hypot(event.clientX - x, event.clientY - y) < 2) return;
    this.clicked = null;
    this.looking = true;
    this.withMove(event, (moves, button) => {
      this.previewed = moves.join(" ");
      this.beside = button.getBoundingClientRect();
      this.actions.onPreview(this.message.node, moves);
    });
  }

  leave() {
    this.looking = false;
    this.previewed = null;
    this.preview.hidden = true;
    if (this.held) this.render(this.held);
    this.held = null;
  }

  /** Show a preview from the server beside its move, if the pointer or the focus is still on that move. */
  showPreview(message, flipped) {
    if (message.moves.join(" ") !== this.previewed) return;
    this.preview.hidden = false;
    if (this.board.flipped !== flipped) this.board.flip(flipped);
    this.board.set(message);
    const { width, height } = this.preview.getBoundingClientRect();
    const below = this.beside.bottom + 8 + height < innerHeight;
    this.preview.style.left = `${Math.max(4, Math.min(this.beside.left, innerWidth - width - 12))}px`;
    this.preview.style.top = `${below ? this.beside.bottom + 8 : this.beside.top - height - 8}px`;
  }
}

function short(number) {
  if (number >= 1e9) return `${(number / 1e9).toFixed(2)} G`;
  if (number >= 1e6) return `${(number / 1e6).toFixed(2)} M`;
  return number >= 1e3 ? `${(number / 1e3).toFixed(0)} k` : `${number} `;
}
