// What the page asks its server: with the token, if it needs one, which stays in this tab.

const key = "custodian-token";

export class TokenWanted extends Error {}

function headers() {
  const token = sessionStorage.getItem(key);
  return token ? { Authorization: "Bearer " + token } : {};
}

export function hasToken() {
  return sessionStorage.getItem(key) !== null;
}

export function keepToken(token) {
  sessionStorage.setItem(key, token.trim());
}

export function forgetToken() {
  sessionStorage.removeItem(key);
}

async function ask(url, options = {}) {
  const response = await fetch(url, { headers: headers(), cache: "no-store", ...options });
  if (response.status === 401) throw new TokenWanted();
  return response;
}

/** The JSON at an address; its error as an exception. */
export async function askJson(url) {
  const response = await ask(url);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error || "the server answers " + response.status);
  return body;
}

/** The address of a lock's queue. */
export function queueUrl(path) {
  return "/api/locks" + path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Follows the events, until the stream ends or is silent for too long: then it throws. fetch() and not EventSource, which
 * cannot show a token.
 */
export async function follow(onEvent) {
  const abort = new AbortController();
  let watchdog = setTimeout(() => abort.abort(), 30000);
  try {
    const response = await ask("/api/events", { signal: abort.signal });
    if (!response.ok) throw new Error("the server answers " + response.status);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the server has ended");
      text += value;
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const data = text.slice(0, end).split("\n").filter((line) => line.startsWith("data: "));
        const news = JSON.parse(data.map((line) => line.slice(6)).join("\n"));
        onEvent(news);
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(), 3 * news.every_ms + 30000);
      }
    }
  } finally {
    clearTimeout(watchdog);
    abort.abort();
  }
}
