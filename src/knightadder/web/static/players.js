// Shows each player's name, captured pieces and clock above or below the board. Between two messages from the
// server, the page itself counts down the running clock.

import { clockText, LOW } from "./clocks.js";
import { drawMaterial } from "./material.js";

export class Players {
  constructor(top, bottom) {
    this.strips = [top, bottom];
    this.names = { white: "White", black: "Black" };
    this.material = null;
    this.clock = null;
    this.flipped = false;
    setInterval(() => this.render(), 100);
  }

  setNames(white, black) {
    this.names = { white, black };
    this.render();
  }

  /**
   * Set the clocks; null hides them.
   *
   * @param {?{white: ?number, black: ?number, running: ?string, since: number}} clock `white` and `black` are the
   *   seconds left, null if unknown; `running` is the side whose clock runs, null if neither does; `since` is the value
   *   of performance.now() when these seconds were measured
   */
  setClock(clock) {
    this.clock = clock;
    this.render();
  }

  /** Stop the clock when the connection is lost, because the true time is then unknown. */
  stopClock() {
    if (this.clock?.running) this.setClock({ ...this.clock, ...this.left(), running: null });
  }

  /** The seconds that each side has left now. */
  left() {
    const { white, black, running, since } = this.clock;
    const left = { white, black };
    if (running) left[running] = Math.max(left[running] - (performance.now() - since) / 1000, 0);
    return left;
  }

  /** Show the captured pieces and material leads, given as `materialOf` returns them. */
  setMaterial(material) {
    this.material = material;
    this.strips.forEach((strip, index) => drawMaterial(strip.querySelector(".captured"), material[this.sides[index]]));
  }

  flip(flipped) {
    this.flipped = flipped;
    this.render();
    if (this.material) this.setMaterial(this.material);
  }

  get sides() {
    return this.flipped ? ["white", "black"] : ["black", "white"];
  }

  render() {
    this.strips.forEach((strip, index) => {
      const side = this.sides[index];
      strip.dataset.side = side;
      set(strip.querySelector(".name"), this.names[side]);
      const display = strip.querySelector(".clock");
      const left = this.clock && this.left()[side];
      display.hidden = left == null;
      if (left == null) return;
      const running = this.clock.running === side;
      set(display, clockText(left));
      display.classList.toggle("running", running);
      display.classList.toggle("low", running && left < LOW);
      display.setAttribute("aria-label", `${side}'s clock`);
    });
  }
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
