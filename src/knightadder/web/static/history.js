// Undo and redo, with keys and with two buttons. The tooltip of a button names the change.

import { targetOf } from "./keys.js";

export class History {
  /**
   * @param {{undo: HTMLButtonElement, redo: HTMLButtonElement}} buttons
   * @param {(step: "undo" | "redo") => void} go
   * @param {() => boolean} allowed returns whether the keys for undo and redo work at the moment
   */
  constructor(buttons, go, allowed) {
    this.buttons = buttons;
    for (const step of ["undo", "redo"]) buttons[step].addEventListener("click", () => go(step));
    addEventListener("keydown", (event) => {
      const step = stepOf(event);
      if (!step || !allowed() || targetOf(event).closest("input, textarea, dialog")) return; // text fields have their own undo
      event.preventDefault();
      go(step); // sent even while the buttons are disabled: the server may not have reported the last change yet
    });
    this.show({});
  }

  /** Show the name of the change that each button would undo or redo. A button without a change is disabled. */
  show(names) {
    for (const [step, button] of Object.entries(this.buttons)) {
      const word = step === "undo" ? "Undo" : "Redo";
      button.disabled = !names[step];
      button.title = names[step] ? `${word} ${names[step]} (${step === "undo" ? "Ctrl+Z" : "Ctrl+Y"})` : `Nothing to ${step}`;
    }
  }
}

function stepOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (!(ctrlKey || metaKey) || altKey) return null;
  if (key.toLowerCase() === "z") return shiftKey ? "redo" : "undo";
  return key.toLowerCase() === "y" && !shiftKey ? "redo" : null;
}
