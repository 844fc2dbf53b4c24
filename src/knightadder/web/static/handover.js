// Hands a game over from another page to the board's page, in the same browser tab. The link of the board's page to the
// other page then leads back to where the user was.

import { linkTo } from "./pages.js";
import { read, write } from "./stored.js";

const KEY = "handed over";

/**
 * Show a game on the board's page, whose link leads back to this page.
 *
 * @param {{pgn: string, side: string, ply?: number}} game `side` is the side at the bottom of the board, "white" or
 *   "black"; `ply` is the ply of the position to show (default: 0)
 * @param {string} name this page's name, for the link back
 */
export function handOver({ pgn, side, ply = 0 }, name) {
  keep(name, { pgn, side, ply });
  location.assign("/index.html");
}

/** Prepare a link to the board's page, so that the board's page keeps its game, and its link leads back to this page. */
export function leaveBy(link, name) {
  link.addEventListener("click", () => keep(name, null));
}

function keep(name, game) {
  write(sessionStorage, KEY, { name, back: location.href, game });
}

/**
 * Let the link of the board's page to the page that the user came from lead back to it.
 *
 * @returns {?object} the game that was passed to `handOver`; null on later calls, or if no game was passed
 */
export function takeOver() {
  const { name, back, game = null } = read(sessionStorage, KEY, { name: "", back: "" }) ?? {};
  const link = back && linkTo(name);
  if (link) {
    Object.assign(link, { href: back, textContent: `← ${name}`, title: "Back", hidden: false });
    write(sessionStorage, KEY, { name, back });
  }
  return game;
}
