// Talking to the server. Every failure becomes an Error whose message is the server's own sentence.

async function read(response) {
  let body;
  try {
    body = await response.json();
  } catch {
    throw new Error(`${response.status} ${response.statusText}`);
  }
  if (!response.ok) {
    throw new Error(body.error || body.message || `${response.status} ${response.statusText}`);
  }
  return body;
}

let apiKey = "";

/// The key that requests are sent with from now on, where the server asks for one.
export function setApiKey(key) {
  apiKey = key;
}

async function post(path, body, signal) {
  return read(await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(apiKey ? { ...body, api_key: apiKey } : body),
    signal,
  }));
}

/// [{code, name, targets: [code]}]
export async function languages() {
  return read(await fetch("/languages"));
}

/// What the server asks of its clients: {keyRequired, charLimit, ...}
export async function settings() {
  return read(await fetch("/frontend/settings"));
}

/// {translatedText, alternatives}
export function translate({ text, source, target, alternatives }, signal) {
  return post("/translate", { q: text, source, target, alternatives, format: "text" }, signal);
}

/// See docs/inspect.md.
export function inspect(body, signal) {
  return post("/v1/inspect", body, signal);
}

/// What is known about the model of a language pair.
export async function modelCard(source, target) {
  return read(await fetch(`/v1/model?source=${encodeURIComponent(source)}&target=${encodeURIComponent(target)}`));
}

export function isAbort(error) {
  return error.name === "AbortError";
}
