// Requests to the server, from the pages of puzzles and drills.

/**
 * Ask the server and give its answer; after an error, show the error in `problem` and give null.
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
