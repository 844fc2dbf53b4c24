// Hands a game over to the board of the same browser tab, with the way back.

const KEY = "handed over";

/**
 * Show a game on the board, with the way back to this page.
 *
 * @param {{pgn: string, side: string, ply?: number}} game with the side that is below, "white" or "black", and the ply of
 *   the position to show, by default the first one
 * @param {string} name of this page
 */
export function handOver({ pgn, side, ply = 0 }, name) {
  keep(name, { pgn, side, ply });
  location.assign("/index.html");
}

/** Let a link lead to the board as it is, with the way back to this page. */
export function leaveBy(link, name) {
  link.addEventListener("click", () => keep(name, null));
}

function keep(name, game) {
  sessionStorage.setItem(KEY, JSON.stringify({ name, back: location.href, game }));
}

/** Show the way back in a link, and give the game that has been handed over, as `handOver` takes it, once; null if there is none. */
export function takeOver(link) {
  const { name, back, game = null } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  if (back) {
    Object.assign(link, { href: back, textContent: `← ${name}`, title: "Back", hidden: false });
    sessionStorage.setItem(KEY, JSON.stringify({ name, back }));
  }
  return game;
}
