// The verdict on the move that led to the position shown: the move's mark, the best move, and the difference between the
// two moves.

import { say } from "./elements.js";

/**
 * Show the verdict in an element.
 *
 * @param {HTMLElement} element
 * @param {?object} node a node of the tree; null hides the element
 */
export function showVerdict(element, node) {
  const text = node ? verdictOf(node) : "";
  say(element, text);
  element.hidden = !text;
}

/** The verdict on a node's move as text; "" if there is no verdict. */
export function verdictOf({ san, verdict, missed }) {
  const chance = missed ? "a missed chance" : "";
  if (!verdict) return chance && `${san}: ${chance}.`;
  const { word, good, why, best, best_score: bestScore, score, loss } = verdict;
  const kind = `${san}: ${[good ? `${word} move` : word, chance].filter(Boolean).join(", ")}.`;
  if (good) return `${kind} The best other move has ${score}, not ${bestScore} (−${loss} % to win).`;
  return `${kind}${why && ` ${why}`} Best was ${best}: ${bestScore}, not ${score} (−${loss} % to win).`;
}
