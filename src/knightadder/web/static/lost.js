// The message shown while there is no connection to the server, with buttons to reconnect and to save the game.

import { say } from "./elements.js";

const TEXTS = {
  lost: ["No connection to the server", "Trying again…"],
  gone: ["The server does not answer", "Start it again. Your moves are kept in this tab."],
  restarted: [
    "The server was restarted",
    "Its address is new: in this browser, open the address that it has printed. Then this tab continues with your moves.",
  ],
};

export class Lost {
  /**
   * @param {HTMLElement} element
   * @param {{retry: () => void, save: () => void}} actions
   */
  constructor(element, { retry, save }) {
    this.element = element;
    element.querySelector(".retry").addEventListener("click", retry);
    element.querySelector(".save").addEventListener("click", save);
  }

  /**
   * Show why there is no connection: the reason that the server sent, or the text for `cause` if it sent none. The cause is
   * undefined until it is known. Each failed attempt to connect calls this, and says nothing new.
   */
  show(reason, cause) {
    if (!cause && !this.element.hidden) return;
    const [title, text] = reason ? [reason[0].toUpperCase() + reason.slice(1), "Trying again…"] : TEXTS[cause ?? "lost"];
    say(this.element.querySelector("b"), title);
    say(this.element.querySelector("span"), text);
    this.element.hidden = false;
  }

  hide() {
    this.element.hidden = true;
  }
}
