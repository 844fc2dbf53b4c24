// Hands a game over to the board of the same browser tab, with the way back.

const KEY = "handed over";

/**
 * Show a game on the board, with the way back to this page.
 *
 * @param {{pgn: string, side: string, ply?: number}} game `side`, "white" or "black", is shown at the bottom; `ply` is
 *   the ply of the position to show (default: 0)
 * @param {string} name this page's name, for the link back
 */
export function handOver({ pgn, side, ply = 0 }, name) {
  keep(name, { pgn, side, ply });
  location.assign("/index.html");
}

/** Make a link open the board unchanged, with the way back to this page. */
export function leaveBy(link, name) {
  link.addEventListener("click", () => keep(name, null));
}

function keep(name, game) {
  sessionStorage.setItem(KEY, JSON.stringify({ name, back: location.href, game }));
}

/** Show the way back in a link; give the handed-over game, as `handOver` takes it, the first time, and null otherwise. */
export function takeOver(link) {
  const { name, back, game = null } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  if (back) {
    Object.assign(link, { href: back, textContent: `← ${name}`, title: "Back", hidden: false });
    sessionStorage.setItem(KEY, JSON.stringify({ name, back }));
  }
  return game;
}
