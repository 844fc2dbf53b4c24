// Arrows and circles that the user draws with the right button, as on Lichess: with Shift or Ctrl they are red, with
// Alt blue, with both yellow. Drawing a shape again removes it; drawing it in another colour changes its colour.

export class Drawing {
  /**
   * @param {import("./board.js").Board} board
   * @param {(shapes: string[]) => void} onDraw gets the shapes of the position, such as "Gd2d4" and "Rd4"
   */
  constructor(board, onDraw) {
    Object.assign(this, { board, onDraw });
    this.shapes = [];
    this.hints = []; // shapes shown as well that the user did not draw
    this.begun = null; // the shape being drawn
    board.element.addEventListener("contextmenu", (event) => event.preventDefault());
    board.element.addEventListener("pointerdown", (event) => this.start(event));
  }

  /** Show the user's shapes of a position. */
  show(shapes) {
    this.shapes = shapes;
    this.render();
  }

  /** Show hints: shapes that do not belong to the position. */
  hint(shapes) {
    this.hints = shapes;
    this.render();
  }

  render() {
    this.board.setShapes([...this.shapes, ...this.hints, ...(this.begun ? [this.begun] : [])]);
  }

  start(event) {
    if (event.button !== 2 || this.board.editing || this.board.locked) return;
    const from = this.board.squareAt(event.clientX, event.clientY);
    const colour = "GRBY"[Number(event.shiftKey || event.ctrlKey) + 2 * Number(event.altKey || event.metaKey)];
    const draw = ({ clientX, clientY }) => {
      const to = this.board.squareAt(clientX, clientY);
      this.begun = to && colour + from + (to === from ? "" : to);
      this.render();
    };
    const end = (ended) => {
      window.removeEventListener("pointermove", draw);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      const shape = ended.type === "pointerup" ? this.begun : null;
      this.begun = null;
      if (shape) this.toggle(shape);
      this.render();
    };
    window.addEventListener("pointermove", draw);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    draw(event);
  }

  toggle(shape) {
    const others = this.shapes.filter((each) => each.slice(1) !== shape.slice(1));
    this.shapes = this.shapes.includes(shape) ? others : [...others, shape];
    this.onDraw(this.shapes);
  }
}
