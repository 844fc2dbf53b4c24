// The dialog in which the user writes a comment on a move and chooses the move's marks.

import { plain } from "./moves.js";

const OF_MOVES = [1, 2, 3, 4, 5, 6, 7]; // glyphs that judge a move; a move has at most one
const OF_POSITIONS = [10, 13, 14, 15, 16, 17, 18, 19]; // glyphs that judge the position after a move; a move has at most one

export class Remark {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {(node: number, comment: string, nags: number[]) => void} write
   */
  constructor(dialog, write) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.node = null;
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "use") return;
      const { comment, move, position } = this.form.elements;
      const others = this.node.nags.filter((nag) => ![...OF_MOVES, ...OF_POSITIONS].includes(nag));
      write(this.node.id, comment.value, [move.value, position.value].filter(Boolean).map(Number).concat(others));
    });
    this.form.elements.comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.querySelector("[value=use]").click();
    });
  }

  /** Open the dialog for a node of the tree; the start position has no marks. */
  open(node) {
    this.node = node;
    const { comment, move, position } = this.form.elements;
    this.dialog.querySelector("h2").textContent = node.san ? `Comment on ${node.san}` : "Comment on the start";
    comment.value = plain(node.comment);
    move.value = String(OF_MOVES.find((nag) => node.nags.includes(nag)) ?? "");
    position.value = String(OF_POSITIONS.find((nag) => node.nags.includes(nag)) ?? "");
    this.form.querySelector(".marks").hidden = !node.san;
    this.dialog.returnValue = "";
    this.dialog.showModal();
    comment.focus();
  }
}
