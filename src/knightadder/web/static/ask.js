// Sends the requests of the puzzle page and the drill page to the server.

/**
 * Send a request and return the server's answer. If that fails, show the error in `problem` and return null.
 *
 * @param {HTMLElement} problem
 */
export async function ask(problem, path, options = {}) {
  let found;
  try {
    const answer = await fetch(path, options);
    if (!answer.ok) throw new Error(await answer.text());
    found = await answer.json();
  } catch (error) {
    found = { problem: `There is no answer from the server (${error.message})` };
  }
  if (!found.problem) return found;
  problem.textContent = found.problem;
  problem.hidden = false;
  return null;
}
