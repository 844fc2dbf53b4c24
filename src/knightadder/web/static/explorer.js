// The opening explorer: what the games of the server's index played in the position on the board. A click plays a move.

export class Explorer {
  /**
   * @param {HTMLElement} card which is hidden unless the server has an index
   * @param {(node: number, san: string) => void} onPlay
   */
  constructor(card, onPlay) {
    this.card = card;
    this.missing = false; // the server has no index
    this.position = null; // the one to answer for
    this.asked = null; // the FEN of the last question
    this.shown = null; // the FEN of the answer that the card shows
    card.addEventListener("click", (event) => {
      const row = event.target.closest("[data-san]");
      if (row && this.position?.fen === this.shown) onPlay(this.position.node, row.dataset.san);
    });
  }

  /** Show what was played in this position; without one, show nothing. */
  async update(position) {
    this.position = position;
    this.card.hidden = !position || !this.card.hasChildNodes();
    if (!position || position.fen === this.asked || this.missing) return;
    const { fen } = position;
    this.asked = fen;
    let answer;
    try {
      answer = await (await fetch(`/explorer?${new URLSearchParams({ fen })}`)).json();
    } catch {
      if (this.asked === fen) this.asked = null; // asked again at the next occasion
      return;
    }
    this.missing = answer === null;
    if (this.missing || this.asked !== fen) return; // or the position has changed meanwhile
    const focused = this.card.contains(document.activeElement);
    this.card.replaceChildren(...render(answer));
    this.card.scrollTop = 0;
    this.card.hidden = !this.position;
    this.shown = fen;
    if (focused) this.card.querySelector("button")?.focus();
  }
}

function render({ moves, games, problem }) {
  const head = element("p", "explorer-head", "Opening explorer");
  if (!moves.length) return [head, element("p", "explorer-none", problem ?? "No game went on from this position")];
  const table = document.createElement("table");
  table.createTHead().append(headings("Move", "Games", "White, draw, Black", "Rating", "Last"));
  table.createTBody().append(...moves.map(row));
  const all = { san: "All", rating: null, year: null };
  for (const name of ["games", "white", "draws", "black"]) {
    all[name] = moves.reduce((sum, move) => sum + move[name], 0);
  }
  table.createTFoot().append(row(all));
  const best = element("ol", "explorer-games");
  best.append(...games.map(gameItem));
  return [head, table, best];
}

function headings(...names) {
  const row = document.createElement("tr");
  row.append(...names.map((name) => Object.assign(element("th", "", name), { scope: "col" })));
  return row;
}

function row(move) {
  const made = document.createElement("tr");
  const name = document.createElement(move.move ? "td" : "th");
  if (move.move) {
    made.dataset.san = move.san;
    name.append(element("button", "", move.san));
  } else {
    name.textContent = move.san;
  }
  const shares = document.createElement("td");
  shares.append(bar(move));
  made.append(name, element("td", "", String(move.games)), shares);
  made.append(...[move.rating, move.year].map((value) => element("td", "", value === null ? "" : String(value))));
  return made;
}

/** Draw the shares of results; a share has its number where there is room. */
function bar({ games, white, draws, black }) {
  const made = element("div", "shares");
  const percents = [white, draws, black].map((count) => (100 * count) / games);
  const texts = percents.map((percent) => `${percent.toFixed(0)} %`);
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", `White ${texts[0]}, draw ${texts[1]}, Black ${texts[2]}`);
  ["white", "draw", "black"].forEach((name, index) => {
    const part = made.appendChild(element("span", name, percents[index] >= 25 ? texts[index] : ""));
    part.style.width = `${percents[index]}%`;
  });
  return made;
}

function gameItem({ white, black, white_elo, black_elo, result, year, event, site }) {
  const player = (name, elo) => (elo ? `${name} (${elo})` : name);
  const item = element("li", "", `${player(white, white_elo)} - ${player(black, black_elo)}`);
  const places = [event, site].filter((place) => place !== "?");
  item.title = places.join(", ");
  item.append(element("span", "", [result.replaceAll("1/2", "½"), year].filter(Boolean).join(" · ")));
  return item;
}

function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}
