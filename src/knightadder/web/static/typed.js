// The field to type moves in: it gives the keyboard back after a move, and keeps a text that is no move.

export class TypedMove {
  /**
   * @param {HTMLFormElement} form
   * @param {(move: string) => void} onMove gets what is typed
   */
  constructor(form, onMove) {
    this.input = form.elements.move;
    this.sent = ""; // what was typed, until the server has answered
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

  /** The server has answered, perhaps to what was typed. */
  answered() {
    const { sent } = this;
    this.sent = "";
    if (!sent || this.input.value.trim() !== sent) return; // the next move may be typed already
    this.input.value = "";
    this.input.blur();
  }

  /** What was typed is no move here. */
  refused() {
    if (this.sent) this.input.select();
    this.sent = "";
  }
}
