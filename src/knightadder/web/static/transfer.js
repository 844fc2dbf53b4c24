// Imports positions (FEN) and games (PGN) from text, files, the clipboard and drag and drop; exports games.

import { byId } from "./elements.js";
import { detailOf, Listing, playersOf } from "./listing.js";
import { read, write } from "./stored.js";

const LONGEST = 512 * 1024; // maximum size of a text in bytes, as on the server
const KEY = "typed PGN"; // of the text in the dialog, which survives a reload of the page
const FEN = /^\s*(?:[1-8pnbrqk]+\/){7}[1-8pnbrqk]+(?:\s+[wb-].*)?\s*$/i;

export class Transfer {
  /**
   * @param {{onFen: (fen: string) => void, onPgn: (pgn: string, raw: boolean) => boolean, onGame: (index: number) => void,
   *   write: () => string, players: () => string[], tell: (text: string) => void}} actions `onPgn` returns whether the text
   *   could be sent; if `raw` is true, each character of `pgn` is one byte of a file; `write` returns the PGN of the game on
   *   the board
   */
  constructor(actions) {
    this.actions = actions;
    this.dialog = byId("pgn-dialog");
    this.text = byId("pgn-text");
    this.problem = byId("pgn-problem");
    this.button = byId("pgn-load");
    this.games = byId("games");
    this.titles = [];
    this.listing = new Listing(byId("file-games"), {
      find: async (wanted) => this.find(wanted),
      onOpen: (index) => {
        this.listing.close();
        actions.onGame(index);
      },
    });
    byId("fen-form").addEventListener("submit", (event) => {
      event.preventDefault();
      actions.onFen(byId("fen").value);
    });
    byId("load-pgn").addEventListener("click", () => this.open(this.text.value));
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault(); // the dialog stays open until the server has read the text
      if (this.fits("the PGN", new Blob([this.text.value]).size)) this.load(this.text.value);
    });
    this.text.value = read(sessionStorage, KEY, "") ?? "";
    this.text.addEventListener("input", () => {
      this.complain("");
      write(sessionStorage, KEY, this.text.value);
    });
    for (const id of ["pgn-file", "open-file"]) {
      byId(id).addEventListener("change", ({ target }) => {
        const [file] = target.files;
        target.value = ""; // so that the same file can be chosen again
        this.read(file);
      });
    }
    this.games.addEventListener("click", () => this.listing.open(this.index));
    byId("copy-pgn").addEventListener("click", () => this.copy());
    byId("save-pgn").addEventListener("click", () => this.save());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => this.take(event, event.dataTransfer));
    addEventListener("paste", (event) => this.take(event, event.clipboardData));
  }

  /** Open the dialog with a text that the user can correct or replace. */
  open(text, problem = "") {
    this.text.value = text;
    this.complain(problem);
    if (!this.dialog.open) this.dialog.showModal();
    this.text.select();
  }

  /** Whether the server has been sent a text that it has not loaded yet. */
  get busy() {
    return this.button.disabled;
  }

  /** Show in the dialog what is wrong with the text. */
  complain(problem) {
    this.problem.textContent = problem && problem[0].toUpperCase() + problem.slice(1);
    this.button.disabled = false;
  }

  /** Load a file, a position or a game that the user has pasted into the page or dropped on it. */
  take(event, data) {
    if (!data.files.length && event.target.closest?.("input, textarea, select")) return; // a text for this field
    event.preventDefault(); // otherwise the browser would leave the page to show a dropped file
    if (document.querySelector("dialog[open]") && !this.dialog.open) return;
    const text = data.getData("text");
    if (data.files.length) this.read(data.files[0]);
    else if (FEN.test(text)) this.actions.onFen(text.trim());
    else if (text.trim() && this.fits("the text", new Blob([text]).size)) this.load(text);
  }

  async read(file) {
    if (!file || !this.fits(`the file ${file.name}`, file.size, "add it to “My games”, which takes large files")) return;
    try {
      // The bytes are sent unchanged, because the server detects the encoding.
      const bytes = new Uint8Array(await file.arrayBuffer());
      this.load(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""), true);
    } catch (error) {
      this.refused(`the file ${file.name} cannot be read: ${error.message}`); // it may be a folder
    }
  }

  /** Whether a text of `size` bytes is short enough for the server. If it is not, tell the user. */
  fits(name, size, advice = "load a part of it") {
    if (size > LONGEST) this.refused(`${name} has more than ${LONGEST / 1024} KB; ${advice}`);
    return size <= LONGEST;
  }

  load(text, raw = false) {
    this.complain("");
    this.button.disabled = this.actions.onPgn(text, raw);
  }

  /** Close the dialog after the server has read the game. */
  loaded() {
    if (!this.busy) return;
    this.button.disabled = false;
    sessionStorage.removeItem(KEY);
    this.dialog.close();
  }

  /** Show why the text was not loaded: it is not a game, or the server cannot be reached. */
  refused(problem) {
    this.button.disabled = false;
    if (this.dialog.open) this.complain(problem);
    else this.actions.tell(problem);
  }

  /** If the loaded text has several games, let the user choose one. */
  showGames({ titles, index }) {
    Object.assign(this, { titles, index });
    this.games.textContent = titles.length ? `${index + 1}. ${playersOf(titles[index])}` : "None";
    byId("games-field").hidden = titles.length < 2;
  }

  /** The games that match every word of `wanted` in their number, players, result, event or date. */
  find(wanted) {
    const words = wanted.toLowerCase().split(/\s+/);
    const rows = this.titles.map((game, index) => {
      const [title, detail] = [`${index + 1}. ${playersOf(game)}`, detailOf(game)];
      return { key: index, title, detail, words: `${title} ${game.result} ${game.date} ${detail}`.toLowerCase() };
    });
    const found = rows.filter((row) => words.every((word) => row.words.includes(word)));
    return { rows: found, total: found.length };
  }

  async copy(text = this.actions.write(), told = "The PGN is on the clipboard") {
    try {
      await navigator.clipboard.writeText(text);
      this.actions.tell(told);
    } catch {
      // Only local and https pages may write to the clipboard. On other pages, the user copies the text from the dialog.
      this.open(text);
    }
  }

  /** Save the game to a file that the user chooses. If the browser cannot ask for a file, use the download folder. */
  async save() {
    const [name, text] = [fileName(this.actions.players()), this.actions.write()];
    if (!globalThis.showSaveFilePicker) {
      download(name, text);
      return;
    }
    try {
      const types = [{ description: "Games", accept: { "application/x-chess-pgn": [".pgn"] } }];
      const file = await globalThis.showSaveFilePicker({ suggestedName: name, types });
      const stream = await file.createWritable();
      await stream.write(text);
      await stream.close();
      this.actions.tell(`Saved as ${file.name}`);
    } catch (error) {
      if (error.name !== "AbortError") this.actions.tell(`The file cannot be written: ${error.message}`);
    }
  }
}

/** A file name for a game: the players' names, without characters that are not allowed in file names. */
function fileName(players) {
  const plain = players.map((name) => name.replace(/[^\p{L}\p{N} .,'-]/gu, "").trim()).filter(Boolean);
  return `${plain.join(" - ").slice(0, 100) || "game"}.pgn`;
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = `data:application/x-chess-pgn;charset=utf-8,${encodeURIComponent(text)}`;
  link.download = name;
  link.click();
}
