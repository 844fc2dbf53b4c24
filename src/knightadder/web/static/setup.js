// The form for a new game: side, strength, clock, start position.

const FULL = "2650"; // the slider's last step, beyond what can be limited

export class Setup {
  /**
   * @param {HTMLFormElement} form
   * @param {(fields: object) => void} onStart gets the fields of the message new_game
   */
  constructor(form, onStart) {
    this.form = form;
    form.addEventListener("input", () => this.render());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      onStart(this.fields());
    });
    this.render();
  }

  /** Start from the position on the board next. */
  chooseHere() {
    this.form.elements.start.value = "here";
    this.render();
  }

  render() {
    const { strength } = this.form.elements;
    this.form.querySelector("output").textContent = strength.value === FULL ? "Full" : `${strength.value} Elo`;
    strength.setAttribute("aria-valuetext", strength.value === FULL ? "full strength" : `${strength.value} Elo`);
    for (const field of this.form.querySelectorAll("[data-when]")) {
      const [name, value] = field.dataset.when.split("=");
      field.hidden = this.form.elements[name].value !== value;
    }
  }

  fields() {
    const { color, strength, clock, move_time: moveTime, start, number, minutes, increment } = this.form.elements;
    const fields = { color: color.value, start: start.value, elo: strength.value === FULL ? null : Number(strength.value) };
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
