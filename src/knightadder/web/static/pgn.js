// The game as PGN, with its variations, comments, and the evaluations and clocks that are in the comments.

import { moveNumber } from "./tree.js";

const RESULTS = ["1-0", "0-1", "1/2-1/2"]; // no other word ends a game
const WIDTH = 80; // letters of a line, which only a comment may exceed

/**
 * @param {Object<string, string>} headers the tags
 * @param {object} root the root of the tree of moves
 * @returns {string}
 */
export function writePgn(headers, root) {
  const words = [];
  words.push(...root.nags.map((nag) => `$${nag}`));
  if (root.comment) words.push(comment(root.comment));
  addLine(words, root.children[0], root.children.slice(1));
  words.push(RESULTS.includes(headers.Result) ? headers.Result : "*");
  const tags = Object.entries(headers).map(([name, value]) => `[${name} "${value}"]\n`);
  return `${tags.join("")}\n${wrap(words)}\n`;
}

/** Write a variation from a node on, with its own variations, as text. */
export function writeVariation(node) {
  const words = [];
  addLine(words, node, []);
  return wrap(words);
}

/** Add the words of the line that begins with a move, and of the variations that `others` begin. */
function addLine(words, first, others) {
  let numbered = true; // whether the next move needs its number
  for (let node = first; node; [node, ...others] = node.children) {
    if (node.before) words.push(comment(node.before));
    if (numbered || node.before || node.ply % 2) words.push(moveNumber(node.ply).replace("…", "..."));
    words.push(node.san, ...node.nags.map((nag) => `$${nag}`));
    if (node.comment) words.push(comment(node.comment));
    for (const other of others) {
      words.push("(");
      addLine(words, other, []);
      words.push(")");
    }
    numbered = Boolean(node.comment) || others.length > 0;
  }
}

function comment(text) {
  return `{ ${text.replaceAll("}", "").trim()} }`;
}

function wrap(words) {
  const lines = [];
  let line = "";
  for (const word of words) {
    if (line && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line += line ? ` ${word}` : word;
  }
  return [...lines, line].join("\n");
}
