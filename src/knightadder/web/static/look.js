// The look of the board: its colours, pieces and coordinates. The browser stores the choice for all pages and tabs.

import { read, write } from "./stored.js";

const KEY = "look";
const USUAL = { board: "green", pieces: "classic", coordinates: true };

/** The chosen look, or the default. */
function kept() {
  return read(localStorage, KEY, USUAL) ?? USUAL;
}

/** Apply the chosen look now, and whenever the user changes it in another tab. Return a function that applies it. */
export function startLook() {
  const render = () => {
    const { board, pieces, coordinates } = kept();
    Object.assign(document.documentElement.dataset, { board, pieces, coordinates: coordinates ? "on" : "off" });
  };
  addEventListener("storage", ({ key }) => key === KEY && render());
  render();
  return render;
}

/** Let the user choose the look in a dialog; each choice takes effect immediately. */
export function startLookDialog(dialog, button, render) {
  const { elements } = dialog.querySelector("form");
  button.addEventListener("click", () => {
    const { board, pieces, coordinates } = kept();
    elements.board.value = board;
    elements.pieces.value = pieces;
    elements.coordinates.checked = coordinates;
    dialog.showModal();
  });
  dialog.addEventListener("change", () => {
    const look = { board: elements.board.value, pieces: elements.pieces.value, coordinates: elements.coordinates.checked };
    write(localStorage, KEY, look);
    render();
  });
}
