"""Answers that the page gets in the place of the server's: failures, slow answers, models that are not at hand."""
import json
from contextlib import contextmanager

# fakes[path] is an answer, or a list of answers of which the last one stays: {status, body, headers, delay (ms), fails,
# echo, events, pause (ms), cut}. `events` are the data of server-sent events, with `pause` before each; `cut` ends the
# connection before the last event. `echo` gives back the text of a translation. asked[] holds [path, body] of every request.
SCRIPT = r"""
window.fakes = {}; window.asked = [];
{
  const eventsOf = ({ events, pause = 0, cut = false }, signal) => new ReadableStream({
    async start(to) {
      const encoder = new TextEncoder();
      signal?.addEventListener("abort", () => to.error(new DOMException("cancelled", "AbortError")));
      for (const event of [...events.map((data) => JSON.stringify(data)), ...(cut ? [] : ["[DONE]"])]) {
        await new Promise((done) => setTimeout(done, pause));
        if (signal?.aborted) return;
        const bytes = encoder.encode(`data: ${event}\n\n`); // cut anywhere, as a connection may
        to.enqueue(bytes.slice(0, 9));
        to.enqueue(bytes.slice(9));
      }
      to.close();
    },
  });
  const real = window.fetch;
  window.fetch = (path, options = {}) => {
    const at = path.split("?")[0];
    window.asked.push([at, options.body ?? ""]);
    const list = window.fakes[at], fake = Array.isArray(list) ? (list.length > 1 ? list.shift() : list[0]) : list;
    if (!fake) return real(path, options);
    if (fake.fails) return Promise.reject(new TypeError("Failed to fetch"));
    const body = fake.echo ? { translatedText: JSON.parse(options.body).q, alternatives: [] } : fake.body ?? {};
    if (fake.events) return Promise.resolve(new Response(eventsOf(fake, options.signal), { status: 200 }));
    const answer = () => new Response(JSON.stringify(body), { status: fake.status ?? 200, headers: fake.headers ?? {} });
    return new Promise((resolve, reject) => {
      setTimeout(() => resolve(answer()), fake.delay ?? 0);
      options.signal?.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    });
  };
}
"""


# What a page with made-up languages would ask in vain: the browser would report each as an error.
QUIET = {"/v1/inspect": {"fails": True}, "/v1/model": {"fails": True}}


@contextmanager
def faked(browser, address, fakes=None, ready="document.querySelector('#from option') !== null"):
    """The page, opened with these answers from its first request on."""
    script = browser.before_each_page(SCRIPT + f"window.fakes = {json.dumps({**QUIET, **(fakes or {})})};")
    try:
        browser.open(address, ready)
        yield
    finally:
        browser.forget(script)


def fake(browser, path, answer):
    browser.run(f"window.fakes[{json.dumps(path)}] = {json.dumps(answer)}; 0")


def asked(browser, path):
    """The bodies of all requests to a path so far."""
    bodies = browser.run(f"window.asked.filter(([at]) => at === {json.dumps(path)}).map(([, body]) => body)")
    return [json.loads(body) if body else None for body in bodies]


def languages(*pairs):
    """The answer of /languages of a server with these pairs: ("en", "de")."""
    codes = list(dict.fromkeys(code for pair in pairs for code in pair))
    return {"body": [{"code": code, "name": code, "targets": [to for of, to in pairs if of == code] + [code]} for code in codes]}


def translation(text, alternatives=()):
    return {"body": {"translatedText": text, "alternatives": list(alternatives)}}


def inspection(source_pieces, target_pieces, target_text):
    """An answer of /v1/inspect with one head, in which row t looks at column t alone."""
    rows, columns = len(target_pieces), len(source_pieces)
    values = [float(column == min(row, columns - 1)) for row in range(rows) for column in range(columns)]
    return {"body": {
        "model": {"decoder_layers": 1}, "source": {"pieces": source_pieces}, "target": {"pieces": target_pieces, "text": target_text},
        "parts": [{"part": "weights", "attentions": [{"path": "decoder.layers.0.cross_attention", "shape": [1, rows, columns], "values": values}]}]}}


def piece(text, tokens=(), offset=0, finish=None):
    """An event of /v1/completions. tokens: (text, log-probability, {other: log-probability}) of each that begins in `text`."""
    offsets, at = [], offset
    for token, _, _ in tokens:
        offsets.append(at)
        at += len(token)
    return {"choices": [{"text": text, "index": 0, "finish_reason": finish, "logprobs": None if finish else {
        "tokens": [token for token, _, _ in tokens], "token_logprobs": [score for _, score, _ in tokens],
        "top_logprobs": [{**others, token: score} for token, score, others in tokens], "text_offset": offsets}}], "usage": None}


def language_models(*ids):
    """The answer of /frontend/settings of a server with these language models alone."""
    return {"body": {"charLimit": 5000, "keyRequired": False, "languageModels": [{"id": name, "context": 96} for name in ids]}}


def encoders(*ids, head="classes", labels=("day", "night"), key=False):
    """The answer of /frontend/settings of a server with these encoders alone."""
    return {"body": {"charLimit": 5000, "keyRequired": key, "languageModels": [], "encoders": [
        {"id": name, "context": 32, "head": head, "labels": list(labels), "mask": "[MASK]"} for name in ids]}}
