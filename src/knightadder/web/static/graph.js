// The graph of White's winning chances along the line on the board. Clicking or dragging on the graph goes to the
// position at that point of the line.

import { element, svgElement } from "./elements.js";
import { judgement } from "./glyphs.js";

const MIDDLE = 0.5; // White's winning chances in a level position

export class Graph {
  /**
   * @param {HTMLElement} element
   * @param {(node: number) => void} onSeek gets the number of the node under the pointer
   */
  constructor(element, onSeek) {
    this.element = element;
    this.onSeek = onSeek;
    this.line = [];
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.seek(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) this.seek(event);
    });
  }

  /** Draw White's chances at each node of a line, and mark the current node. */
  render(line, current) {
    this.line = line;
    this.current = current;
    const end = Math.max(line.length - 1, 1);
    const svg = svgElement("svg", { viewBox: `0 0 ${end} 1`, preserveAspectRatio: "none" });
    const stretches = runs(line);
    for (const run of stretches) {
      svg.append(svgElement("path", { class: "white", d: area(run, Math.max) }), svgElement("path", { class: "black", d: area(run, Math.min) }));
    }
    svg.append(svgElement("line", { class: "middle", x1: 0, x2: end, y1: 0.5, y2: 0.5 }));
    for (const run of stretches) svg.append(svgElement("path", { class: "curve", d: curve(run) }));
    const here = line.findIndex((node) => node.id === current);
    if (here >= 0) svg.append(svgElement("line", { class: "here", x1: here, x2: here, y1: 0, y2: 1 }));
    this.element.replaceChildren(svg, ...line.flatMap((node, ply) => mark(node, ply / end)));
    this.element.setAttribute("aria-valuemax", String(line.length - 1));
    this.element.setAttribute("aria-valuenow", String(Math.max(here, 0)));
    const node = line[here];
    this.element.setAttribute("aria-valuetext", `${node?.san || "start"}${node?.score ? `, ${node.score.text}` : ""}`);
  }

  seek(event) {
    const box = this.element.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    const node = this.line[Math.round(share * (this.line.length - 1))];
    if (node && node.id !== this.current) {
      this.current = node.id;
      this.onSeek(node.id);
    }
  }
}

/**
 * An array with the dot of a marked move. The array is empty if the move has no mark or no score. `share` is the dot's
 * horizontal position, from 0 to 1.
 */
function mark(node, share) {
  const kind = judgement(node.nags);
  if (!kind || !node.score) return [];
  const dot = element("i", kind);
  dot.style.left = `${100 * share}%`;
  dot.style.top = `${100 * (1 - node.score.chances)}%`;
  return [dot];
}

/** The stretches of the line in which all nodes have a score. A stretch is a list of pairs [ply, White's chances]. */
function runs(line) {
  const found = [];
  line.forEach((node, x) => {
    if (!node.score) return;
    if (found.at(-1)?.at(-1)[0] !== x - 1) found.push([]);
    found.at(-1).push([x, node.score.chances]);
  });
  return found;
}

/**
 * The SVG path of the area between the curve and the middle line.
 *
 * @param {number[][]} run
 * @param {Function} side Math.max for the area above the middle line, Math.min for the area below it
 */
function area(run, side) {
  const points = [];
  run.forEach(([x, chances], index) => {
    const [before, last] = run[index - 1] ?? [];
    const crosses = (last - MIDDLE) * (chances - MIDDLE) < 0;
    if (crosses) points.push([before + (MIDDLE - last) / (chances - last), MIDDLE]);
    points.push([x, side(chances, MIDDLE)]);
  });
  return `M${run[0][0]} ${MIDDLE} ${points.map(([x, chances]) => `L${x} ${1 - chances}`).join(" ")} L${run.at(-1)[0]} ${MIDDLE} Z`;
}

/** The SVG path of the curve for a stretch. If the stretch has only one position, the curve is a point. */
function curve(run) {
  const [[x, chances], ...others] = run;
  return `M${x} ${1 - chances} ${(others.length ? others : [[x, chances]]).map((point) => `L${point[0]} ${1 - point[1]}`).join(" ")}`;
}
