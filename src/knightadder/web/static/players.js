// The names above and below the board, what each side has captured, and the clocks, which go on between two messages of the server.

import { drawMaterial } from "./material.js";

const LOW = 10; // seconds below which a clock is marked, and shows tenths

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

  /** Take the clocks, {white, black: seconds, running: side or null}, or null for none. */
  setClock(clock) {
    this.clock = clock && { ...clock, since: performance.now() };
    this.render();
  }

  /** Take what each side has captured, as `materialOf` gives it. */
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
      display.hidden = !this.clock;
      if (!this.clock) return;
      const running = this.clock.running === side;
      const used = running ? (performance.now() - this.clock.since) / 1000 : 0;
      const left = Math.max(this.clock[side] - used, 0);
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

export function clockText(seconds) {
  if (seconds < LOW) return `0:0${seconds.toFixed(1)}`.replace("0:010.0", "0:10");
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}
