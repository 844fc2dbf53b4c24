// The premove: a move that the user makes while the engine is thinking. If the premove is legal after the engine's move, it
// is played.

export class Premove {
  /**
   * @param {import("./board.js").Board} board
   * @param {{play: (move: string) => void, keep: (premove: ?object) => void}} actions `play` plays a legal move in UCI
   *   notation; `keep` stores the premove in the browser, or null for none
   * @param {?object} kept the premove that was stored last: the page may have been reloaded
   */
  constructor(board, { play, keep }, kept) {
    Object.assign(this, { board, play, keep });
    this.possible = false;
    this.move = kept?.move ?? null;
    this.node = kept?.node ?? null; // the node at which the premove was made
    this.mark();
    // Any press on the board cancels the premove. A press that cancels a premove does not draw a shape.
    const cancel = (event) => {
      if (this.move && (event.button === 2 || board.drawing)) event.stopImmediatePropagation();
      this.set(null);
    };
    board.element.addEventListener("pointerdown", cancel, { capture: true });
  }

  /** On the engine's turn, keep a move as the premove. Return whether it is the engine's turn. */
  take(move) {
    if (this.possible) this.set(move);
    return this.possible;
  }

  set(move) {
    if (!move && !this.move) return;
    this.move = move;
    this.keep(move && { move, node: this.node });
    this.mark();
  }

  mark() {
    this.board.setPremove(this.move ? [this.move.slice(0, 2), this.move.slice(2, 4)] : []);
  }

  /**
   * Show a position. On the engine's turn, allow premoves; on the user's turn, play the premove.
   *
   * @param {object} position
   * @param {number} [parent] the parent of the position's node; a premove is played only if it was made at that node
   */
  show(position, parent) {
    const selected = this.possible && parent === this.node ? this.board.selected : null;
    this.possible = Object.keys(position.premoves).length > 0;
    this.board.set(this.possible ? { ...position, legal: position.premoves, promotions: [] } : position);
    if (selected) this.board.select(selected); // the engine has moved between the user's two clicks
    if (this.possible) this.node = position.node;
    if (this.possible || !this.move) return;
    const { move } = this;
    this.set(null);
    if (position.outcome || parent !== this.node) return;
    const legal = Object.values(position.legal[move.slice(0, 2)] ?? {}).includes(move);
    if (legal) this.play(move + (position.promotions.includes(move) ? "q" : ""));
  }
}
