// Finds and makes elements of the page.

export const byId = (id) => document.getElementById(id);

/** Make an HTML element with a class and a text. */
export function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

const FROM_RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name for use within a text. Without the isolating characters, an Arabic or Hebrew name would reorder what is beside it. */
export const isolated = (name) => (FROM_RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

export function svgElement(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Show a title in an element, with a detail in small type, unless the element has them. */
export function showTitle(place, title, detail = "") {
  if (place.textContent !== title + detail) place.replaceChildren(title, element("small", "", detail));
}

/** Set a field to a value that the browser has stored. A list that no longer offers the value keeps its own. */
export function restoreValue(field, value) {
  const before = field.value;
  field.value = value;
  if (field.selectedIndex === -1) field.value = before;
}

/** Set an element's text unless it is the same: screen readers read an alert or a status at each change. */
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
