// The text field for moves. After a legal move, the field is emptied and loses the focus; any other text stays. Moves that are
// typed before the server has answered wait for its answer, because each move follows the move before it.

export class TypedMove {
  /**
   * @param {HTMLFormElement} form
   * @param {(move: string) => void} onMove gets the typed text
   * @param {() => boolean} busy returns whether the server has not yet answered the last move
   */
  constructor(form, onMove, busy) {
    Object.assign(this, { input: form.elements.move, onMove });
    this.sent = ""; // the text that was sent; empty again after the server's answer
    this.waiting = []; // the texts to send after the server's answer
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      this.input.select(); // so that the next move can be typed at once
      if (!text) return;
      if (busy()) this.waiting.push(text);
      else this.send(text);
    });
    this.input.addEventListener("keydown", ({ key }) => key === "Escape" && this.input.blur());
  }

  send(text) {
    this.sent = text;
    this.onMove(text);
  }

  focus() {
    this.input.focus();
  }

  /** Handle a new position, which may be the answer to the typed move. */
  answered() {
    const { sent } = this;
    this.sent = "";
    if (this.waiting.length) return this.send(this.waiting.shift());
    if (!sent || this.input.value.trim() !== sent) return; // the user may be typing the next move already
    this.input.value = "";
    this.input.blur();
  }

  /** Select the typed text after it was refused, so that what the user types next replaces it. */
  refused() {
    if (this.sent) this.input.select();
    this.sent = "";
    this.waiting = [];
  }
}
