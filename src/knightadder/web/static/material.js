// Computes and draws the pieces that each side has captured, and each side's material lead in pawns.

import { NAMES } from "./pieces.js";

const VALUES = { Q: 9, R: 5, B: 3, N: 3, P: 1 };

/**
 * The pieces that each side has captured, and each side's material lead in pawns, derived from the pieces on the board.
 *
 * @param {string} fen the game's start position
 * @param {Object<string, string>} pieces square -> piece, such as "wK"
 * @returns {{white: {captured: string[], ahead: number}, black: {captured: string[], ahead: number}}}
 */
export function materialOf(fen, pieces) {
  const sides = { w: {}, b: {} };
  const balance = { w: 0, b: 0 };
  for (const [color, missing] of Object.entries(sides)) {
    for (const piece of Object.keys(VALUES)) {
      const letter = color === "w" ? piece : piece.toLowerCase();
      const now = Object.values(pieces).filter((code) => code === color + piece).length;
      missing[piece] = fen.split(" ")[0].split(letter).length - 1 - now;
      balance[color] += VALUES[piece] * now;
    }
    for (const piece of "QRBN") {
      if (missing[piece] >= 0) continue;
      missing.P += missing[piece]; // an extra piece is a promoted pawn, so this pawn was not captured
      missing[piece] = 0;
    }
  }
  const of = (own, other) => ({
    captured: Object.entries(sides[other]).flatMap(([piece, count]) => Array(Math.max(count, 0)).fill(other + piece)),
    ahead: balance[own] - balance[other],
  });
  return { white: of("w", "b"), black: of("b", "w") };
}

/** Draw the pieces that a side has captured, and the side's material lead. */
export function drawMaterial(element, { captured, ahead }) {
  const text = ahead > 0 ? `+${ahead}` : "";
  const pieces = captured.map((code, index) => {
    const piece = document.createElement("i");
    piece.className = code === captured[index - 1] ? `${code} again` : code;
    return piece;
  });
  element.replaceChildren(...pieces, text);
  const names = captured.map((code) => NAMES[code[1]]).join(", ");
  element.setAttribute("aria-label", `captured: ${names || "nothing"}${text && `; ahead by ${ahead}`}`);
}
