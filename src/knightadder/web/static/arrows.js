// Draws arrows and circles on the board: an arrow for the first move of each of the engine's lines, and the shapes that
// the user has drawn. The arrow of the best line is the most opaque.

import { svgElement } from "./elements.js";

const WIDTH = 0.16; // width of an arrow, in squares
const HEAD = 0.42; // length and width of an arrow's head, in squares
const RING = 0.06; // line width of a circle, in squares
const COLOURS = { G: "green", R: "red", B: "blue", Y: "yellow" };

/**
 * Draw arrows, and remove the arrows drawn before.
 *
 * @param {SVGElement} svg a layer whose view box measures 8 by 8 squares
 * @param {string[][]} arrows pairs of squares; the most important arrow comes first
 * @param {string[][]} others the second engine's arrows, drawn wider and below the first engine's, so that both are visible
 * @param {(square: string) => number[]} place returns the column and row of a square
 */
export function drawArrows(svg, arrows, others, place) {
  svg.replaceChildren();
  for (const [list, name, width] of [[arrows, "", 1], [others, "other", 1.3]]) {
    list.forEach(([from, to], rank) => {
      if (from === to) return;
      const group = svgElement("g", { class: name, opacity: rank === 0 ? 0.9 : 0.7 / Math.sqrt(rank), "data-arrow": from + to });
      group.append(...arrow(place(from), place(to), (rank === 0 ? 1 : 0.7) * width));
      svg.prepend(group); // the most important arrow is drawn last, on top
    });
  }
}

/**
 * Draw shapes, and remove the shapes drawn before.
 *
 * @param {SVGElement} svg a layer whose view box measures 8 by 8 squares
 * @param {string[]} shapes in the notation of PGN comments: "Gd2d4" is a green arrow, "Rd4" a red circle
 * @param {(square: string) => number[]} place returns the column and row of a square
 */
export function drawShapes(svg, shapes, place) {
  svg.replaceChildren(
    ...shapes.map((shape) => {
      const [from, to] = [shape.slice(1, 3), shape.slice(3)];
      const group = svgElement("g", { class: `shape ${shape[0]}`, "data-shape": shape });
      group.append(...(to && to !== from ? arrow(place(from), place(to), 1) : [circle(place(from))]));
      return group;
    }),
  );
}

/** The name of a shape for screen readers, such as "green arrow to d4". It leaves out the shape's first square. */
export function shapeName(shape) {
  const [colour, to] = [COLOURS[shape[0]], shape.slice(3)];
  return to ? `${colour} arrow to ${to}` : `${colour} circle`;
}

function arrow(from, to, scale) {
  const [x1, y1, x2, y2] = [...from, ...to].map((value) => value + 0.5);
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - dx * HEAD * scale, y2 - dy * HEAD * scale];
  const half = (HEAD * scale) / 2;
  return [
    svgElement("line", { x1, y1, x2: bx, y2: by, "stroke-width": WIDTH * scale }),
    svgElement("polygon", { points: `${x2},${y2} ${bx - dy * half},${by + dx * half} ${bx + dy * half},${by - dx * half}` }),
  ];
}

function circle([column, row]) {
  return svgElement("circle", { cx: column + 0.5, cy: row + 0.5, r: 0.5 - RING / 2, "stroke-width": RING });
}
