// Calls a page's actions when their keys are pressed. After a click, a control loses the focus, so that keys reach the page.

let pointed = false; // whether the last input came from the pointer, not the keyboard
addEventListener("pointerdown", () => (pointed = true), { capture: true });
addEventListener("keydown", () => (pointed = false), { capture: true });

/** @param {Object<string, () => void>} actions key -> action */
export function startKeys(actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = targetOf(event);
    if (target.closest("input:not([type=checkbox], [type=radio]), select, textarea")) return;
    // Space and Enter press the focused control.
    if ([" ", "Enter"].includes(event.key) && target.closest("a, button, summary, input")) return;
    if (event.key.startsWith("Arrow") && target.closest("input")) return; // arrow keys choose among radio buttons
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  // Otherwise a clicked control would keep the focus, and would react when the user next presses space or an arrow key.
  addEventListener("click", (event) => {
    if (event.detail > 0) event.target.closest("button")?.blur();
  });
  addEventListener("change", (event) => {
    if (pointed) event.target.closest("select")?.blur();
  });
  for (const dialog of document.querySelectorAll("dialog")) {
    // When a dialog closes, the browser focuses the button that opened it. A user with a pointer does not need that focus.
    dialog.addEventListener("close", () => pointed && document.activeElement?.blur());
  }
  keepFocus();
}

/** Return the element that a key is for. The field of a closed dialog keeps the focus until the browser's next frame. */
export function targetOf({ target }) {
  return target.checkVisibility() ? target : document.body;
}

/** When the control that has the focus is hidden, disabled or removed, focus its card until the control is usable again. */
function keepFocus() {
  let control, card, stand; // `stand` is the card that has the focus instead of the control
  addEventListener("focusin", ({ target }) => {
    if (target !== stand) [control, card, stand] = [target, target.closest(".card"), null];
  });
  const keep = () => {
    const { activeElement } = document;
    if (pointed || !card || (stand ? activeElement !== stand : ![document.body, control].includes(activeElement))) return;
    const lost = control.disabled || !control.isConnected || !control.checkVisibility();
    if (!lost) {
      if (stand) control.focus();
    } else if (!stand) {
      stand = [card, ...document.querySelectorAll(".side .card")].find((each) => each.checkVisibility());
      stand?.setAttribute("tabindex", "-1");
      stand?.focus({ preventScroll: true });
    }
  };
  const watched = { subtree: true, childList: true, attributeFilter: ["hidden", "disabled"] };
  new MutationObserver(keep).observe(document.body, watched);
}
