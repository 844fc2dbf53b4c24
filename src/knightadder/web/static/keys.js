// The keyboard: arrows through the moves, space for the engine, f to flip, Enter to type a move.

let pointed = false; // whether the last action was the pointer's
addEventListener("pointerdown", () => (pointed = true), { capture: true });
addEventListener("keydown", () => (pointed = false), { capture: true });

/** @param {Object<string, () => void>} actions by the key that does them */
export function startKeys(actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea")) return;
    if ([" ", "Enter"].includes(event.key) && event.target.closest("button, summary, input")) return; // it presses what has the focus
    if (event.key.startsWith("Arrow") && event.target.closest("input")) return; // it goes through the choices
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  // What was clicked by the pointer would keep the focus, and take the next press of the space bar or an arrow.
  addEventListener("click", (event) => {
    if (event.detail > 0) event.target.closest("button")?.blur();
  });
  addEventListener("change", (event) => {
    if (pointed) event.target.closest("select")?.blur();
  });
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => pointed && document.activeElement?.blur()); // it gives the focus back to its button
  }
}
