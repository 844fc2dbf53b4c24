// The opening explorer. The server has an index of games. For the position on the board, the explorer shows the moves
// played in these games. A click on a move plays the move.

import { element, isolated, restoreValue } from "./elements.js";

export class Explorer {
  /**
   * @param {HTMLElement} card contains the filters and a place for answers; it is hidden unless the server has an index
   * @param {{play: (node: number, san: string) => void, keep: (filters: [string, string][]) => void}} actions `play`
   *   plays a move; `keep` stores the filters in the browser
   * @param {?[string, string][]} kept the filters that were stored last: the page may have been reloaded
   */
  constructor(card, { play, keep }, kept) {
    this.card = card;
    this.form = card.querySelector("form");
    this.place = card.querySelector(".explorer-answer");
    this.keep = keep;
    this.missing = false; // whether the server has no index
    this.position = null; // the position on the board; null while the explorer is hidden
    this.asked = null; // the newest query sent to the server
    this.shown = null; // the FEN of the answer that the card shows
    this.place.addEventListener("click", (event) => {
      const row = event.target.closest("[data-san]");
      if (row && this.position?.fen === this.shown) play(this.position.node, row.dataset.san);
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", () => this.filtersChanged());
    this.form.querySelector("button").addEventListener("click", () => {
      this.form.reset();
      this.filtersChanged();
    });
    this.restore(kept ?? []);
  }

  filtersChanged() {
    this.keep([...new FormData(this.form)]);
    this.update(this.position);
  }

  restore(kept) {
    for (const field of this.form.elements) {
      const values = kept.filter(([name]) => name && name === field.name).map(([, value]) => value);
      if (field.type === "checkbox") field.checked = values.includes(field.value);
      else if (values.length) restoreValue(field, values[0]);
    }
  }

  /** The filters that are set, as pairs [name, value]. */
  filters() {
    const data = new FormData(this.form);
    const set = [...data].filter(([name, value]) => name !== "speeds" && value.trim());
    const speeds = data.getAll("speeds").join(",");
    return speeds ? [...set, ["speeds", speeds]] : set;
  }

  /** Show the moves that were played in this position; without a position, hide the card. */
  async update(position) {
    this.position = position;
    this.card.hidden = !position || this.shown === null;
    if (!position || this.missing) return;
    const { fen } = position;
    const filters = this.filters();
    const question = String(new URLSearchParams([["fen", fen], ...filters]));
    if (question === this.asked) return;
    this.asked = question;
    let answer;
    try {
      answer = await (await fetch(`/explorer?${question}`)).json();
    } catch {
      if (this.asked === question) this.asked = null; // so that the next update repeats the query
      return;
    }
    this.missing = answer === null;
    if (this.missing || this.asked !== question) return; // if there is a newer query, only its answer is shown
    const focused = this.place.contains(document.activeElement);
    this.card.querySelector("summary span").textContent = filters.length ? `${filters.length} set` : "";
    this.place.replaceChildren(...render(answer));
    this.place.scrollTop = 0;
    this.shown = fen;
    this.card.hidden = !this.position;
    if (focused) this.place.querySelector("button")?.focus();
  }
}

function render({ moves, games, problem }) {
  if (problem) return [element("p", "problem", problem[0].toUpperCase() + problem.slice(1))];
  if (!moves.length) return [element("p", "explorer-none", "No game has a move from this position")];
  const table = element("table");
  table.setAttribute("aria-label", "Moves played in this position");
  table.createTHead().append(headings("Move", "Games", "White, draw, Black", "Rating", "Perf.", "Last"));
  table.createTBody().append(...moves.map(row));
  const all = { san: "All" };
  for (const name of ["games", "white", "draws", "black"]) {
    all[name] = moves.reduce((sum, move) => sum + move[name], 0);
  }
  table.createTFoot().append(row(all));
  const best = element("ol", "explorer-games");
  best.append(...games.map(gameItem));
  return [table, best];
}

function headings(...names) {
  const row = element("tr");
  row.append(...names.map((name) => Object.assign(element("th", "", name), { scope: "col" })));
  return row;
}

function row(move) {
  const made = element("tr");
  const name = element(move.move ? "td" : "th");
  if (move.move) {
    made.dataset.san = move.san;
    name.append(element("button", "", move.san));
  } else {
    name.textContent = move.san;
  }
  const shares = element("td");
  shares.append(bar(move));
  made.append(name, element("td", "", String(move.games)), shares);
  made.append(...[move.rating, move.performance, move.last?.slice(0, 7)].map((value) => element("td", "", String(value ?? ""))));
  return made;
}

/** Draw a bar with a part for White's wins, for draws and for Black's wins. Parts of at least 30 % show their percentage. */
function bar({ games, white, draws, black }) {
  const made = element("div", "shares");
  const percents = [white, draws, black].map((count) => (100 * count) / games);
  const texts = percents.map((percent) => `${percent.toFixed(0)} %`);
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", `White ${texts[0]}, draw ${texts[1]}, Black ${texts[2]}`);
  ["white", "draw", "black"].forEach((name, index) => {
    const part = made.appendChild(element("span", name, percents[index] >= 30 ? texts[index] : ""));
    part.style.width = `${percents[index]}%`;
  });
  return made;
}

function gameItem({ number, white, black, white_elo, black_elo, result, date, event, site }) {
  const player = (name, elo) => (elo ? `${isolated(name)} (${elo})` : isolated(name));
  const item = element("li", "", `${player(white, white_elo)} - ${player(black, black_elo)}`);
  const places = [event, site].filter((place) => place !== "?");
  item.title = places.join(", ");
  const link = element("a", "", "PGN");
  link.href = `/explorer/game?number=${number}`;
  link.download = `game-${number}.pgn`;
  item.append(element("span", "", [result.replaceAll("1/2", "½"), date].filter(Boolean).join(" · ")), link);
  return item;
}
