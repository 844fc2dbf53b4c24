// The connection to the server: messages are JSON objects with a type. A lost connection is reopened automatically.

const LONGEST_WAIT = 10; // seconds between two attempts
const TAKEN_OVER = 4001; // the server's closing code when another tab connects with this tab's name
const KEY = "tab";

export class Socket {
  constructor() {
    this.handlers = new Map();
    this.waiting = 0.5;
    this.timer = 0;
    this.name = sessionStorage.getItem(KEY) ?? newName();
    // A tab that is duplicated copies the storage, so the name is there only while the page goes or is hidden.
    const keepName = (hidden) => (hidden ? sessionStorage.setItem(KEY, this.name) : sessionStorage.removeItem(KEY));
    keepName(document.hidden);
    addEventListener("visibilitychange", () => keepName(document.hidden));
    addEventListener("pagehide", () => keepName(true));
    addEventListener("pageshow", () => keepName(document.hidden)); // the browser's Back button may show a page from its cache
  }

  /**
   * Call `handler` with each message of this type. "open" and "closed" come from the connection itself; "closed"
   * comes once more, with the `cause`, as soon as `causeOfLoss` has found it.
   */
  on(type, handler) {
    this.handlers.set(type, [...(this.handlers.get(type) ?? []), handler]);
  }

  emit(message) {
    for (const handler of this.handlers.get(message.type) ?? []) handler(message);
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket?tab=${this.name}`);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.waiting = 0.5;
      this.emit({ type: "open" });
    });
    socket.addEventListener("message", (event) => this.emit(JSON.parse(event.data)));
    socket.addEventListener("close", async ({ code, reason }) => {
      if (this.socket !== socket) return; // a newer socket has been opened already
      if (code === TAKEN_OVER) this.name = newName();
      this.emit({ type: "closed", reason });
      this.timer = setTimeout(() => this.connect(), this.waiting * 1000);
      this.waiting = Math.min(this.waiting * 2, LONGEST_WAIT);
      const cause = reason ? "refused" : await causeOfLoss();
      if (this.socket === socket && !this.isOpen) this.emit({ type: "closed", reason, cause });
    });
  }

  /** Try to reconnect immediately. */
  retry() {
    if (this.socket.readyState === WebSocket.CLOSED) this.connect();
  }

  /** Send a message if there is a connection, and return whether there is one. */
  send(type, fields = {}) {
    if (this.isOpen) this.socket.send(JSON.stringify({ type, ...fields }));
    return this.isOpen;
  }
}

/** Why there is no connection: "restarted" if a new server does not know this browser, "gone" if none answers, else "lost". */
async function causeOfLoss() {
  try {
    const { status } = await fetch("/", { method: "HEAD", cache: "no-store" });
    return status === 403 ? "restarted" : "lost";
  } catch {
    return "gone";
  }
}

/** A name for a new tab, by which it finds its session again. */
function newName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
