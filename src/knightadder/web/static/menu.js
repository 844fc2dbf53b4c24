// The context menu of a move. A right click, a long touch or a key opens it.

const LONG = 500; // duration after which a touch counts as long, in milliseconds
const SLIP = 10; // distance that a finger may move during a long touch, in pixels

export class MoveMenu {
  /**
   * @param {HTMLElement} element the menu; each button's `data-action` names its action
   * @param {HTMLElement} list the list of moves; `data-node` of a move's button is the number of the move's node
   * @param {{allowed: () => boolean, prepare: (node: number, buttons: Object<string, HTMLButtonElement>) => string,
   *   act: (action: string, node: number) => void}} actions `prepare` hides or renames the menu's buttons to
   *   suit a node, and returns a name for the menu: the node's move
   */
  constructor(element, list, actions) {
    Object.assign(this, { element, list, actions });
    this.node = null;
    this.touched = false; // whether a long touch opened the menu; then the end of the touch must not count as a click
    list.addEventListener("contextmenu", (event) => {
      const button = event.target.closest("[data-node]");
      if (!button || !actions.allowed()) return;
      event.preventDefault();
      this.open(Number(button.dataset.node), button);
    });
    list.addEventListener("pointerdown", (event) => this.press(event));
    // Otherwise lifting the finger would focus the move, and so close the menu.
    list.addEventListener("touchend", (event) => this.touched && event.cancelable && event.preventDefault());
    list.addEventListener("click", (event) => {
      if (this.touched) event.stopImmediatePropagation();
      this.touched = false;
    }, { capture: true });
    element.addEventListener("click", (event) => {
      const action = event.target.closest("[data-action]")?.dataset.action;
      const node = this.node;
      if (!action) return;
      this.close();
      actions.act(action, node);
    });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !element.contains(event.relatedTarget)) this.close();
    });
    addEventListener("pointerdown", (event) => {
      if (!element.contains(event.target)) this.close();
    }, { capture: true });
  }

  /** Open the menu of a node's move beside the move's button, or beside the list for the start position. */
  open(node, beside = this.list.querySelector(`[data-node="${node}"]`) ?? this.list) {
    if (!this.actions.allowed()) return;
    const buttons = {};
    for (const button of this.element.querySelectorAll("[data-action]")) {
      buttons[button.dataset.action] = button;
      button.hidden = false;
    }
    this.node = node;
    this.element.setAttribute("aria-label", this.actions.prepare(node, buttons));
    this.element.hidden = false;
    const [box, { width, height }] = [beside.getBoundingClientRect(), this.element.getBoundingClientRect()];
    const below = Math.min(box.bottom, innerHeight) + 4;
    this.element.style.left = `${Math.max(4, Math.min(box.left, innerWidth - width - 4))}px`;
    this.element.style.top = `${Math.max(4, below + height < innerHeight ? below : Math.min(box.top, innerHeight) - height - 4)}px`;
    // If the menu itself already has the focus, `back` keeps the element that had it before.
    if (!this.element.contains(document.activeElement)) this.back = document.activeElement;
    this.shown[0].focus();
  }

  close() {
    if (this.element.hidden) return;
    const within = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (within) this.back?.focus?.();
  }

  get shown() {
    return [...this.element.querySelectorAll("[data-action]:not([hidden])")];
  }

  press(event) {
    this.touched = false;
    const button = event.target.closest("[data-node]");
    if (event.pointerType === "mouse" || !button || !this.actions.allowed()) return;
    const end = () => {
      clearTimeout(timer);
      for (const kind of ["pointerup", "pointercancel"]) removeEventListener(kind, end);
      removeEventListener("pointermove", slip);
    };
    const slip = (moved) => {
      if (Math.hypot(moved.clientX - event.clientX, moved.clientY - event.clientY) > SLIP) end();
    };
    const timer = setTimeout(() => {
      end();
      this.touched = true;
      this.open(Number(button.dataset.node), button);
    }, LONG);
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, end);
    addEventListener("pointermove", slip);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const { shown } = this;
    const place = shown.indexOf(document.activeElement);
    if (step) shown[(place + step + shown.length) % shown.length].focus();
    else if (event.key === "Home") shown[0].focus();
    else if (event.key === "End") shown.at(-1).focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (!["Enter", " "].includes(event.key)) return;
    event.stopPropagation(); // otherwise the key would walk through the moves
    if (step || event.key !== "Enter" && event.key !== " ") event.preventDefault();
  }
}
