// Shows how well each side played in the line on the board: accuracy, number of moves with each mark, and average loss.
// Also shows the name of the line's opening.

const COLUMNS = [
  ["accuracy", "Accuracy", "Accuracy in percent, by Lichess's formula"],
  ["brilliant", "!!", "Brilliant moves"],
  ["great", "!", "Great moves"],
  ["inaccuracies", "?!", "Inaccuracies"],
  ["mistakes", "?", "Mistakes"],
  ["blunders", "??", "Blunders"],
  ["missed", "✕", "Missed chances: bad replies to a mistake or blunder of the other side"],
  ["centipawn_loss", "Loss", "Average loss per move in centipawns"],
];

/**
 * Show a summary in an element. If the summary is null, hide the element.
 *
 * @param {HTMLElement} element
 * @param {?{white: ?object, black: ?object, opening: ?{eco: string, name: string}}} summary as the server describes it
 * @param {{white: string, black: string}} names the players' names
 */
export function showSummary(element, summary, names) {
  element.hidden = !summary;
  if (!summary) return;
  const opening = element.querySelector(".opening");
  opening.textContent = opening.title = summary.opening ? `${summary.opening.eco} ${summary.opening.name}` : "";
  const table = element.querySelector("table");
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  head.append(cell("td", ""), ...COLUMNS.map(([, text, title]) => cell("th", text, title)));
  const body = table.createTBody();
  for (const side of ["white", "black"]) {
    const row = body.insertRow();
    row.dataset.side = side;
    row.append(cell("th", names[side], names[side]));
    for (const [key] of COLUMNS) row.append(cell("td", value(key, summary[side]?.[key])));
  }
}

function value(key, number) {
  if (number == null) return "–"; // a side that has not moved
  return key === "accuracy" ? `${number.toFixed(1)} %` : String(number);
}

function cell(name, text, title = "") {
  return Object.assign(document.createElement(name), { textContent: text, title });
}
