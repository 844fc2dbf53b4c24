// The choice of a piece for a pawn that reaches the last rank, as a column of buttons over its square.

import { NAMES } from "./board.js";

/**
 * Ask which piece a pawn becomes.
 *
 * @param {import("./board.js").Board} board
 * @param {string} square where the pawn goes
 * @param {string} color "w" or "b"
 * @returns {Promise<string|null>} the piece's letter in UCI's notation, or null if the move is given up
 */
export function askPromotion(board, square, color) {
  return new Promise((resolve) => {
    const shade = document.createElement("div");
    shade.className = "promotion";
    shade.setAttribute("role", "dialog");
    shade.setAttribute("aria-label", "Promote to");
    const finish = (letter) => {
      board.cancelPromotion = null;
      shade.remove();
      resolve(letter);
    };
    board.cancelPromotion = () => finish(null);
    const [column, row] = board.place(square);
    [..."QNRB"].forEach((piece, index) => {
      const button = document.createElement("button");
      button.className = color + piece;
      button.setAttribute("aria-label", NAMES[piece]);
      button.style.left = `${column * 12.5}%`;
      button.style.top = `${(row === 0 ? index : row - index) * 12.5}%`;
      button.addEventListener("click", () => finish(piece.toLowerCase()));
      shade.append(button);
    });
    shade.addEventListener("click", (event) => event.target === shade && finish(null));
    shade.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") finish(null);
    });
    board.element.append(shade);
    shade.firstChild.focus();
  });
}
