// The dialog of the user's games, which the server stores. The user can search, open and delete games, save the game that
// is on the board, and add all games from a file.

import { ask } from "./ask.js";
import { element } from "./elements.js";
import { detailOf, Listing, playersOf } from "./listing.js";

const LARGEST = 64 * 1024 * 1024; // maximum size of a file in bytes, as on the server

export class MyGames {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {HTMLButtonElement} button opens the dialog
   * @param {{onOpen: (number: number) => boolean, onSave: () => void}} actions `onOpen` returns whether the server could
   *   be asked
   */
  constructor(dialog, button, actions) {
    this.dialog = dialog;
    this.problem = dialog.querySelector(".problem");
    this.opening = false; // whether the server has been asked to open a game of the list
    this.listing = new Listing(dialog, {
      find: (wanted, start) => this.find(wanted, start),
      onOpen: (number) => {
        this.opening = actions.onOpen(number);
      },
      onRemove: async (key, removed) => Boolean(await this.ask(`/games/${key}?deleted=${Number(removed)}`, { method: "POST" })),
    });
    button.addEventListener("click", () => {
      this.say("");
      this.listing.open();
    });
    dialog.querySelector(".all").addEventListener("click", () => this.saveAll());
    dialog.querySelector(".save").addEventListener("click", actions.onSave);
    dialog.querySelector("input[type=file]").addEventListener("change", ({ target }) => {
      const [file] = target.files;
      target.value = ""; // so that the same file can be chosen again
      if (file) this.add(file);
    });
  }

  /** Send a request and return the server's answer. If that fails, show the error in the dialog and return null. */
  async ask(...request) {
    const found = await ask(...request);
    this.say(found.problem ?? "");
    return found.problem ? null : found;
  }

  say(text) {
    this.problem.textContent = text && text[0].toUpperCase() + text.slice(1);
  }

  async find(wanted, start) {
    const { games, total } = (await this.ask(`/games?${new URLSearchParams({ search: wanted, start })}`)) ?? { games: [], total: 0 };
    return { rows: games.map(row), total };
  }

  async add(file) {
    if (file.size > LARGEST) {
      this.say(`The file ${file.name} has more than ${LARGEST / 2 ** 20} MB`);
      return;
    }
    this.say(`Adding ${file.name}…`);
    const found = await this.ask("/games", { method: "POST", body: file });
    if (!found) return;
    await this.listing.fill();
    this.say([`Added ${counted(found.new)}`, found.known && `${counted(found.known)} were there already`].filter(Boolean).join("; "));
  }

  async saveAll() {
    const file = await this.ask("/games.pgn", {}, "blob");
    if (!file) return;
    const link = Object.assign(element("a"), { href: URL.createObjectURL(file), download: "my-games.pgn" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /** Tell the user that the server has saved the game on the board. */
  async saved() {
    if (!this.dialog.open) return;
    await this.listing.fill();
    this.say("The game is saved");
  }

  /** Show a problem in the dialog if the dialog is open. Return whether it is open. */
  refused(text) {
    this.opening = false;
    if (this.dialog.open) this.say(text);
    return this.dialog.open;
  }

  /** Close the dialog after the chosen game has been put on the board. Another game leaves the dialog open. */
  opened() {
    if (this.opening) this.listing.close();
    this.opening = false;
  }
}

function row(game) {
  return { key: game.number, title: playersOf(game), detail: detailOf(game) };
}

function counted(count) {
  return count === 1 ? "1 game" : `${count} games`;
}
