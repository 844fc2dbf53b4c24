// The links between the pages: the board, the drills and the puzzles.

import { ask } from "./ask.js";
import { byId } from "./elements.js";

/** Show the links to the pages that this server has. */
export async function showLinks() {
  const { pages = [] } = await ask("/pages");
  for (const name of pages) linkTo(name)?.removeAttribute("hidden");
}

/** The link to a page by the page's name; null on that page itself. */
export function linkTo(name) {
  return byId(`to-${name.toLowerCase()}`);
}
