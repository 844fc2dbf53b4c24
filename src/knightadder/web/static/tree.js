// The move tree: a copy of the server's tree. Each change that the server reports is made here too. Other modules draw the
// moves.

export class Tree {
  constructor() {
    this.set([{ id: 0, parent: null, san: "", ply: 0, nags: [], before: "", comment: "", score: null, shapes: [] }]);
  }

  /** Replace all nodes. In `nodes`, each node comes after its parent, and siblings are in order. */
  set(nodes) {
    this.nodes = new Map();
    this.update(nodes);
    this.root = this.nodes.values().next().value;
  }

  /** Update known nodes, and add each new node as the last child of its parent. Return whether any node was new. */
  update(nodes) {
    const before = this.nodes.size;
    for (const told of nodes) {
      const known = this.nodes.get(told.id);
      if (known) {
        Object.assign(known, told);
        continue;
      }
      const node = { ...told, children: [] };
      this.nodes.set(node.id, node);
      this.nodes.get(node.parent)?.children.push(node);
    }
    return this.nodes.size > before;
  }

  /** Remove a node and all its descendants. */
  delete(id) {
    const node = this.nodes.get(id);
    const siblings = this.nodes.get(node.parent).children;
    siblings.splice(siblings.indexOf(node), 1);
    const doomed = [node];
    while (doomed.length) {
      const gone = doomed.pop();
      this.nodes.delete(gone.id);
      for (const child of gone.children) doomed.push(child);
    }
  }

  /** Make the line that leads to a node the main line, from the root on. */
  promote(id) {
    for (let node = this.nodes.get(id); node?.parent != null; node = this.nodes.get(node.parent)) {
      const siblings = this.nodes.get(node.parent).children;
      siblings.splice(siblings.indexOf(node), 1);
      siblings.unshift(node);
    }
  }

  /** Move a node to a different index among its siblings. */
  reorder(id, place) {
    const node = this.nodes.get(id);
    const siblings = this.nodes.get(node.parent).children;
    siblings.splice(siblings.indexOf(node), 1);
    siblings.splice(place, 0, node);
  }

  /**
   * The first node of the variation that a node belongs to. A node with siblings starts a variation itself; for other
   * nodes of the main line, the result is null.
   */
  variationOf(id) {
    for (let node = this.nodes.get(id); node?.parent != null; node = this.nodes.get(node.parent)) {
      const siblings = this.nodes.get(node.parent).children;
      if (siblings[0] !== node || (node.id === id && siblings.length > 1)) return node;
    }
    return null;
  }

  get(id) {
    return this.nodes.get(id);
  }

  /** The nodes of the line through a node, from the root to the line's end. */
  line(id) {
    const nodes = [];
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) nodes.push(node);
    nodes.reverse();
    for (let node = nodes.at(-1)?.children[0]; node; node = node.children[0]) nodes.push(node);
    return nodes;
  }

  /** The path from the root to a node: at each node on the way, the index of the next node among the children. */
  path(id) {
    const indexes = [];
    for (let node = this.nodes.get(id); node?.parent != null; node = this.nodes.get(node.parent)) {
      indexes.unshift(this.nodes.get(node.parent).children.indexOf(node));
    }
    return indexes;
  }

  /** The node at the end of a path, as `path` describes it; undefined if there is none. */
  at(path) {
    let node = this.root;
    for (const index of path) node = node?.children[index];
    return node;
  }

  /** Whether a node is on the main line. */
  isMain(id) {
    for (let node = this.nodes.get(id); node?.parent != null; node = this.nodes.get(node.parent)) {
      if (this.nodes.get(node.parent).children[0] !== node) return false;
    }
    return true;
  }
}

/** The move number to write before the move at this ply, such as "3." for a move of White and "3…" for a move of Black. */
export function moveNumber(ply) {
  return `${Math.ceil(ply / 2)}${ply % 2 ? "." : "…"}`;
}
