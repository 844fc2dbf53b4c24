// Sends the user's answers to drills or puzzles. An answer is kept in the browser, for all tabs, until a server with the
// same files has confirmed it. The server counts an answer once, however often it is sent.

import { ask } from "./ask.js";
import { read, write } from "./stored.js";

const RETRY_AFTER = 3000; // milliseconds between two attempts
const MOST = 100; // maximum number of kept answers; then the oldest are dropped

export class Answers {
  /**
   * @param {string} key storage key
   * @param {(reply: object) => void} onRetry takes the last reply, or the problem, of each attempt after a failed one
   */
  constructor(key, onRetry) {
    Object.assign(this, { key, onRetry });
    this.attempt = Promise.resolve(); // the newest attempt to send the answers
    this.timer = 0;
    this.elsewhere = new Set(); // the paths of answers that belong to other files than the server's
  }

  /** The answers that the server has not confirmed, in the order in which the user gave them. */
  get kept() {
    return read(localStorage, this.key, [{ path: "", at: 0 }]) ?? [];
  }

  /** Send an answer after the kept ones. Return the server's reply; `{ problem }` if the answer is sent later. */
  async send(path) {
    write(localStorage, this.key, [...this.kept, { path, at: Date.now() }].slice(-MOST));
    const replies = await this.sendKept();
    if (this.elsewhere.has(path)) return { problem: "The server was restarted with a different file" };
    return replies.get(path) ?? [...replies.values()].find(({ problem }) => problem) ?? {}; // {}: another tab has sent it
  }

  /** Send the kept answers, in their order, until an attempt fails. Return the server's replies by path. */
  sendKept() {
    this.attempt = this.attempt.then(async () => {
      clearTimeout(this.timer);
      const replies = new Map();
      for (const { path, at } of this.kept.filter((each) => !this.elsewhere.has(each.path))) {
        const ago = Math.max(0, Math.round((Date.now() - at) / 1000));
        // With keepalive, the answer is sent even if the user leaves the page.
        const reply = await ask(`${path}&ago=${ago}`, { method: "POST", keepalive: true });
        if (reply.elsewhere) {
          this.elsewhere.add(path);
          continue;
        }
        replies.set(path, reply);
        if (reply.problem) {
          this.timer = setTimeout(() => this.retry(), RETRY_AFTER);
          break;
        }
        write(localStorage, this.key, this.kept.filter((each) => each.path !== path));
      }
      return replies;
    });
    return this.attempt;
  }

  async retry() {
    this.onRetry([...(await this.sendKept()).values()].at(-1) ?? {}); // {}: another tab has sent them
  }
}
