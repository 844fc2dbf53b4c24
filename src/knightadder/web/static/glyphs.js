// The signs of PGN's numeric annotation glyphs ($1 to $255), as Lichess and most programs show them.

const SIGNS = {
  1: ["!", "good move"],
  2: ["?", "mistake"],
  3: ["!!", "brilliant move"],
  4: ["??", "blunder"],
  5: ["!?", "interesting move"],
  6: ["?!", "inaccuracy"],
  7: ["□", "only move"],
  8: ["□", "only move"],
  10: ["=", "equal"],
  11: ["=", "equal"],
  12: ["=", "equal"],
  13: ["∞", "unclear"],
  14: ["+=", "White is slightly better"],
  15: ["=+", "Black is slightly better"],
  16: ["±", "White is better"],
  17: ["∓", "Black is better"],
  18: ["+−", "White is winning"],
  19: ["−+", "Black is winning"],
  20: ["+−", "White is winning"],
  21: ["−+", "Black is winning"],
  22: ["⨀", "zugzwang"],
  23: ["⨀", "zugzwang"],
  32: ["⟳", "development"],
  33: ["⟳", "development"],
  36: ["↑", "initiative"],
  37: ["↑", "initiative"],
  40: ["→", "attack"],
  41: ["→", "attack"],
  44: ["=∞", "with compensation"],
  45: ["=∞", "with compensation"],
  132: ["⇆", "counterplay"],
  133: ["⇆", "counterplay"],
  136: ["⊕", "time trouble"],
  137: ["⊕", "time trouble"],
  138: ["⊕", "time trouble"],
  139: ["⊕", "time trouble"],
  140: ["∆", "with the idea"],
  146: ["N", "novelty"],
};
const LAST_OF_MOVES = 9; // glyphs up to this number judge the move; higher numbers judge the position

/**
 * The signs and the meanings of a move's glyphs. A glyph without a sign is shown as its number.
 *
 * @param {number[]} nags in ascending order
 * @returns {{text: string, meaning: string}}
 */
export function glyphs(nags) {
  const signs = nags.map((nag) => SIGNS[nag] ?? [`$${nag}`, `$${nag}`]);
  // A narrow space before each sign about the position keeps the "+" of a check apart from "+−".
  const text = signs.map(([sign], index) => (nags[index] > LAST_OF_MOVES ? `\u202f${sign}` : sign)).join("");
  return { text, meaning: signs.map(([, meaning]) => meaning).join(", ") };
}

/** The judgement that a move's glyphs express: "brilliant", "great", "inaccuracy", "mistake", "blunder" or "". */
export function judgement(nags) {
  return { 3: "brilliant", 1: "great", 6: "inaccuracy", 2: "mistake", 4: "blunder" }[[3, 1, 6, 2, 4].find((nag) => nags.includes(nag))] ?? "";
}
