// Shows the worth of each piece on the board while the switch is on. To find the worth of a piece, the static value of the
// position without this piece is subtracted from the static value of the position.

export class Worths {
  /**
   * @param {{button: HTMLElement, value: HTMLElement}} elements the switch, and the place for the position's static value
   * @param {import("./board.js").Board} board
   * @param {(node: number) => void} ask asks the server for the worth of each piece at a node
   */
  constructor({ button, value }, board, ask) {
    Object.assign(this, { button, value, board, ask });
    this.possible = null; // the position on the board, if the worth of its pieces may be shown
    this.asked = null; // the position for which the pieces' worth is shown or requested
    button.addEventListener("click", () => {
      button.setAttribute("aria-checked", String(!this.isOn));
      this.update(this.possible);
    });
  }

  get isOn() {
    return this.button.getAttribute("aria-checked") === "true";
  }

  /** Show the worth of each piece in a position if the switch is on. If the position is null, show none. */
  update(position) {
    this.possible = position;
    this.button.disabled = !position;
    const wanted = this.isOn ? position : null;
    if (wanted === this.asked) return;
    this.asked = wanted;
    if (wanted) {
      this.ask(wanted.node);
    } else {
      this.value.textContent = "";
      this.board.setWorths({});
    }
  }

  /** Show the server's answer, unless the position has changed in the meantime. */
  show({ fen, value, pieces }) {
    if (fen !== this.asked?.fen) return;
    this.value.textContent = value ? `Static value ${value}` : "No static value in check";
    this.board.setWorths(pieces);
  }
}
