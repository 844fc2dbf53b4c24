// The board editor. In it, the user places pieces, and sets the side to move and the castling rights.

import { restoreValue, say } from "./elements.js";
import { pieceName } from "./pieces.js";

const HAND = "hand";
const BIN = "bin";
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ICONS = {
  hand: ["Move pieces", "M12 3v18M3 12h18M12 3 9.5 5.500M12 3l2.5 2.500M12 21l-2.5-2.500M12 21l2.5-2.500M3 12l2.5-2.500M3 12l2.5 2.500M21 12l-2.5-2.500M21 12l-2.5 2.5"],
  bin: ["Remove pieces", "M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5"],
};

export class Editor {
  /**
   * @param {HTMLElement} element
   * @param {import("./board.js").Board} board
   * @param {{onUse: (fen: string) => void, onCheck: (fen: string) => void, onClose: () => void, keep: (fen: string) => void}}
   *   actions `keep` stores the position in the browser
   */
  constructor(element, board, actions) {
    this.element = element;
    this.board = board;
    this.actions = actions;
    this.tool = HAND;
    this.turn = element.querySelector("#editor-turn");
    this.rights = [...element.querySelectorAll(".castling input")];
    this.problem = element.querySelector("#editor-problem");
    this.use = element.querySelector("#editor-use");
    this.buildPalette();
    element.addEventListener("change", () => this.changed());
    this.use.addEventListener("click", () => actions.onUse(this.fen()));
    element.querySelector("#editor-start").addEventListener("click", () => this.load(START));
    element.querySelector("#editor-clear").addEventListener("click", () => this.load("8/8/8/8/8/8/8/8 w - - 0 1"));
    element.querySelector("#editor-cancel").addEventListener("click", () => actions.onClose());
  }

  buildPalette() {
    const palette = this.element.querySelector("#palette");
    const codes = [HAND, ..."KQRBNP"].map((letter) => (letter === HAND ? HAND : `w${letter}`));
    codes.push(BIN, ...[..."KQRBNP"].map((letter) => `b${letter}`));
    for (const code of codes) {
      const label = palette.appendChild(document.createElement("label"));
      const input = label.appendChild(document.createElement("input"));
      input.type = "radio";
      input.name = "tool";
      input.value = code;
      input.checked = code === HAND;
      const icon = ICONS[code];
      input.setAttribute("aria-label", icon ? icon[0] : pieceName(code));
      label.title = icon ? icon[0] : pieceName(code);
      if (icon) label.insertAdjacentHTML("beforeend", `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${icon[1]}"/></svg>`);
      else label.classList.add(code);
      input.addEventListener("change", () => (this.tool = code));
    }
  }

  open(fen) {
    this.element.hidden = false;
    this.board.editing = {
      onSquare: (square) => this.put(square),
      onDrag: (from, to) => this.drag(from, to),
    };
    this.board.setArrows([]);
    this.board.setShapes([]);
    this.load(fen);
  }

  close() {
    this.element.hidden = true;
    this.board.editing = null;
  }

  get isOpen() {
    return !this.element.hidden;
  }

  load(fen) {
    const [placement, turn, rights = "-"] = fen.split(" ");
    this.pieces = {};
    placement.split("/").forEach((row, index) => {
      let file = 0;
      for (const letter of row) {
        if (letter >= "1" && letter <= "8") file += Number(letter);
        else this.pieces["abcdefgh"[file++] + (8 - index)] = (letter < "a" ? "w" : "b") + letter.toUpperCase();
      }
    });
    restoreValue(this.turn, turn);
    for (const box of this.rights) box.checked = rights.includes(box.value);
    this.changed();
  }

  put(square) {
    if (this.tool === HAND) return;
    if (this.tool === BIN || this.pieces[square] === this.tool) delete this.pieces[square];
    else this.pieces[square] = this.tool;
    this.changed();
  }

  drag(from, to) {
    if (to) this.pieces[to] = this.pieces[from];
    delete this.pieces[from];
    this.changed();
  }

  changed() {
    this.board.set({ pieces: this.pieces, turn: this.turn.value === "w" ? "white" : "black" });
    this.use.disabled = true; // until the server has checked the position
    this.actions.onCheck(this.fen());
    this.actions.keep(this.fen());
  }

  /** Handle the server's check of a position: `problem` says why the position cannot be used; null if it can be used. */
  checked({ fen, problem }) {
    if (!this.isOpen || fen !== this.fen()) return;
    say(this.problem, problem ?? "");
    this.use.disabled = problem !== null;
  }

  fen() {
    const rows = [];
    for (let rank = 8; rank >= 1; rank--) {
      const row = [..."abcdefgh"].map((file) => letterOf(this.pieces[file + rank])).join("");
      rows.push(row.replace(/1+/g, (ones) => String(ones.length)));
    }
    const rights = this.rights.filter((box) => box.checked).map((box) => box.value).join("") || "-";
    return `${rows.join("/")} ${this.turn.value} ${rights} - 0 1`;
  }
}

function letterOf(code) {
  if (!code) return "1";
  return code[0] === "w" ? code[1] : code[1].toLowerCase();
}
