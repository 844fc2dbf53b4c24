// The connection to the server: messages are JSON objects with a type. It comes back by itself after a break.

const LONGEST_WAIT = 10; // seconds between two attempts
const TAKEN_OVER = 4001; // the code by which the server closes a connection when another tab has its name
const KEY = "tab";

export class Socket {
  constructor() {
    this.handlers = new Map();
    this.waiting = 0.5;
    this.name = sessionStorage.getItem(KEY) ?? newName();
    // A tab that is duplicated copies the storage, so the name is there only while the page goes or is hidden.
    const keepName = (hidden) => (hidden ? sessionStorage.setItem(KEY, this.name) : sessionStorage.removeItem(KEY));
    keepName(document.hidden);
    addEventListener("visibilitychange", () => keepName(document.hidden));
    addEventListener("pagehide", () => keepName(true));
  }

  /** Call `handler` with each message of this type; "open" and "closed" are those of the connection itself. */
  on(type, handler) {
    this.handlers.set(type, [...(this.handlers.get(type) ?? []), handler]);
  }

  emit(message) {
    for (const handler of this.handlers.get(message.type) ?? []) handler(message);
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/socket?tab=${this.name}`);
    this.socket.addEventListener("open", () => {
      this.waiting = 0.5;
      this.emit({ type: "open" });
    });
    this.socket.addEventListener("message", (event) => this.emit(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => {
      if (event.code === TAKEN_OVER) this.name = newName();
      this.emit({ type: "closed", reason: event.reason });
      setTimeout(() => this.connect(), this.waiting * 1000);
      this.waiting = Math.min(this.waiting * 2, LONGEST_WAIT);
    });
  }

  send(type, fields = {}) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...fields }));
  }
}

/** The name of a new tab, by which it can come back to its session. */
function newName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
