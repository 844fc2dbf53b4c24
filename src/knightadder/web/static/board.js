// The board with its squares and pieces. The user moves a piece by dragging it, with two clicks, or from the keyboard. The
// board does not know the rules of chess: the server sends the legal moves.

import { drawArrows, drawShapes, shapeName } from "./arrows.js";
import { svgElement } from "./elements.js";
import { pieceName } from "./pieces.js";
import { askPromotion } from "./promotion.js";

const FILES = "abcdefgh";
const DRAG_FROM = 4; // pixels the pointer must move before a press counts as a drag

export class Board {
  /**
   * @param {HTMLElement} element the element that holds the board
   * @param {{onMove?: (move: string) => void, label?: string}} options `onMove` gets a legal move in UCI notation
   */
  constructor(element, { onMove = null, label = "Chess board" } = {}) {
    this.element = element;
    this.onMove = onMove;
    // The editor's handlers {onSquare(square), onDrag(from, to)}, while the editor is open. If a piece is dragged off the
    // board, `to` is null.
    this.editing = null;
    // The draw mode's key handlers {onSquare(square, event), onEscape()}, while the mode is on. Enter and space call onSquare.
    this.drawing = null;
    this.locked = false; // whether the user cannot move pieces
    this.waiting = null; // the legal moves, while the server has not yet answered the user's move
    this.flipped = false;
    this.position = { pieces: {}, legal: {}, promotions: [], last: null, check: null };
    this.arrows = [[], []]; // the arrows of the first engine and of the second engine
    this.shapes = [];
    this.worths = {};
    this.premove = []; // the two squares of the premove; empty if there is no premove
    this.shown = new Map(); // square -> {code, element} of the piece drawn there
    this.selected = null;
    this.focused = "e2";
    element.setAttribute("role", "grid");
    element.setAttribute("aria-label", label);
    this.squares = element.appendChild(document.createElement("div"));
    this.squares.className = "squares";
    this.layer = element.appendChild(document.createElement("div"));
    this.svg = overlay(element, "arrows");
    this.shapesSvg = overlay(element, "shapes");
    this.buildSquares();
    if (onMove) {
      element.addEventListener("pointerdown", (event) => this.pointerDown(event));
      element.addEventListener("keydown", (event) => this.keyDown(event));
    }
  }

  // --- drawing ---

  /** Show a position as the server describes it; moved pieces glide to their new squares. */
  set(position) {
    const sameMoves = position.fen === this.position.fen && Object.keys(position.legal ?? {}).length > 0;
    if (position.fen !== this.position.fen) this.worths = {};
    this.position = { legal: {}, promotions: [], last: null, check: null, ...position };
    if (this.waiting) this.wait();
    // If the position is the same, and for example only the analysis has changed, the selected piece stays selected.
    if (!sameMoves) {
      this.cancelPromotion?.();
      this.selected = null;
    }
    this.refresh();
  }

  refresh() {
    this.placePieces();
    this.markSquares();
  }

  /** Show the engine's arrows, and below them the second engine's. Each list begins with the most important arrow. */
  setArrows(arrows, others = []) {
    this.arrows = [arrows, others];
    drawArrows(this.svg, arrows, others, (square) => this.place(square));
  }

  /** Show arrows and circles, given in the notation of `drawShapes`. */
  setShapes(shapes) {
    this.shapes = shapes;
    this.markSquares();
    drawShapes(this.shapesSvg, shapes, (square) => this.place(square));
  }

  /** Show texts on pieces; `worths` maps the squares of the pieces to the texts. */
  setWorths(worths) {
    this.worths = worths;
    this.refresh();
  }

  /** Mark the squares of a premove; the piece stays on its square. */
  setPremove(squares) {
    this.premove = squares;
    this.refresh();
  }

  flip(flipped = !this.flipped) {
    const focused = this.element.contains(document.activeElement);
    this.flipped = flipped;
    this.buildSquares();
    for (const [square, piece] of this.shown) this.move(piece.element, square);
    this.refresh();
    this.setArrows(...this.arrows);
    this.setShapes(this.shapes);
    if (focused) this.focus(this.focused);
  }

  /** The column and row at which a square appears on the screen, counted from the top left. */
  place(square) {
    const file = FILES.indexOf(square[0]);
    const rank = Number(square[1]) - 1;
    return this.flipped ? [7 - file, rank] : [file, 7 - rank];
  }

  buildSquares() {
    this.squares.replaceChildren();
    this.cells = new Map();
    for (let row = 0; row < 8; row++) {
      const line = this.squares.appendChild(document.createElement("div"));
      line.className = "row";
      line.setAttribute("role", "row");
      for (let column = 0; column < 8; column++) {
        const file = this.flipped ? 7 - column : column;
        const rank = this.flipped ? row : 7 - row;
        const cell = line.appendChild(document.createElement("div"));
        cell.dataset.square = FILES[file] + (rank + 1);
        cell.setAttribute("role", "gridcell");
        if (row === 7) cell.append(coordinate("file", FILES[file]));
        if (column === 0) cell.append(coordinate("rank", String(rank + 1)));
        this.cells.set(cell.dataset.square, cell);
      }
    }
  }

  placePieces() {
    const wanted = this.position.pieces;
    const free = [];
    for (const [square, piece] of this.shown) {
      if (wanted[square] !== piece.code) {
        free.push({ square, ...piece });
        this.shown.delete(square);
      }
    }
    for (const [square, code] of Object.entries(wanted)) {
      const there = this.shown.get(square);
      if (there) {
        this.move(there.element, square); // returns a dragged piece to its square
        continue;
      }
      const index = free.findIndex((piece) => piece.code === code);
      const element = index >= 0 ? free.splice(index, 1)[0].element : document.createElement("div");
      if (!element.parentNode) {
        element.className = `piece ${code}`;
        this.layer.append(element);
      }
      this.move(element, square);
      this.shown.set(square, { code, element });
    }
    for (const piece of free) piece.element.remove();
    for (const [square, { element }] of this.shown) element.dataset.worth = this.worths[square] ?? "";
  }

  move(element, square) {
    const [column, row] = this.place(square);
    element.classList.remove("dragged");
    element.style.transform = `translate(${column * 100}%, ${row * 100}%)`;
  }

  markSquares() {
    const { pieces, last, check } = this.position;
    const targets = this.selected ? this.position.legal[this.selected] ?? {} : {};
    for (const [square, cell] of this.cells) {
      const piece = pieces[square];
      const [column, row] = this.place(square);
      const classes = ["square", (column + row) % 2 ? "dark" : "light"];
      if (piece) classes.push("occupied");
      if (!this.locked && (this.editing ? piece : this.position.legal[square])) classes.push("mine");
      if (last?.includes(square)) classes.push("last");
      if (check === square) classes.push("check");
      if (this.premove.includes(square)) classes.push("premove");
      if (square === this.selected) classes.push("selected");
      if (square in targets) classes.push("target");
      cell.className = classes.join(" ");
      if (!this.onMove) continue;
      const parts = [square, piece ? pieceName(piece) : "empty"];
      if (this.worths[square]) parts.push(`worth ${this.worths[square]}`);
      if (check === square) parts.push("in check");
      if (this.premove.includes(square)) parts.push("move made in advance");
      if (square === this.selected) parts.push("selected");
      if (square in targets) parts.push("can be moved to");
      parts.push(...this.shapes.filter((shape) => shape.slice(1, 3) === square).map(shapeName));
      cell.setAttribute("aria-label", parts.join(", "));
      cell.setAttribute("aria-selected", String(square === this.selected));
      cell.tabIndex = square === this.focused ? 0 : -1;
    }
  }

  // --- moving ---

  /** Lock or unlock the board. On a locked board, no piece can be moved. */
  lock(locked) {
    this.locked = locked;
    this.cancelPromotion?.();
    this.selected = null;
    this.element.classList.toggle("locked", locked);
    this.refresh();
  }

  /** Give a square the keyboard focus. */
  focus(square) {
    this.focused = square;
    this.markSquares();
    this.cells.get(square).focus();
  }

  /** Let the user move no piece until `goOn` is called: the server has not yet answered the last move. */
  wait() {
    this.waiting = this.position.legal;
    this.position.legal = {};
    this.select(null);
  }

  /** Let the user move again. */
  goOn() {
    if (this.waiting) this.position.legal = this.waiting;
    this.waiting = null;
  }

  select(square) {
    this.selected = square && this.position.legal[square] ? square : null;
    this.markSquares();
  }

  /** Handle a click or the Enter key on a square: select its piece, or move the selected piece there. */
  press(square, event) {
    if (this.locked) return;
    if (this.editing) this.editing.onSquare(square);
    else if (this.drawing) this.drawing.onSquare(square, event);
    else if (this.selected && this.isLegal(this.selected, square)) this.play(this.selected, square);
    else this.select(square === this.selected ? null : square);
  }

  isLegal(from, to) {
    return Boolean(this.position.legal[from]?.[to]);
  }

  async play(from, to, dropped = false) {
    let move = this.position.legal[from][to];
    this.select(null);
    if (this.position.promotions.includes(move)) {
      const letter = await askPromotion(this, to, this.position.turn === "white" ? "w" : "b");
      if (!letter) {
        this.refresh();
        return;
      }
      move += letter;
    }
    const piece = this.shown.get(from);
    if (dropped && piece && this.shown.get(to)?.code[0] !== piece.code[0]) {
      // The piece stays where it was dropped: the server's next message shows it there too.
      this.shown.get(to)?.element.remove();
      this.shown.delete(from);
      this.shown.set(to, piece);
      this.move(piece.element, to);
    }
    this.onMove(move);
  }

  squareAt(x, y) {
    const box = this.element.getBoundingClientRect();
    const column = Math.floor(((x - box.left) / box.width) * 8);
    const row = Math.floor(((y - box.top) / box.height) * 8);
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.flipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
  }

  pointerDown(event) {
    if (event.target.closest(".promotion")) return;
    event.preventDefault(); // keeps the focus off the board, so that the arrow keys still walk through the moves
    if (event.button !== 0 || this.locked || this.drawing) return;
    const from = this.squareAt(event.clientX, event.clientY);
    const piece = this.shown.get(from);
    const movable = piece && (this.editing || this.position.legal[from]);
    const wasSelected = this.selected === from;
    const isMove = this.selected && this.isLegal(this.selected, from);
    if (!movable || isMove) {
      if (!this.editing || !piece) this.press(from);
      return;
    }
    if (!this.editing) this.select(from);
    this.element.setPointerCapture(event.pointerId); // so that the end of a drag is noticed even outside the page
    const start = [event.clientX, event.clientY];
    let dragging = false;
    const onMove = (moved) => {
      if (moved.pointerId !== event.pointerId) return;
      if (!dragging && Math.hypot(moved.clientX - start[0], moved.clientY - start[1]) < DRAG_FROM) return;
      dragging = true;
      const box = this.element.getBoundingClientRect();
      const size = box.width / 8;
      piece.element.classList.add("dragged");
      piece.element.style.transform = `translate(${moved.clientX - box.left - size / 2}px, ${moved.clientY - box.top - size / 2}px)`;
    };
    const onEnd = (ended) => {
      if (ended.pointerId !== event.pointerId) return;
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onEnd);
      window.removeEventListener("pointercancel", onEnd);
      const to = ended.type === "pointerup" ? this.squareAt(ended.clientX, ended.clientY) : from;
      this.drop(from, to, dragging, wasSelected);
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onEnd);
    window.addEventListener("pointercancel", onEnd);
  }

  drop(from, to, dragging, wasSelected) {
    if (this.editing) {
      if (!dragging) this.editing.onSquare(from);
      else if (to !== from) this.editing.onDrag(from, to);
      this.refresh();
    } else if (dragging && to && this.isLegal(from, to)) {
      this.play(from, to, true);
    } else {
      if (wasSelected && !dragging) this.select(null);
      this.refresh();
    }
  }

  keyDown(event) {
    const square = event.target.dataset?.square;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!square) return;
    if (event.key === "Enter" || event.key === " ") {
      this.press(square, event);
    } else if (event.key === "Escape" && (this.selected || this.drawing)) {
      this.drawing?.onEscape();
      this.select(null);
    } else if (step) {
      const [column, row] = this.place(square).map((value, axis) => Math.min(Math.max(value + step[axis], 0), 7));
      const next = this.flipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
      this.focus(next);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // otherwise the arrow key would also walk through the moves
  }
}

/** Add an SVG layer on top of the squares and pieces. */
function overlay(element, name) {
  return element.appendChild(svgElement("svg", { class: name, viewBox: "0 0 8 8", "aria-hidden": "true" }));
}

function coordinate(kind, text) {
  const span = document.createElement("span");
  span.className = `coordinate ${kind}`;
  span.setAttribute("aria-hidden", "true");
  span.textContent = text;
  return span;
}
