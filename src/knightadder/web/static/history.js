// Undo and redo: two buttons, which say what they would undo or redo, and keys.

export class History {
  /**
   * @param {{undo: HTMLButtonElement, redo: HTMLButtonElement}} buttons
   * @param {(step: "undo" | "redo") => void} go
   * @param {() => boolean} allowed whether the keys count
   */
  constructor(buttons, go, allowed) {
    this.buttons = buttons;
    for (const step of ["undo", "redo"]) buttons[step].addEventListener("click", () => go(step));
    addEventListener("keydown", (event) => {
      const step = stepOf(event);
      if (!step || !allowed() || event.target.closest("input, textarea, dialog")) return; // a field has its own
      event.preventDefault();
      go(step); // also where the server has not told yet that there is something; it refuses what cannot be
    });
    this.show({});
  }

  /** Take what can be undone and redone, as text; null for nothing. */
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
