// Keeps what is on the board in the browser, tab by tab: the file, the edited games and the place, for a server that is new.

export class Keeping {
  /** @param {(text: string) => void} tell tells the user something */
  constructor(tell) {
    this.tell = tell;
    this.full = false; // whether the browser has refused to keep a game
    this.texts = new Map(); // the files that the server knows, by its numbers: {pgn, raw}
    this.sent = null; // the file that has been sent last
    this.forget();
  }

  /** Nothing is known of the server's files: it is new. */
  forget() {
    this.texts.clear();
    this.file = this.index = null;
    this.edited = {}; // the games that are not as in the file, as PGN by their index
  }

  /** What to send to a server that does not know this tab; null if there is nothing. */
  saved() {
    const { pgn = "", raw = false } = read("file") ?? {};
    const edited = read("edited") ?? {};
    if (!pgn && !Object.keys(edited).length) return null;
    return { pgn, raw, edited, index: read("index") ?? 0, path: read("path") ?? [] };
  }

  /** A new server has brought back what was saved. */
  restored({ pgn, raw, edited }) {
    this.sent = { pgn, raw };
    this.restoring = edited;
  }

  /** Take the server's word on which game is on the board, of which file. */
  open({ file, index, titles }, pgn, path) {
    const same = file === this.file;
    if (!same) {
      if (!this.texts.has(file)) this.texts.set(file, titles.length > 1 ? this.sent : null);
      this.sent = null;
      this.edited = this.restoring ?? {};
      this.restoring = null;
    }
    if (!same || index !== this.index) this.first = pgn;
    Object.assign(this, { file, index });
    if (!same) this.write("file", this.texts.get(file));
    this.write("index", index);
    this.keep(pgn, path);
  }

  /** Keep the game as it is now; `pgn` is empty if there is nothing in it. */
  keep(pgn, path) {
    if (this.file === null) return;
    const changed = !this.texts.get(this.file) || pgn !== this.first || this.index in this.edited;
    if (changed && pgn) this.edited[this.index] = pgn;
    else if (changed) delete this.edited[this.index];
    this.write("edited", this.edited);
    this.write("path", path);
  }

  /** Keep the place in the game. */
  keepPath(path) {
    if (this.file !== null) this.write("path", path);
  }

  write(key, value) {
    try {
      sessionStorage.setItem(key, JSON.stringify(value));
    } catch {
      if (!this.full) this.tell("This browser cannot store such a large game: save it as PGN, or it will be lost if the server ends");
      this.full = true;
    }
  }
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null; // of another version
  }
}
