// Stores the loaded file, the edited games and the current position of each tab in the browser. After the server has
// restarted, they are restored. The files that were on the board before are stored too, because undoing leads back to them.

import { read, write } from "./stored.js";

const FILE = { number: 0, pgn: "", raw: false };
const EDITED = { "*": "" };
const PLACES = { "*": [0] };

export class Keeping {
  /** @param {(text: string) => void} tell shows the user a message */
  constructor(tell) {
    this.tell = tell;
    this.full = false; // whether the browser has refused to store a game
    this.sent = new Map(); // the page's number for a file that the server has not loaded yet -> {pgn, raw}
    this.forget();
  }

  /** Take the name of the server. Unless the tab's session on it continues, forget the files of the previous server. */
  connected({ server, continued }) {
    this.server = server;
    if (!continued) this.forget();
    else if (this.file === null) this.reload();
  }

  /** Forget the files of the previous server. */
  forget() {
    // The server's number for a file -> {number, pgn, raw, edited, places}. `pgn` is "" if the file has only one game;
    // `edited` has the PGN of each game that differs from the file, and `places` their places among the saved games, by index.
    this.files = new Map();
    this.sent.clear();
    this.file = this.index = null;
  }

  /** Read the files of this server that the tab stored before the page was reloaded. */
  reload() {
    const current = this.read("file", { ...FILE, server: "" });
    if (current?.server !== this.server) return;
    const earlier = this.read("earlier", [{ ...FILE, edited: EDITED, places: PLACES }]) ?? [];
    for (const file of [...earlier, { ...current, ...this.games() }]) this.files.set(file.number, file);
  }

  /** The stored games of the current file. */
  games() {
    return { edited: this.read("edited", EDITED) ?? {}, places: this.read("places", PLACES) ?? {} };
  }

  /** The message that restores this tab on a new server; null if nothing is stored. */
  saved() {
    const { pgn, raw } = this.read("file", FILE) ?? { pgn: "", raw: false };
    const { edited, places } = this.games();
    if (!pgn && !Object.keys(edited).length) return null;
    const [index, path, began] = [this.read("index", 0) ?? 0, this.read("path", [0]) ?? [], this.read("began", 0)];
    return { pgn, raw, edited, places, index, path, began };
  }

  /** Continue with the stored games after a new server has loaded them. */
  restored(saved) {
    this.restoring = saved;
  }

  /** Return the page's number for a file that it sends to the server. The server answers with this number. */
  send(file) {
    const number = (this.read("sent", 0) ?? 0) + 1; // numbers go on after a reload, because the server knows earlier ones
    this.write("sent", number);
    this.sent.set(number, file);
    return number;
  }

  /** Whether a file and a game that the server has put on the board replace other ones. */
  isNew({ file, index }) {
    return this.file !== null && (file !== this.file || index !== this.index);
  }

  /** Store the file and the game that the server has put on the board. `file` is the server's number for the file. */
  open({ file, sent, index, titles, place, began }, game, path) {
    const isReloaded = this.file === null && this.files.has(file);
    if (file !== this.file || index !== this.index) this.first = isReloaded ? null : game; // null: it may have changed
    if (!this.files.has(file)) {
      const known = this.restoring ?? this.sent.get(sent);
      const { pgn, raw } = known && titles.length > 1 ? known : { pgn: "", raw: false };
      this.files.set(file, { number: file, pgn, raw, edited: known?.edited ?? {}, places: known?.places ?? {} });
      for (const number of this.sent.keys()) if (number <= sent) this.sent.delete(number); // the earlier ones were refused
    }
    this.restoring = null;
    const isOther = file !== this.file;
    Object.assign(this, { file, index });
    if (isOther) this.storeFile();
    this.write("began", began);
    this.write("index", index);
    this.keepPlace({ file, index, place });
    this.keep(game, path);
    if (isOther) this.storeEarlier();
  }

  /** Store the text of the current file instead of that of the file before. If there is no room, only games are stored. */
  storeFile() {
    const file = this.files.get(this.file);
    for (const key of ["file", "edited", "places", "earlier"]) sessionStorage.removeItem(key);
    const { number, pgn, raw } = file;
    if (!this.write("file", { number, pgn, raw, server: this.server })) file.pgn = "";
  }

  /** Store the other files, or as many of the newest as there is room for. */
  storeEarlier() {
    const earlier = [...this.files.values()].filter(({ number, pgn }) => pgn && number !== this.file);
    while (earlier.length && !write(sessionStorage, "earlier", earlier)) earlier.shift();
  }

  /** Store a game's place among the user's saved games. */
  keepPlace({ file, index, place }) {
    if (file !== this.file) return;
    const { places } = this.files.get(file);
    places[index] = place;
    this.write("places", places);
  }

  /** Store the current game and the path to its position on the board; `pgn` is "" for an empty game. */
  keep(pgn, path) {
    if (this.file === null) return;
    const { pgn: text, edited } = this.files.get(this.file);
    const changed = !text || pgn !== this.first || this.index in edited;
    if (changed && pgn) edited[this.index] = pgn;
    else if (changed) delete edited[this.index];
    this.write("edited", edited);
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

  /** Store a value, and return whether the browser had room for it. The earlier files make room for it. */
  write(key, value) {
    if (write(sessionStorage, key, value)) return true;
    sessionStorage.removeItem("earlier");
    if (write(sessionStorage, key, value)) return true;
    if (!this.full) this.tell("This browser cannot store such a large game: save it as PGN, or you will lose it if the server stops");
    this.full = true;
    return false;
  }
}
