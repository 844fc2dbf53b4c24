// Stores the loaded file, the edited games and the current position of each tab in the browser. After the server has
// restarted, they are restored.

import { read, write } from "./stored.js";

export class Keeping {
  /** @param {(text: string) => void} tell shows the user a message */
  constructor(tell) {
    this.tell = tell;
    this.full = false; // whether the browser has refused to store a game
    this.texts = new Map(); // the server's number for a file -> {pgn, raw}
    this.sent = new Map(); // the page's number for a file that the server has not loaded yet -> {pgn, raw}
    this.last = 0; // the highest of these numbers
    this.forget();
  }

  /** Take the name of the server. Unless the tab's session on it continues, forget the files of the previous server. */
  connected({ server, continued }) {
    this.server = server;
    if (!continued) this.forget();
  }

  /** Forget the files of the previous server. */
  forget() {
    this.texts.clear();
    this.sent.clear();
    this.file = this.index = null;
    this.edited = {}; // game index -> PGN of each game that differs from the file
    this.places = {}; // game index -> the game's place among the user's saved games
  }

  /** The message that restores this tab on a new server; null if nothing is stored. */
  saved() {
    const { pgn, raw } = this.read("file", { pgn: "", raw: false }) ?? { pgn: "", raw: false };
    const edited = this.read("edited", { "*": "" }) ?? {};
    const places = this.read("places", { "*": [0] }) ?? {};
    if (!pgn && !Object.keys(edited).length) return null;
    const [index, path, began] = [this.read("index", 0) ?? 0, this.read("path", [0]) ?? [], this.read("began", 0)];
    return { pgn, raw, edited, places, index, path, began };
  }

  /** Continue with the stored games after a new server has loaded them. */
  restored(saved) {
    this.restoring = saved;
  }

  /** What this tab has stored of a file of the server before a reload; null if nothing is stored of this file. */
  reloaded(file) {
    const known = this.file === null ? this.read("file", { server: "", number: 0 }) : null;
    return known?.server === this.server && known.number === file ? this.saved() : null;
  }

  /** Return the page's number for a file that it sends to the server. The server answers with this number. */
  send(file) {
    this.last += 1;
    this.sent.set(this.last, file);
    return this.last;
  }

  /** Whether a file and a game that the server has put on the board replace other ones. */
  isNew({ file, index }) {
    return this.file !== null && (file !== this.file || index !== this.index);
  }

  /** Store the file and the game that the server has put on the board. `file` is the server's number for the file. */
  open({ file, sent, index, titles, place, began }, game, path) {
    const same = file === this.file;
    const reloaded = this.reloaded(file);
    if (!same) {
      const known = this.restoring ?? reloaded;
      const text = (known?.pgn ? known : this.sent.get(sent)) ?? null;
      if (!this.texts.has(file)) this.texts.set(file, titles.length > 1 ? text : null);
      for (const number of this.sent.keys()) if (number <= sent) this.sent.delete(number); // the earlier ones were refused
      this.edited = known?.edited ?? {};
      this.places = known?.places ?? {};
      this.restoring = null;
    }
    if (!same || index !== this.index) this.first = reloaded ? null : game; // the page may have missed the last change
    Object.assign(this, { file, index });
    const { pgn, raw } = this.texts.get(file) ?? { pgn: "", raw: false };
    if (!same) this.write("file", { pgn, raw, server: this.server, number: file });
    this.write("began", began);
    this.write("index", index);
    this.keepPlace({ file, index, place });
    this.keep(game, path);
  }

  /** Store a game's place among the user's saved games. */
  keepPlace({ file, index, place }) {
    if (file !== this.file) return;
    this.places[index] = place;
    this.write("places", this.places);
  }

  /** Store the current game and the path to its position on the board; `pgn` is "" for an empty game. */
  keep(pgn, path) {
    if (this.file === null) return;
    const changed = !this.texts.get(this.file) || pgn !== this.first || this.index in this.edited;
    if (changed && pgn) this.edited[this.index] = pgn;
    else if (changed) delete this.edited[this.index];
    this.write("edited", this.edited);
    this.write("path", path);
  }

  /** Store the path to the position on the board. */
  keepPath(path) {
    if (this.file !== null) this.write("path", path);
  }

  /** The value that this tab has stored under a key, in the form of a sample; null if there is none. */
  read(key, sample) {
    return read(sessionStorage, key, sample);
  }

  write(key, value) {
    if (write(sessionStorage, key, value) || this.full) return;
    this.tell("This browser cannot store such a large game: save it as PGN, or you will lose it if the server stops");
    this.full = true;
  }
}
