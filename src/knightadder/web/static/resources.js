// The dialog for the engine's search threads and hash size. The browser stores the choice for later tabs.

import { read, write } from "./stored.js";

const KEY = "resources";

export class Resources {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {HTMLButtonElement} button opens the dialog
   * @param {(chosen: {threads: number, hash: number}) => void} send
   */
  constructor(dialog, button, send) {
    this.form = dialog.querySelector("form");
    this.send = send;
    button.addEventListener("click", () => {
      if (!this.told) return;
      this.fill(this.told);
      dialog.returnValue = "";
      dialog.showModal();
    });
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "use") return;
      const chosen = { threads: Number(this.form.elements.threads.value), hash: Number(this.form.elements.hash.value) };
      write(localStorage, KEY, chosen);
      if (this.told) this.told = { ...this.told, ...chosen }; // the dialog may be opened again before the server answers
      this.send(chosen);
    });
  }

  fill({ threads, hash, max_threads: maxThreads, max_hash: maxHash }) {
    const { elements } = this.form;
    elements.threads.max = String(maxThreads);
    elements.hash.max = String(maxHash);
    elements.threads.value = String(threads);
    elements.hash.value = String(hash);
    this.form.querySelector(".limits").textContent = `At most ${maxThreads} threads and ${maxHash} MB for each tab.`;
  }

  /**
   * Store the engine's settings, which the server has sent. After the first such message, ask the server for the values that
   * the user chose earlier, reduced to the server's limits if they are higher.
   */
  take(told) {
    const first = !this.told;
    this.told = told;
    const kept = read(localStorage, KEY, { threads: 0, hash: 0 });
    if (!first || !kept) return;
    const chosen = { threads: Math.min(kept.threads, told.max_threads), hash: Math.min(kept.hash, told.max_hash) };
    if (chosen.threads !== told.threads || chosen.hash !== told.hash) this.send(chosen);
  }

  /** Forget the settings when the connection is lost, because the next server may have different limits. */
  forget() {
    this.told = null;
  }
}
