// Shows the moves that the opening book and the tablebases have for the position on the board. A click on a move plays the
// move.

import { element } from "./elements.js";

export class Known {
  /**
   * @param {HTMLElement} card
   * @param {(san: string) => void} onPlay
   */
  constructor(card, onPlay) {
    this.card = card;
    this.fen = null; // the FEN of the position on the board
    this.shown = null; // the FEN of the position whose moves the card shows
    // Aborts the last request when the position changes. A browser has few connections, and old requests would block them.
    this.asking = new AbortController();
    card.addEventListener("click", (event) => {
      const button = event.target.closest("[data-san]");
      if (button && this.fen === this.shown) onPlay(button.dataset.san);
    });
  }

  /** Show the book and tablebase moves of this position; without a position, hide the card. */
  async update(fen) {
    if (fen === this.fen) return;
    this.fen = fen;
    this.asking.abort();
    this.asking = new AbortController();
    let answer = null;
    try {
      if (fen) answer = await (await fetch(`/known?${new URLSearchParams({ fen })}`, { signal: this.asking.signal })).json();
    } catch {
      // Without an answer, the card stays empty. The message about the lost connection tells the user why.
    }
    if (fen !== this.fen) return; // the position has changed meanwhile
    const focused = this.card.contains(document.activeElement);
    this.shown = fen;
    const { book = [], tables = [] } = answer ?? {};
    this.card.hidden = !book.length && !tables.length;
    this.card.replaceChildren(
      ...list("Opening book", book.map(({ san, percent }) => [san, `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`, ""])),
      ...list("Tablebases", tables.map(({ san, result, dtz }) => [san, dtz ? `${result}, DTZ ${dtz}` : result, result])),
    );
    if (focused) this.card.querySelector("button")?.focus();
  }
}

function list(title, rows) {
  if (!rows.length) return [];
  const head = element("p", "known-head", title);
  const moves = element("div", "known-moves");
  for (const [san, text, result] of rows) {
    const button = element("button", result.split(" ").at(-1));
    button.dataset.san = san;
    button.append(element("b", "", san), element("span", "", text));
    moves.append(button);
  }
  return [head, moves];
}
