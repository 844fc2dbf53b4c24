// The captured pieces beside each player's name, and how much more material he has, in pawns.

import { NAMES } from "./pieces.js";

const VALUES = { Q: 9, R: 5, B: 3, N: 3, P: 1 };

/**
 * What each side has captured and is ahead by, as far as the pieces on the board tell.
 *
 * @param {string} fen of the position that the game began with
 * @param {Object<string, string>} pieces by square, such as "wK"
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
      missing.P += missing[piece]; // promoted pawns are not captured ones
      missing[piece] = 0;
    }
  }
  const of = (own, other) => ({
    captured: Object.entries(sides[other]).flatMap(([piece, count]) => Array(Math.max(count, 0)).fill(other + piece)),
    ahead: balance[own] - balance[other],
  });
  return { white: of("w", "b"), black: of("b", "w") };
}

/** Draw what a side has captured. */
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
