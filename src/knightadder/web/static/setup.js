// The form for a new game, with the user's side, the engine's strength, the clock and the start position.

import { restoreValue } from "./elements.js";
import { read, write } from "./stored.js";

// The levels of strength: the highest Elo and the name of each level.
const LEVELS = [
  [700, "beginner"],
  [1050, "learner"],
  [1350, "casual player"],
  [1650, "club player"],
  [1950, "strong club player"],
  [2250, "expert"],
  [2550, "master"],
  [Infinity, "grandmaster"],
];

const KEY = "new game";
const KEPT = ["color", "strength", "clock", "minutes", "increment", "move_time", "start", "number"]; // fields

export class Setup {
  /**
   * @param {HTMLFormElement} form
   * @param {(fields: object) => void} onStart gets the fields of the message "new_game"
   */
  constructor(form, onStart) {
    this.form = form;
    this.strongest = Infinity; // the highest Elo that can be chosen; the slider's next step is full strength
    const { strength } = form.elements;
    strength.max = String(Math.max(strength.max, Number(this.kept.strength) || 0)); // the server sends the range later
    this.restore();
    form.addEventListener("input", () => {
      this.render();
      this.keep();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      onStart(this.fields());
    });
    this.render();
  }

  /** Set the range of Elo ratings that the engine can be limited to. The first time, restore the user's last choice. */
  setStrengths({ min, max }) {
    const { strength } = this.form.elements;
    const first = this.strongest === Infinity;
    this.strongest = max;
    strength.min = String(min);
    strength.max = String(max + Number(strength.step));
    if (first) restoreValue(strength, this.kept.strength ?? strength.value);
    this.render();
  }

  /** Store the choices in the browser, for all tabs. The position on the board belongs only to this tab. */
  keep() {
    const { elements } = this.form;
    const chosen = Object.fromEntries(KEPT.map((name) => [name, elements[name].value]));
    if (chosen.start === "here") chosen.start = this.kept.start;
    write(localStorage, KEY, { ...chosen, pace: elements.pace.checked });
  }

  restore() {
    const chosen = this.kept;
    for (const name of KEPT) if (name in chosen) restoreValue(this.form.elements[name], chosen[name]);
    this.form.elements.pace.checked = chosen.pace ?? true;
  }

  /** The chosen strength in Elo; null for full strength. */
  get elo() {
    const elo = Number(this.form.elements.strength.value);
    return elo > this.strongest ? null : elo;
  }

  /** Fill in the form for a game from the position on the board, with the user as `side` (default: the side in the form). */
  chooseHere(side = this.form.elements.color.value) {
    this.form.elements.start.value = "here";
    this.form.elements.color.value = side;
    this.render();
  }

  /** Start from the last remembered choice again, not from the position on the board. */
  leaveHere() {
    const { start } = this.form.elements;
    if (start.value === "here") restoreValue(start, this.kept.start ?? start.options[0].value);
    this.render();
  }

  /** Let the user choose the position on the board only if the game can go on there. */
  allowHere(possible) {
    this.form.elements.start.querySelector("[value=here]").disabled = !possible;
    if (!possible) this.leaveHere();
  }

  get kept() {
    return read(localStorage, KEY, {}) ?? {};
  }

  render() {
    const { strength } = this.form.elements;
    const text = this.elo === null ? "Full" : `${this.elo} Elo: ${LEVELS.find(([elo]) => this.elo <= elo)[1]}`;
    this.form.querySelector("[data-limited]").hidden = this.elo === null;
    this.form.querySelector("output").textContent = text;
    strength.setAttribute("aria-valuetext", text);
    for (const field of this.form.querySelectorAll("[data-when]")) {
      const [name, value] = field.dataset.when.split("=");
      field.hidden = this.form.elements[name].value !== value;
      // Hidden fields are disabled, so that the browser does not check them: it could not show an error there.
      for (const input of field.querySelectorAll("input, select")) input.disabled = field.hidden;
    }
  }

  fields() {
    const { color, clock, pace, move_time: moveTime, start, number, minutes, increment } = this.form.elements;
    const fields = { color: color.value, start: start.value, elo: this.elo, pace: pace.checked };
    if (clock.value === "custom") {
      fields.initial = Number(minutes.value) * 60;
      fields.increment = Number(increment.value);
    } else if (clock.value) {
      [fields.initial, fields.increment] = clock.value.split("+").map(Number);
    } else {
      fields.move_time = Number(moveTime.value);
    }
    if (start.value === "chess960" && number.value !== "") fields.number = Number(number.value);
    return fields;
  }
}
