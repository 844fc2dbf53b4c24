// Hands a game over to the board of the same browser tab, with the way back.

const KEY = "handed over";

/**
 * Show a game on the board, from its first position, with the way back to this page.
 *
 * @param {string} pgn
 * @param {string} side that is below: "white" or "black"
 * @param {string} name of this page
 */
export function handOver(pgn, side, name) {
  keep(name, { pgn, side });
  location.assign("/index.html");
}

/** Let a link lead to the board as it is, with the way back to this page. */
export function leaveBy(link, name) {
  link.addEventListener("click", () => keep(name, null));
}

function keep(name, game) {
  sessionStorage.setItem(KEY, JSON.stringify({ name, back: location.href, game }));
}

/** Show the way back in a link, and give the game that has been handed over, `{pgn, side}`, once; null if there is none. */
export function takeOver(link) {
  const { name, back, game = null } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  if (back) {
    Object.assign(link, { href: back, textContent: `← ${name}`, title: "Back", hidden: false });
    sessionStorage.setItem(KEY, JSON.stringify({ name, back }));
  }
  return game;
}
