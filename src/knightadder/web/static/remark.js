// The dialog in which the user writes a comment on a move and chooses the move's marks.

import { plain } from "./moves.js";

const OF_MOVES = [1, 2, 3, 4, 5, 6, 7]; // glyphs that judge a move; a move has at most one
const OF_POSITIONS = [10, 13, 14, 15, 16, 17, 18, 19]; // glyphs that judge the position after a move; a move has at most one

export class Remark {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {import("./tree.js").Tree} tree
   * @param {{write: (node: number, comment: string, nags: number[]) => boolean, keep: (draft: ?object) => void}} actions
   *   `write` returns whether the comment could be sent; `keep` stores a draft in the browser, or null for none
   * @param {?object} draft the draft that was stored last: the page may have been reloaded
   */
  constructor(dialog, tree, { write, keep }, draft) {
    Object.assign(this, { dialog, tree, keep, draft });
    this.form = dialog.querySelector("form");
    this.node = null;
    dialog.addEventListener("cancel", () => this.setDraft(null)); // Escape
    this.form.addEventListener("input", () => {
      this.say("");
      this.setDraft({ ...this.draft, ...this.values });
    });
    this.form.addEventListener("submit", (event) => {
      if (event.submitter?.value !== "use") return this.setDraft(null);
      const { comment, move, position } = this.values;
      const others = this.node.nags.filter((nag) => ![...OF_MOVES, ...OF_POSITIONS].includes(nag));
      if (write(this.node.id, comment, [move, position].filter(Boolean).map(Number).concat(others))) return;
      event.preventDefault();
      this.say("There is no connection to the server");
    });
    this.form.elements.comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.querySelector("[value=use]").click();
    });
  }

  get values() {
    const { comment, move, position } = this.form.elements;
    return { comment: comment.value, move: move.value, position: position.value };
  }

  /** Keep a draft until the server has the comment or the user cancels it; then `draft` is null. */
  setDraft(draft) {
    this.draft = draft;
    this.keep(draft);
  }

  /** Open the dialog for a node of the tree; the start position has no marks. */
  open(node) {
    this.setDraft({
      path: this.tree.path(node.id),
      san: node.san,
      comment: plain(node.comment),
      move: String(OF_MOVES.find((nag) => node.nags.includes(nag)) ?? ""),
      position: String(OF_POSITIONS.find((nag) => node.nags.includes(nag)) ?? ""),
    });
    this.show(node);
  }

  /**
   * Show the draft again after a reload, after the connection was lost, or after the server has refused the comment.
   * Return whether there is a draft for a move on the board.
   */
  reopen(problem = "") {
    if (!this.draft) return false;
    const node = this.tree.at(this.draft.path);
    const found = node?.san === this.draft.san;
    if (found) this.show(node, problem);
    else this.dialog.close();
    return found;
  }

  show(node, problem = "") {
    this.node = node;
    this.dialog.querySelector("h2").textContent = node.san ? `Comment on ${node.san}` : "Comment on the start";
    for (const name of ["comment", "move", "position"]) this.form.elements[name].value = this.draft[name];
    this.form.querySelector(".marks").hidden = !node.san;
    this.say(problem);
    if (this.dialog.open) return;
    this.dialog.showModal();
    this.form.elements.comment.focus();
  }

  say(problem) {
    this.dialog.querySelector(".problem").textContent = problem && problem[0].toUpperCase() + problem.slice(1);
  }

  /** Forget the draft once the server has written the comment. */
  written(nodes) {
    if (this.draft && !this.dialog.open && nodes.some(({ id }) => id === this.node?.id)) this.setDraft(null);
  }
}
