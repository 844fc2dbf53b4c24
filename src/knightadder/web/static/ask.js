// Sends requests to the server.

const RESTARTED = "The server was restarted: in this browser, open the address that it has printed";

/**
 * Send a request and return the server's answer, in the form "json" or "blob". If that fails, return `{ problem }`;
 * `problem` is a text for the user.
 */
export async function ask(path, options = {}, form = "json") {
  try {
    const answer = await fetch(path, options);
    if (answer.status === 403) return { problem: RESTARTED };
    if ([404, 405].includes(answer.status)) return { problem: "The server was started without this part" };
    if (answer.status === 503) return { problem: await answer.text() };
    if (!answer.ok) throw new Error(await answer.text());
    return await answer[form]();
  } catch (error) {
    return { problem: `There is no answer from the server (${error.message})` };
  }
}
