// Writes clock times as text, and reads them from the comments on a game's moves.

export const LOW = 10; // a clock with fewer seconds than this is highlighted and shows tenths of a second

export function clockText(seconds) {
  if (seconds < LOW) return `0:0${seconds.toFixed(1)}`.replace("0:010.0", "0:10");
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

/**
 * The time that a PGN command gives in the comment on a node's move, in seconds: 299.5 for [%clk 0:04:59.5]. It is null if
 * the comment does not contain the command.
 */
export function seconds(node, command) {
  const [, hours, minutes, rest] = node.comment.match(new RegExp(`\\[%${command} (\\d+):(\\d+):([\\d.]+)\\]`)) ?? [];
  return rest === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
}

/**
 * Both clocks at a node, read from the comments on the moves up to the node; null if no comment contains a clock time.
 *
 * @param {import("./tree.js").Tree} tree
 * @param {number} id
 * @param {string} [control] the value of the PGN tag TimeControl; it gives the time of a side that has not moved yet
 */
export function clocksAt(tree, id, control) {
  if (!tree.line(id).some((node) => seconds(node, "clk") !== null)) return null;
  const initial = control?.match(/^(?:\d+\/)?(\d+)/)?.[1];
  const clock = { white: initial ? Number(initial) : null, black: initial ? Number(initial) : null, running: null };
  for (let node = tree.get(id), found = {}; node; node = tree.get(node.parent)) {
    const side = node.ply % 2 ? "white" : "black";
    const left = seconds(node, "clk");
    if (left !== null && !found[side]) clock[side] = left;
    found[side] ||= left !== null;
  }
  return clock;
}
