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

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw isAbort(error) ? error : new ServerError({});
  }
}

// Null for a page of a proxy, or an answer that was cut.
async function bodyOf(response) {
  try {
    return await response.json();
  } catch (error) {
    if (isAbort(error)) throw error;
    return null;
  }
}

function failureOf(response, body) {
  const seconds = Number.parseFloat(response.headers.get("Retry-After"));
  return new ServerError({
    status: response.ok ? 0 : response.status,
    text: String(body?.error?.message || body?.error || body?.message || ""),
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}

async function send(path, options) {
  const response = await reach(path, options), body = await bodyOf(response);
  if (response.ok && body !== null) return body;
  throw failureOf(response, body);
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

/// What the server asks of its clients: {keyRequired, charLimit, languageModels: [{id, context}], encoders: [{id, head, labels, mask, ...}], ...}. Without `language`
/// it has no models that translate.
export function settings() {
  return send("/frontend/settings");
}

/// {translatedText, alternatives}
export function translate({ text, source, target, alternatives }, signal) {
  return post("/translate", { q: text, source, target, alternatives, format: "text" }, signal);
}

// Programs for OpenAI's interface send the key so.
function bearer() {
  return { "Content-Type": "application/json", ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}) };
}

/// Asks an encoder. @param route  embeddings, classify, tag or fill-mask
export function encode(route, body, signal) {
  return send(`/v1/${route}`, { method: "POST", headers: bearer(), body: JSON.stringify(body), signal });
}

async function nextOf(reader) {
  try {
    return await reader.read();
  } catch (error) {
    throw isAbort(error) ? error : new ServerError({});
  }
}

/// Continues a prompt, with the fields of /v1/completions. Calls onEvent with the data of each event of the stream, and
/// ends with it.
export async function complete(body, signal, onEvent) {
  const response = await reach("/v1/completions", {
    method: "POST", headers: bearer(), body: JSON.stringify({ ...body, stream: true }), signal,
  });
  if (!response.ok) throw failureOf(response, await bodyOf(response));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "";;) {
    const { done, value } = await nextOf(reader);
    if (done) throw new ServerError({}); // cut off before its last event
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.replace(/^data: /, "");
      if (data === "[DONE]") return;
      const told = JSON.parse(data);
      if (told.error) throw new ServerError({ status: 500, text: String(told.error.message) });
      onEvent(told);
    }
  }
}

/// See docs/inspect.md.
export function inspect(body, signal) {
  return post("/v1/inspect", body, signal);
}

const cards = new Map();

/// What is known about a model, {source, target} of a language pair or {model} by its name; asked for once. `examples`
/// are sentences of its validation text.
export async function modelCard({ source, target, model }) {
  const path = `/v1/model?${new URLSearchParams(model ? { model } : { source, target })}`;
  if (!cards.has(path)) cards.set(path, await send(path));
  return cards.get(path);
}
