// A dialog with a list of games and a search field. The arrow keys go through the list, and Enter opens a game.

import { element, isolated } from "./elements.js";

export class Listing {
  /**
   * @param {HTMLDialogElement} dialog contains a search field, a place for the number of games, and a list
   * @param {{find: (wanted: string, start: number) => Promise<{rows: object[], total: number}>, onOpen: (key: number) => void,
   *   onRemove?: (key: number, removed: boolean) => Promise<boolean>}} actions `find` returns rows, each with a key, a title
   *   and a detail; `onRemove` deletes a game or restores it, and returns whether that succeeded
   */
  constructor(dialog, actions) {
    Object.assign(this, { dialog, actions });
    this.search = dialog.querySelector("input[type=search]");
    this.count = dialog.querySelector(".count");
    this.list = dialog.querySelector(".game-list");
    this.asked = 0; // the number of the last request; answers to earlier requests are ignored
    this.search.addEventListener("input", () => this.fill());
    this.list.addEventListener("click", (event) => this.click(event.target.closest("button")));
    dialog.addEventListener("keydown", (event) => this.keyDown(event));
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  }

  open(current = null) {
    this.current = current;
    this.search.value = "";
    this.dialog.showModal();
    if (matchMedia("(hover: hover)").matches) this.search.focus(); // on a phone, the keyboard would open and cover the list
    return this.fill();
  }

  close() {
    this.dialog.close();
  }

  /** Show the first games found. If `start` is not 0, append the games from this index onwards to those shown. */
  async fill(start = 0) {
    const asked = ++this.asked;
    const { rows, total } = await this.actions.find(this.search.value.trim(), start);
    if (asked !== this.asked) return;
    if (!start) {
      this.list.replaceChildren();
      this.list.scrollTop = 0;
    }
    this.list.querySelector(".more")?.remove();
    this.list.append(...rows.map((row) => this.item(row)));
    const shown = start + rows.length;
    if (shown < total) this.list.append(moreItem(shown));
    this.count.textContent = total === 1 ? "1 game" : `${total} games`;
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  }

  item({ key, title, detail }) {
    const item = element("li");
    const open = item.appendChild(element("button", "open"));
    open.dataset.key = key;
    open.append(element("b", "", title), element("span", "", detail));
    if (key === this.current) open.setAttribute("aria-current", "true");
    if (this.actions.onRemove) {
      const remove = item.appendChild(element("button", "remove", "Delete"));
      remove.setAttribute("aria-label", `Delete ${title}`);
    }
    return item;
  }

  async click(button) {
    if (!button) return;
    if (button.classList.contains("more")) {
      const start = Number(button.dataset.start);
      await this.fill(start);
      this.opens[start]?.focus();
    } else if (button.classList.contains("remove")) {
      const item = button.parentNode;
      const removed = !item.classList.contains("removed");
      if (!(await this.actions.onRemove(Number(item.querySelector(".open").dataset.key), removed))) return;
      item.classList.toggle("removed", removed);
      item.querySelector(".open").disabled = removed;
      button.textContent = removed ? "Undo" : "Delete";
      button.setAttribute("aria-label", `${button.textContent} ${item.querySelector("b").textContent}`);
    } else {
      this.actions.onOpen(Number(button.dataset.key));
    }
  }

  get opens() {
    return [...this.list.querySelectorAll(".open:enabled, .more button")];
  }

  keyDown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const { opens } = this;
    if (step && (event.target === this.search || this.list.contains(event.target))) {
      const next = opens.indexOf(event.target) + step;
      (next < 0 ? this.search : opens[Math.min(next, opens.length - 1)])?.focus();
    } else if (event.key === "Enter" && event.target === this.search) {
      opens[0]?.click();
    } else {
      return;
    }
    event.preventDefault();
  }
}

/** The players of a game as one text. */
export function playersOf({ white, black }) {
  return `${isolated(white)} - ${isolated(black)}`;
}

/** The result, event and date of a game as one text; unknown values are left out. */
export function detailOf({ result, event, date }) {
  const known = [result?.replaceAll("1/2", "½"), event && isolated(event), date?.replaceAll(".??", "").replaceAll(".", "-")];
  return known.filter((each) => each && !["?", "*", "????", "-"].includes(each)).join(" · ");
}

function moreItem(start) {
  const item = element("li", "more");
  const button = item.appendChild(element("button", "more", "More games"));
  button.dataset.start = start;
  return item;
}
