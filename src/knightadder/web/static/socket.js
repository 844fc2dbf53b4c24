// The connection to the server. Each message is a JSON object with a field `type`. A lost connection is reopened automatically.

const LONGEST_WAIT = 10; // maximum time between two attempts to connect, in seconds
const TAKEN_OVER = 4001; // the server's closing code when another tab connects with this tab's name
const KEY = "tab";

export class Socket {
  constructor() {
    this.handlers = new Map();
    this.waiting = 0.5;
    this.timer = 0;
    this.name = sessionStorage.getItem(KEY) ?? newName();
    // The name is stored only while the page is hidden or being left. Otherwise a duplicate of this tab, which gets a copy
    // of the storage, would use the same name.
    const keepName = (hidden) => (hidden ? sessionStorage.setItem(KEY, this.name) : sessionStorage.removeItem(KEY));
    keepName(document.hidden);
    addEventListener("visibilitychange", () => keepName(document.hidden));
    addEventListener("pagehide", () => keepName(true));
    addEventListener("pageshow", () => keepName(document.hidden)); // the Back button may bring back this page unchanged
  }

  /**
   * Call `handler` with each message of this type. The types "open" and "closed" do not come from the server: this class
   * emits them. When the connection is lost, it emits "closed". If the connection is still lost when the cause is known,
   * it emits "closed" again, with the field `cause`: "refused", or a result of `causeOfLoss`.
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

  /** Send a message if the connection is open, and return whether it is open. */
  send(type, fields = {}) {
    if (this.isOpen) this.socket.send(JSON.stringify({ type, ...fields }));
    return this.isOpen;
  }
}

/** Why there is no connection: "restarted" if a new server rejects this browser, "gone" if no server answers, else "lost". */
async function causeOfLoss() {
  try {
    const { status } = await fetch("/", { method: "HEAD", cache: "no-store" });
    return status === 403 ? "restarted" : "lost";
  } catch {
    return "gone";
  }
}

/** A random name for a new tab, by which the server finds the tab's session again. */
function newName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
