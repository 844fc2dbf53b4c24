// Writes the game as PGN. Evaluations and clock times are written in the comments.

import { moveNumber } from "./tree.js";

const RESULTS = ["1-0", "0-1", "1/2-1/2"]; // any other value of the PGN tag Result is written as "*"
const WIDTH = 80; // maximum number of characters in a line, unless a single word is longer

/**
 * Write a game as PGN.
 *
 * @param {Object<string, string>} headers the PGN tags: name -> value
 * @param {object} root the root of the move tree
 * @returns {string}
 */
export function writePgn(headers, root) {
  const words = [];
  words.push(...root.nags.map((nag) => `$${nag}`));
  if (root.comment) words.push(comment(root.comment));
  addLine(words, root.children[0], root.children.slice(1));
  words.push(RESULTS.includes(headers.Result) ? headers.Result : "*");
  const tags = Object.entries(headers).map(([name, value]) => `[${name} "${value.replace(/["\\]/g, "\\$&")}"]\n`);
  return `${tags.join("")}\n${wrap(words)}\n`;
}

/** Write a node's move and all moves after it as text, including the variations. */
export function writeVariation(node) {
  const words = [];
  addLine(words, node, []);
  return wrap(words);
}

/** Append the words of the line that starts with `first`. Each of `others` starts a variation, an alternative to `first`. */
function addLine(words, first, others) {
  let numbered = true; // whether the next move needs its move number
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
