// The tree of moves as the server last described it, and ways through it. Pure data: nothing is drawn here.

export class Tree {
  constructor() {
    this.set([{ id: 0, parent: null, san: "", ply: 0, nags: [], comment: "", score: null }]);
  }

  /** Take the nodes, each after its parent, the children of a node in their order. */
  set(nodes) {
    this.nodes = new Map(nodes.map((node) => [node.id, { ...node, children: [] }]));
    for (const node of this.nodes.values()) this.nodes.get(node.parent)?.children.push(node);
    this.root = this.nodes.values().next().value;
  }

  get(id) {
    return this.nodes.get(id);
  }

  /** The nodes of the line that goes through a node: from the root to it, and on to the end. */
  line(id) {
    const nodes = [];
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) nodes.unshift(node);
    for (let node = nodes.at(-1)?.children[0]; node; node = node.children[0]) nodes.push(node);
    return nodes;
  }

  /** Whether a node is on the main line. */
  isMain(id) {
    for (let node = this.nodes.get(id); node?.parent != null; node = this.nodes.get(node.parent)) {
      if (this.nodes.get(node.parent).children[0] !== node) return false;
    }
    return true;
  }
}

/** The number to write before a move that leads to this ply: "3." for White's, "3…" for Black's. */
export function moveNumber(ply) {
  return `${Math.ceil(ply / 2)}${ply % 2 ? "." : "…"}`;
}
