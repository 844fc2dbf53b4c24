// The list of moves. The main line has two columns; variations and comments are shown between its rows.

import { clockText, seconds } from "./clocks.js";
import { element } from "./elements.js";
import { glyphs, judgement } from "./glyphs.js";
import { moveNumber } from "./tree.js";
import { verdictOf } from "./verdict.js";

export class MoveList {
  /**
   * @param {HTMLElement} element
   * @param {{onChoose: (node: number) => void, keep: (collapsed: Iterable<number>) => void}} actions `onChoose` gets the
   *   node whose move is clicked; `keep` stores which variations are collapsed
   */
  constructor(element, { onChoose, keep }) {
    Object.assign(this, { element, keep });
    this.collapsed = new Set(); // the first node of each collapsed variation, whose other moves are hidden
    element.addEventListener("click", (event) => {
      const more = event.target.closest("[data-more]");
      if (more) this.collapse(Number(more.dataset.more));
      const button = event.target.closest("[data-node]");
      if (button) onChoose(Number(button.dataset.node));
    });
  }

  /** Redraw the buttons of changed nodes; comments are not redrawn. */
  refresh(nodes) {
    for (const { id } of nodes) {
      const old = this.element.querySelector(`[data-node="${id}"]`);
      if (!old) continue;
      const made = moveButton(this.tree.get(id), this.scored);
      if (old.hasAttribute("aria-current")) made.setAttribute("aria-current", "true");
      made.classList.toggle("ahead", old.classList.contains("ahead"));
      made.tabIndex = old.tabIndex;
      if (old.isEqualNode(made)) continue;
      const focused = old === document.activeElement;
      old.replaceWith(made);
      if (focused) made.focus();
    }
  }

  /** Collapse a variation to its first move, or expand it. */
  collapse(first) {
    if (!this.collapsed.delete(first)) this.collapsed.add(first);
    this.keep(this.collapsed);
    this.render(this.tree, this.scored);
    this.mark(this.marked, this.ahead);
  }

  /** Draw the moves. `scored` says whether to show the engine's evaluations; they are hidden during a game. */
  render(tree, scored) {
    Object.assign(this, { tree, scored });
    this.focused = this.element.contains(document.activeElement); // whether `mark` must give a move the focus again
    const rows = [];
    let previous = tree.root;
    const opening = words(tree.root);
    if (opening) rows.push(aside([comment(opening)]));
    while (previous.children.length) {
      const [node, ...others] = previous.children;
      const white = node.ply % 2 === 1;
      if (white || previous === tree.root) rows.push(element("span", "number", `${Math.ceil(node.ply / 2)}`));
      if (!white && previous === tree.root) rows.push(element("span", "gap", "…"));
      rows.push(moveButton(node, scored));
      const between = [];
      if (words(node)) between.push(comment(words(node)));
      for (const other of others) between.push(variation(other, scored, this.collapsed));
      if (between.length) {
        const goesOn = white && node.children.length;
        if (white) rows.push(element("span", "gap", goesOn ? "…" : ""));
        rows.push(aside(between));
        if (goesOn) rows.push(element("span", "number", `${Math.ceil(node.ply / 2)}`), element("span", "gap", "…"));
      }
      previous = node;
    }
    if (!rows.length) rows.push(element("p", "empty", "No moves yet"));
    this.element.replaceChildren(...rows);
  }

  /**
   * Mark the move that led to the position shown, and scroll the list to this move. Where the moves fork, mark the chosen
   * continuation too. The Tab key goes only to the marked move; the arrow keys go to the other moves.
   */
  mark(id, ahead) {
    Object.assign(this, { marked: id, ahead });
    this.element.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.element.querySelector(".ahead")?.classList.remove("ahead");
    this.element.querySelector(`[data-node="${ahead}"]`)?.classList.add("ahead");
    const button = this.element.querySelector(`[data-node="${id}"]`);
    this.focusable(button ?? this.element.querySelector("[data-node]"));
    if (!button) {
      this.element.scrollTop = 0;
      return;
    }
    button.setAttribute("aria-current", "true");
    // Only the list is scrolled. scrollIntoView would also scroll the page, and on a phone move the board out of view.
    const [top, box] = [button.offsetTop, this.element];
    if (top < box.scrollTop || top + button.offsetHeight > box.scrollTop + box.clientHeight) {
      // Start the visible part at the top of a row, unless a long variation fills the list.
      const wanted = top - box.clientHeight / 2;
      const row = [...box.children].find(({ offsetTop }) => offsetTop >= wanted && offsetTop <= top);
      box.scrollTop = row?.offsetTop ?? wanted;
    }
  }

  /** Make a move's button the only one that Tab goes to. If the list has the focus, focus this button. */
  focusable(button) {
    const { activeElement } = document;
    const focused = this.focused || (this.element.contains(activeElement) && "node" in activeElement.dataset);
    this.focused = false;
    this.element.querySelector("[data-node][tabindex='0']")?.setAttribute("tabindex", "-1");
    if (button) button.tabIndex = 0;
    if (focused) button?.focus({ preventScroll: true });
  }
}

/** An element with a variation and its subvariations as running text. */
function variation(first, scored, collapsed) {
  const box = element("div", "variation");
  let numbered = true; // whether the next move needs its move number
  let others = [];
  if (plain(first.before)) box.append(comment(plain(first.before)));
  if (collapsed.has(first.id)) {
    const more = element("button", "more", "…");
    more.dataset.more = first.id;
    more.setAttribute("aria-label", "Show the whole variation");
    box.append(...moveWithNumber(first, true, scored), more);
    return box;
  }
  for (let node = first; node; node = node.children[0]) {
    box.append(...moveWithNumber(node, numbered, scored));
    numbered = Boolean(words(node)) || others.length > 0;
    if (words(node)) box.append(comment(words(node)));
    box.append(...others.map((other) => variation(other, scored, collapsed)));
    others = node.children.slice(1); // alternatives to the next move; they are shown after that move
  }
  return box;
}

function moveWithNumber(node, numbered, scored) {
  const parts = [];
  if (numbered || node.ply % 2) parts.push(element("span", "number", moveNumber(node.ply)));
  parts.push(moveButton(node, scored));
  return parts;
}

function moveButton(node, scored) {
  const signs = glyphs(node.nags);
  const button = element("button", "move", node.san + signs.text);
  button.tabIndex = -1;
  button.classList.add(...[judgement(node.nags), node.missed && "missed"].filter(Boolean));
  if (scored && node.score) button.dataset.score = node.score.text;
  button.dataset.node = node.id;
  const [time, clock] = [seconds(node, "emt"), seconds(node, "clk")];
  if (time !== null) button.dataset.time = timeText(time);
  button.title = [
    (scored && verdictOf(node)) || signs.meaning,
    scored && node.score?.text,
    time !== null && `took ${timeText(time)}`,
    clock !== null && `clock ${clockText(clock)}`,
  ].filter(Boolean).join(", ");
  return button;
}

function timeText(time) {
  if (time < 9.95) return `${time.toFixed(1)} s`;
  return time < 59.5 ? `${time.toFixed(0)} s` : clockText(Math.round(time));
}

function aside(children) {
  const box = element("div", "aside");
  box.append(...children);
  return box;
}

function comment(content) {
  return element("span", "comment", content);
}

/** The comment on a move, without commands for programs, such as [%eval 0.31]. */
function words(node) {
  return plain(node.comment);
}

export function plain(comment) {
  return comment.replace(/\[%[^\]]*\]/g, "").replace(/\s+/g, " ").trim();
}
