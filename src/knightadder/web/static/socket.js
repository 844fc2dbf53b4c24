// The connection to the server: messages are JSON objects with a type. It comes back by itself after a break.

const LONGEST_WAIT = 10; // seconds between two attempts

export class Socket {
  constructor() {
    this.handlers = new Map();
    this.waiting = 0.5;
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
    this.socket = new WebSocket(`${scheme}//${location.host}/socket`);
    this.socket.addEventListener("open", () => {
      this.waiting = 0.5;
      this.emit({ type: "open" });
    });
    this.socket.addEventListener("message", (event) => this.emit(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => {
      this.emit({ type: "closed", reason: event.reason });
      setTimeout(() => this.connect(), this.waiting * 1000);
      this.waiting = Math.min(this.waiting * 2, LONGEST_WAIT);
    });
  }

  send(type, fields = {}) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...fields }));
  }
}
