// Positions and games in and out: FEN, and PGN by text, file, clipboard and drop.

const LONGEST = 512 * 1024; // bytes; the server takes no more

export class Transfer {
  /**
   * @param {{onFen: (fen: string) => void, onPgn: (pgn: string, index: number, raw: boolean) => void, write: () => string,
   *   tell: (text: string) => void}} actions `raw` says that each character is a byte of a file; `write` gives
   *   the PGN of the game on the board
   */
  constructor(actions) {
    this.actions = actions;
    this.loaded = ["", false]; // the text that the game was chosen from, and whether it is raw
    this.dialog = byId("pgn-dialog");
    this.text = byId("pgn-text");
    this.games = byId("games");
    byId("fen-form").addEventListener("submit", (event) => {
      event.preventDefault();
      actions.onFen(byId("fen").value);
    });
    byId("load-pgn").addEventListener("click", () => {
      this.dialog.returnValue = "";
      this.dialog.showModal();
      this.text.select(); // the last text: to be mended if it had an error, or pasted over
    });
    this.dialog.addEventListener("close", () => {
      const text = this.text.value;
      if (this.dialog.returnValue === "load" && this.fits("the PGN", new Blob([text]).size)) this.load(text);
    });
    byId("pgn-file").addEventListener("change", ({ target }) => {
      const [file] = target.files;
      target.value = ""; // so that the same file can be chosen again
      this.read(file);
    });
    this.games.addEventListener("change", () => this.choose(Number(this.games.value)));
    byId("copy-pgn").addEventListener("click", () => this.copy());
    byId("save-pgn").addEventListener("click", () => this.save());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) this.read(event.dataTransfer.files[0]);
    });
  }

  async read(file) {
    if (!file) return;
    this.dialog.close("");
    if (!this.fits(file.name, file.size)) return;
    // The server finds out the encoding.
    this.load(Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""), true);
  }

  /** Whether the server takes so many bytes; if not, tell it. */
  fits(name, size) {
    if (size > LONGEST) this.actions.tell(`${name} has more than ${LONGEST / 1024} KB; load a part of it`);
    return size <= LONGEST;
  }

  load(text, raw = false) {
    this.loaded = [text, raw];
    this.choose(0);
  }

  choose(index) {
    const [text, raw] = this.loaded;
    this.actions.onPgn(text, index, raw);
  }

  /** Let the user choose among the games of the text, if there are several. */
  showGames({ titles, index }) {
    this.games.replaceChildren(...titles.map((title, number) => new Option(`${number + 1}. ${title}`, String(number))));
    this.games.value = String(index);
    byId("games-field").hidden = titles.length < 2;
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.actions.write());
      this.actions.tell("The PGN is in the clipboard");
    } catch {
      // Browsers let only pages of this machine, or with https, write there: show it to be copied by hand.
      this.text.value = this.actions.write();
      this.dialog.showModal();
      this.text.select();
    }
  }

  save() {
    const link = document.createElement("a");
    link.href = `data:application/x-chess-pgn;charset=utf-8,${encodeURIComponent(this.actions.write())}`;
    link.download = "game.pgn";
    link.click();
  }
}

function byId(id) {
  return document.getElementById(id);
}
