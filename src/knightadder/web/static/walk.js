// Walks through the moves, with keys, buttons and the mouse wheel. Where the moves fork, ↑ and ↓ choose the continuation.

const NOTCH = 40; // number of pixels that the wheel must scroll for each move
const LINE = 40; // pixels per line, for browsers that report scrolling in lines

export class Walk {
  /**
   * @param {import("./tree.js").Tree} tree
   * @param {{goTo: (node: number) => void, onChoose: () => void, allowed: () => boolean}} actions `onChoose` is called when a
   *   different continuation is chosen; `allowed` returns whether the user may walk at the moment
   */
  constructor(tree, actions) {
    Object.assign(this, { tree, actions });
    this.node = tree.root.id; // the node that is shown or requested
    this.heading = null; // the requested node, until it is shown
    this.chosen = 0; // the index of the child that the key → goes to
  }

  /** Handle the server's message that this node is now on the board. */
  arrive(node) {
    if (this.heading === node) this.heading = null;
    if (this.heading === null) this.set(node);
  }

  /** Stay at the node on the board after the server has refused a step. */
  stay(node) {
    this.heading = null;
    this.set(node);
  }

  set(node) {
    if (node !== this.node) this.chosen = 0;
    this.node = node;
  }

  goTo(node) {
    if (node === undefined || node === this.node || !this.actions.allowed()) return;
    this.set(node);
    this.heading = node;
    this.actions.goTo(node);
  }

  get way() {
    return this.children[this.chosen] ?? this.children[0]; // the chosen child may have been deleted
  }

  get children() {
    return this.tree.get(this.node)?.children ?? [];
  }

  /** The node that the key → goes to if the moves fork here; otherwise undefined. */
  get ahead() {
    return this.children.length > 1 ? this.way?.id : undefined;
  }

  first() {
    this.goTo(this.tree.root.id);
  }

  previous() {
    this.goTo(this.tree.get(this.node)?.parent ?? undefined);
  }

  next() {
    this.goTo(this.way?.id);
  }

  last() {
    this.goTo(this.tree.line(this.node).at(-1)?.id);
  }

  /** Choose the previous continuation if the moves fork here; otherwise go to the first position. */
  up() {
    if (this.children.length > 1) this.choose(this.chosen - 1);
    else this.first();
  }

  /** Choose the next continuation if the moves fork here; otherwise go to the last position. */
  down() {
    if (this.children.length > 1) this.choose(this.chosen + 1);
    else this.last();
  }

  choose(index) {
    this.chosen = Math.min(Math.max(index, 0), this.children.length - 1);
    this.actions.onChoose();
  }

  /** Walk through the moves when the wheel turns over an element. */
  listen(element) {
    let turned = 0;
    const turn = (event) => {
      if (event.ctrlKey || !event.deltaY || !this.actions.allowed()) return; // with Ctrl, the wheel zooms the page
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode ? LINE : 1);
      turned = pixels * turned > 0 ? turned + pixels : pixels;
      if (Math.abs(turned) < NOTCH) return;
      if (turned > 0) this.next();
      else this.previous();
      turned = 0;
    };
    element.addEventListener("wheel", turn, { passive: false });
  }
}
