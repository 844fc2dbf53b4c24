// What the page says while it has no connection to the server, with the ways back.

const TEXTS = {
  lost: ["No connection to the server", "Trying again…"],
  gone: ["The server does not answer", "Start it again by “knightadder play”. Your moves are kept in this tab."],
  restarted: [
    "The server was restarted",
    "Its address is new: open the one that “knightadder play” has printed in this browser. Then this tab continues with your moves.",
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

  /** Say why there is no connection: by what the server said, or by the cause that is known. */
  show(reason, cause = "lost") {
    const [title, text] = reason ? [reason[0].toUpperCase() + reason.slice(1), "Trying again…"] : TEXTS[cause];
    this.element.querySelector("b").textContent = title;
    this.element.querySelector("span").textContent = text;
    this.element.hidden = false;
  }

  hide() {
    this.element.hidden = true;
  }
}
