// Hints in a game against the engine: first the piece to move, then the move.

export class Hint {
  /**
   * @param {HTMLButtonElement} button
   * @param {{ask: (node: number) => void, show: (shapes: string[]) => void}} actions
   */
  constructor(button, actions) {
    Object.assign(this, { button, actions });
    this.node = null; // the node that the hint is for
    this.move = null; // the origin and the destination of the suggested move
    this.drawn = false; // whether the board shows a hint's shapes
    button.addEventListener("click", () => {
      if (this.move) return this.show("Move shown", true, [`B${this.move.join("")}`]);
      this.show("Searching…", true);
      actions.ask(this.node);
    });
  }

  /** Handle a new node on the board. `possible` says whether the user may ask for a hint: only when it is the user's turn. */
  update(node, possible) {
    if (node === this.node && possible === this.possible) return;
    Object.assign(this, { node, possible, move: null });
    this.show("Hint", !possible);
  }

  /** Handle the server's hint: show which piece to move. The next click on the button shows the whole move. */
  take({ node, move }) {
    if (node !== this.node || !this.possible) return;
    this.move = move;
    this.show("Show move", false, [`B${move[0]}`]);
  }

  /** Offer a hint again after the search for a hint was interrupted. */
  reset() {
    if (!this.move) this.show("Hint", !this.possible);
  }

  show(text, disabled, shapes = []) {
    this.button.textContent = text;
    this.button.disabled = disabled;
    if (this.drawn || shapes.length) this.actions.show(shapes); // otherwise the shapes on the board are no hint's
    this.drawn = shapes.length > 0;
  }
}
