// Requests to the server. Each failure becomes a ServerError, which says what went wrong in the language of the page.
import { ServerError } from "/assets/errors.js";

let apiKey = "";

/// The key that requests are sent with from now on, where the server asks for one.
export function setApiKey(key) {
  apiKey = key;
}

export function isAbort(error) {
  return error.name === "AbortError";
}

async function send(path, options) {
  let response, body = null;
  try {
    response = await fetch(path, options);
  } catch (error) {
    throw isAbort(error) ? error : new ServerError({});
  }
  try {
    body = await response.json();
  } catch (error) { // a page of a proxy, or an answer that was cut
    if (isAbort(error)) throw error;
  }
  if (response.ok && body !== null) return body;
  const seconds = Number.parseFloat(response.headers.get("Retry-After"));
  throw new ServerError({
    status: response.ok ? 0 : response.status,
    text: String(body?.error || body?.message || ""),
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}

function post(path, body, signal) {
  return send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(apiKey ? { ...body, api_key: apiKey } : body),
    signal,
  });
}

/// [{code, name, targets: [code]}]
export function languages() {
  return send("/languages");
}

/// What the server asks of its clients: {keyRequired, charLimit, ...}
export function settings() {
  return send("/frontend/settings");
}

/// {translatedText, alternatives}
export function translate({ text, source, target, alternatives }, signal) {
  return post("/translate", { q: text, source, target, alternatives, format: "text" }, signal);
}

/// See docs/inspect.md.
export function inspect(body, signal) {
  return post("/v1/inspect", body, signal);
}

const cards = new Map();

/// What is known about the model of a language pair; asked for once. `examples` are sentences of its validation text.
export async function modelCard(source, target) {
  const path = `/v1/model?source=${encodeURIComponent(source)}&target=${encodeURIComponent(target)}`;
  if (!cards.has(path)) cards.set(path, await send(path));
  return cards.get(path);
}
