// Sends requests to the server.

/** Send a request and return the server's answer. If that fails, return `{ problem }`; `problem` is a text for the user. */
export async function ask(path, options = {}) {
  try {
    const answer = await fetch(path, options);
    if (!answer.ok) throw new Error(await answer.text());
    return await answer.json();
  } catch (error) {
    return { problem: `There is no answer from the server (${error.message})` };
  }
}
