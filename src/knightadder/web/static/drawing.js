// Arrows and circles that the user draws with the right mouse button. In the draw mode, the user can draw them with any
// pointer or with the keyboard.
// As on Lichess, Shift or Ctrl makes a shape red, Alt makes it blue, and Alt together with one of the others makes it
// yellow. Without these keys, a shape is green, or in the draw mode has the chosen colour.
// Drawing a shape again removes it. Drawing it in a different colour changes its colour.

const COLOURS = "GRBY"; // the letters of green, red, blue and yellow
const MOST = 64; // maximum number of shapes in a position, as on the server

export class Drawing {
  /**
   * @param {import("./board.js").Board} board
   * @param {{button: HTMLButtonElement, tools: HTMLElement}} elements `button` turns the draw mode on and off; `tools`
   *   has a radio button for each colour and a button that removes all shapes
   * @param {(shapes: string[]) => number | null} onDraw sends the shapes of the position, such as "Gd2d4" and "Rd4", to
   *   the server; returns the number of the position's node, or null if the shapes could not be sent
   */
  constructor(board, { button, tools }, onDraw) {
    Object.assign(this, { board, button, tools, onDraw });
    this.shapes = [];
    this.sent = new Map(); // node -> the newest shapes sent for it, until the server reports the same shapes
    this.hints = []; // additional shapes that show hints and were not drawn by the user
    this.begun = null; // the shape being drawn
    this.from = null; // the first square of a shape begun with the keyboard
    this.pointer = null; // the id of the pointer that draws
    board.element.addEventListener("contextmenu", (event) => event.preventDefault());
    board.element.addEventListener("pointerdown", (event) => this.start(event));
    board.element.addEventListener("focusin", ({ target }) => this.from && this.preview(this.shape(this.from, target.dataset.square)));
    button.addEventListener("click", () => this.turn(!this.on));
    tools.querySelector("button").addEventListener("click", () => this.replace([]));
  }

  /** Whether the draw mode is on. In this mode, a press on the board draws instead of moving a piece. */
  get on() {
    return this.board.drawing !== null;
  }

  /** Turn the draw mode on or off. */
  turn(on) {
    if (on === this.on) return;
    this.board.drawing = on ? { onSquare: (square, keys) => this.press(square, keys), onEscape: () => this.escape() } : null;
    this.board.select(null);
    this.board.element.classList.toggle("drawing", on);
    this.button.setAttribute("aria-pressed", String(on));
    this.tools.hidden = !on;
    this.preview(null);
  }

  /** Handle the key that toggles the draw mode. If the mode is now on, give the board the keyboard focus. */
  turnByKey() {
    if (this.button.disabled) return;
    this.turn(!this.on);
    if (this.on) this.board.focus(this.board.focused);
  }

  /** Allow or forbid the draw mode. To forbid it, disable its button and turn the mode off. */
  allow(allowed) {
    this.button.disabled = !allowed;
    if (!allowed && this.on) this.turn(false);
  }

  /** Choose a colour by its index among the colour buttons. */
  choose(index) {
    if (this.on) this.tools.querySelectorAll("input")[index].checked = true;
  }

  /** Show the shapes that the user has drawn in the position. */
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
    this.tools.querySelector("button").disabled = !this.shapes.length;
    this.board.setShapes([...this.shapes, ...this.hints, ...(this.begun ? [this.begun] : [])]);
  }

  /** Show the shape being drawn. If it is null, show none, and cancel a shape begun with the keyboard. */
  preview(shape) {
    this.begun = shape;
    if (!shape) this.from = null;
    this.render();
  }

  shape(from, to, keys) {
    return this.colour(keys) + from + (to === from ? "" : to);
  }

  colour(keys) {
    const key = keys ? Number(keys.shiftKey || keys.ctrlKey) + 2 * Number(keys.altKey || keys.metaKey) : 0;
    return key || !this.on ? COLOURS[key] : this.tools.querySelector("input:checked").value;
  }

  // --- drawing with the pointer ---

  start(event) {
    const draws = event.button === 2 || (this.on && event.button === 0 && !event.target.closest(".promotion"));
    if (!draws || this.pointer !== null || this.board.editing || this.board.locked) return;
    this.pointer = event.pointerId;
    this.from = null;
    const from = this.board.squareAt(event.clientX, event.clientY);
    const draw = (moved) => {
      if (moved.pointerId !== this.pointer) return;
      const to = this.board.squareAt(moved.clientX, moved.clientY);
      this.preview(to && this.shape(from, to, event));
    };
    const end = (ended) => {
      if (ended.pointerId !== this.pointer) return;
      window.removeEventListener("pointermove", draw);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      this.pointer = null;
      const shape = ended.type === "pointerup" ? this.begun : null;
      this.preview(null);
      if (shape) this.toggle(shape);
    };
    window.addEventListener("pointermove", draw);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    draw(event);
  }

  // --- drawing with the keyboard ---

  /** Begin a shape at a square, or finish the begun shape there. It becomes a circle if both squares are the same. */
  press(square, keys) {
    const { from } = this;
    if (from) {
      this.preview(null);
      this.toggle(this.shape(from, square, keys));
    } else {
      this.from = square;
      this.preview(this.shape(square, square, keys));
    }
  }

  /** Cancel the begun shape. If no shape was begun, turn the draw mode off. */
  escape() {
    if (this.begun) this.preview(null);
    else if (this.on) this.turn(false);
  }

  toggle(shape) {
    const others = this.shapes.filter((each) => each.slice(1) !== shape.slice(1));
    this.replace(this.shapes.includes(shape) ? others : [...others, shape].slice(-MOST));
  }

  replace(shapes) {
    const before = this.shapes;
    this.show(shapes); // does not wait for the server: the user may draw the next shape before the server answers
    const node = this.onDraw(shapes);
    if (node === null) this.show(before);
    else this.sent.set(node, shapes);
  }

  /**
   * Put the user's newest shapes into nodes that the server has sent. Until the server has received these shapes, the
   * nodes contain older ones.
   */
  correct(nodes) {
    for (const node of nodes) {
      const newest = this.sent.get(node.id);
      if (!newest) continue;
      if (String([...newest].sort()) === String([...node.shapes].sort())) this.sent.delete(node.id);
      else node.shapes = newest;
    }
  }
}
