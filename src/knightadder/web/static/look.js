// How the board looks: its colours, the set of pieces, and coordinates. The browser keeps it, for all pages and tabs.

const KEY = "look";
const USUAL = { board: "green", pieces: "classic", coordinates: true };

/** The look that was chosen, or the usual one. */
function kept() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(KEY)) };
  } catch {
    return USUAL; // not of this version
  }
}

/** Give the page the look that was chosen, also when it is chosen in another tab. */
export function startLook() {
  const render = () => {
    const { board, pieces, coordinates } = kept();
    Object.assign(document.documentElement.dataset, { board, pieces, coordinates: coordinates ? "on" : "off" });
  };
  addEventListener("storage", ({ key }) => key === KEY && render());
  render();
  return render;
}

/** Let the user choose the look in a dialog; each choice is seen at once. */
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
    localStorage.setItem(KEY, JSON.stringify(look));
    render();
  });
}
