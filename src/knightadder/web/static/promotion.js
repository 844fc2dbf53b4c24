// Asks for the piece that a pawn becomes on the last rank. The pieces are a column of buttons that begins at the pawn's
// square. The user chooses with the pointer, with the arrow keys and Enter, or by typing the piece's letter.

import { NAMES } from "./pieces.js";

const PIECES = "QNRB"; // in the order of the buttons; the first button covers the pawn's square

/**
 * Ask which piece a pawn becomes.
 *
 * @param {import("./board.js").Board} board
 * @param {string} square the square that the pawn reaches
 * @param {string} color "w" or "b"
 * @returns {Promise<string|null>} the piece's letter in UCI notation, or null if the user cancels the move
 */
export function askPromotion(board, square, color) {
  return new Promise((resolve) => {
    const shade = document.createElement("div");
    shade.className = "promotion";
    shade.setAttribute("role", "dialog");
    shade.setAttribute("aria-label", "Promote to");
    const keyboard = board.element.contains(document.activeElement); // whether to give the focus back to the board
    const finish = (letter) => {
      board.cancelPromotion = null;
      shade.remove();
      if (keyboard) board.focus(square);
      resolve(letter);
    };
    board.cancelPromotion = () => finish(null);
    const [column, row] = board.place(square);
    const downwards = row === 0; // whether the pawn is at the top of the board, so that the buttons extend downwards
    [...PIECES].forEach((piece, index) => {
      const button = document.createElement("button");
      button.className = color + piece;
      button.setAttribute("aria-label", NAMES[piece]);
      button.style.left = `${column * 12.5}%`;
      button.style.top = `${(downwards ? index : row - index) * 12.5}%`;
      button.addEventListener("click", () => finish(piece.toLowerCase()));
      shade.append(button);
    });
    shade.addEventListener("click", (event) => event.target === shade && finish(null));
    const buttons = [...shade.children];
    shade.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
      const named = buttons[PIECES.indexOf(event.key.toUpperCase())];
      event.stopPropagation();
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") finish(null);
      else if (named) named.click();
      else if (step) buttons.at((buttons.indexOf(document.activeElement) + step * (downwards ? 1 : -1)) % 4).focus();
      else return;
      event.preventDefault();
    });
    board.element.append(shade);
    buttons[0].focus();
  });
}
