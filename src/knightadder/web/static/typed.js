// The field to type moves in. It gives up the focus after a move, and keeps a text that is not a move.

export class TypedMove {
  /**
   * @param {HTMLFormElement} form
   * @param {(move: string) => void} onMove gets the typed text
   */
  constructor(form, onMove) {
    this.input = form.elements.move;
    this.sent = ""; // the text that was sent, until the server answers
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

  /** Take a new position: it may be the answer to the typed move. */
  answered() {
    const { sent } = this;
    this.sent = "";
    if (!sent || this.input.value.trim() !== sent) return; // the user may be typing the next move already
    this.input.value = "";
    this.input.blur();
  }

  /** Mark the typed text as refused: it is not a move here. */
  refused() {
    if (this.sent) this.input.select();
    this.sent = "";
  }
}
