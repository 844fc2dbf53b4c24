// Arrows on the board: the first moves of the lines of analysis, the best one the strongest.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 0.16; // of a square
const HEAD = 0.42;

/**
 * Draw arrows anew.
 *
 * @param {SVGElement} svg with a view box of 8 by 8 squares
 * @param {string[][]} arrows pairs of squares, the most important first
 * @param {(square: string) => number[]} place gives column and row of a square
 */
export function drawArrows(svg, arrows, place) {
  svg.replaceChildren();
  arrows.forEach(([from, to], rank) => {
    const [x1, y1] = place(from).map((value) => value + 0.5);
    const [x2, y2] = place(to).map((value) => value + 0.5);
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (!length) return;
    const scale = rank === 0 ? 1 : 0.7;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - dx * HEAD * scale, y2 - dy * HEAD * scale];
    const half = (HEAD * scale) / 2;
    const group = element("g", { opacity: rank === 0 ? 0.85 : 0.5 / Math.sqrt(rank), "data-arrow": from + to });
    group.append(
      element("line", { x1, y1, x2: bx, y2: by, "stroke-width": WIDTH * scale }),
      element("polygon", { points: `${x2},${y2} ${bx - dy * half},${by + dx * half} ${bx + dy * half},${by - dx * half}` }),
    );
    svg.prepend(group); // the best one is drawn last, over the others
  });
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
