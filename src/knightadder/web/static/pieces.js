// The names of the pieces.

export const NAMES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn" };

/** The name of a piece: "wN" is a "white knight". */
export function pieceName(code) {
  return `${code[0] === "w" ? "white" : "black"} ${NAMES[code[1]]}`;
}
