// What is known of the position without search: the moves of the opening book, and of the tablebases. A click plays one.

export class Known {
  /**
   * @param {HTMLElement} card
   * @param {(san: string) => void} onPlay
   */
  constructor(card, onPlay) {
    this.card = card;
    this.fen = null; // the position to answer for
    this.shown = null; // the one whose moves the card shows
    card.addEventListener("click", (event) => {
      const button = event.target.closest("[data-san]");
      if (button && this.fen === this.shown) onPlay(button.dataset.san);
    });
  }

  /** Show what is known of this position; without one, nothing. */
  async update(fen) {
    if (fen === this.fen) return;
    this.fen = fen;
    let answer = null;
    try {
      if (fen) answer = await (await fetch(`/known?${new URLSearchParams({ fen })}`)).json();
    } catch {
      // the server is gone, which the page tells
    }
    if (fen !== this.fen) return; // another position has been shown meanwhile
    this.shown = fen;
    const { book = [], tables = [] } = answer ?? {};
    this.card.hidden = !book.length && !tables.length;
    this.card.replaceChildren(
      ...list("Opening book", book.map(({ san, percent }) => [san, `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`, ""])),
      ...list("Tablebases", tables.map(({ san, result, dtz }) => [san, dtz ? `${result}, DTZ ${dtz}` : result, result])),
    );
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

function element(name, className, content = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = content;
  return made;
}
