// The text field for moves. After a legal move, the field is emptied and loses the focus; any other text stays.

export class TypedMove {
  /**
   * @param {HTMLFormElement} form
   * @param {(move: string) => void} onMove gets the typed text
   */
  constructor(form, onMove) {
    this.input = form.elements.move;
    this.sent = ""; // the text that was sent; empty again after the server's answer
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      this.sent = text;
      if (text) onMove(text);
    });
  }

  focus() {
    this.input.focus();
  }

  /** Handle a new position, which may be the answer to the typed move. */
  answered() {
    const { sent } = this;
    this.sent = "";
    if (!sent || this.input.value.trim() !== sent) return; // the user may be typing the next move already
    this.input.value = "";
    this.input.blur();
  }

  /** Select the typed text after it was refused, so that what the user types next replaces it. */
  refused() {
    if (this.sent) this.input.select();
    this.sent = "";
  }
}
