// Short sounds for moves, synthesized by the browser; off until the user turns them on.

// The notes of each sound, in the order in which they are played. A note is a frequency in hertz.
const NOTES = { move: [300], capture: [220, 160], check: [520, 660], end: [392, 523, 659] };

export class Sound {
  constructor(button) {
    this.button = button;
    this.on = localStorage.getItem("sound") === "on";
    this.render();
    button.addEventListener("click", () => {
      this.on = !this.on;
      localStorage.setItem("sound", this.on ? "on" : "off");
      this.render();
      this.play("move");
    });
  }

  render() {
    this.button.setAttribute("aria-pressed", String(this.on));
  }

  play(kind) {
    if (!this.on) return;
    this.context ??= new AudioContext();
    NOTES[kind].forEach((frequency, index) => {
      const start = this.context.currentTime + index * 0.09;
      const tone = this.context.createOscillator();
      const volume = this.context.createGain();
      tone.type = "triangle";
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.25, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.12);
      tone.connect(volume).connect(this.context.destination);
      tone.start(start);
      tone.stop(start + 0.13);
    });
  }
}
