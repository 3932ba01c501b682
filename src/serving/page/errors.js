// What can go wrong, as sentences in the language of the page. The server speaks English; its sentences are known here.
import { t } from "/assets/strings.js";

const kSentences = [
  [/request \((\d+)\) exceeds text limit \((\d+)\)/, "error.tooLong", "size", "limit"],
  [/the text has (\d+) tokens, (?:at most|the model takes) (\d+)/, "error.tooManyTokens", "size", "limit"],
  [/(?:prompt|input|second) has (\d+) characters, at most (\d+)/, "error.tooLong", "size", "limit"],
  [/has no (\S+) in the part that the model can take/, "error.noMaskLeft", "mask"],
  [/has (\d+) masks, at most (\d+)/, "error.tooManyMasks", "size", "limit"],
  [/prompt has (\d+) tokens, the model takes (\d+)/, "error.promptTooLong", "size", "limit"],
  [/(U\+[0-9A-F]+) is not in the vocabulary/, "error.unknownCharacter", "code"],
  [/The model `(.*)` does not exist|no language model "(.*)" is served/s, "error.noLanguageModel"],
  [/The server is busy|too many such requests|too many connections/, "error.busy"],
  [/^Slowdown/, "error.slowdown"],
  [/^Invalid API key|^Incorrect API key/, "error.wrongKey"],
  [/to get an API key|^No API key is given/, "error.noKey"],
  [/no model from "(.*)" to "(.*)" is served/s, "error.noModel", "source", "target"],
  [/^(.*) is not available as a target language from (.*)$/s, "error.noModel", "target", "source"],
  [/^(.*) is not supported$/s, "error.language", "language"],
  [/missing (\w+) parameter/, "error.missing", "name"],
  [/the (?:completion|inspection) took too long/, "error.lateText"],
  [/the encoding took too long/, "error.lateReading"],
  [/took too long/, "error.late"],
  [/parts asked for hold more than (\d+) numbers/, "error.tooManyNumbers"],
  [/^internal error/, "error.internal"],
];

function sentenceOf({ status, text }) {
  if (!status) return t("error.offline");
  for (const [pattern, key, ...names] of kSentences) {
    const found = pattern.exec(text);
    if (found) return t(key, Object.fromEntries(names.map((name, i) => [name, found[i + 1]])));
  }
  return text ? t("error.server", { status, text }) : t("error.status", { status });
}

/// A request that failed. `status` is 0 if no server answered. `retryAfter`: seconds, if the server named them.
export class ServerError extends Error {
  constructor({ status = 0, text = "", retryAfter = null }) {
    super(); // without a text, so that `message` below is the one that is read
    Object.assign(this, { name: "ServerError", status, text, retryAfter });
  }

  /// In the language that is spoken when it is read.
  get message() { return sentenceOf(this); }

  /// True if the same request may succeed soon.
  get isPassing() { return [0, 429, 502, 503].includes(this.status); }
}

/// Something that the page itself refuses or cannot do.
export class PageError extends Error {
  constructor(key, values = {}) {
    super();
    Object.assign(this, { name: "PageError", key, values });
  }

  get message() { return t(this.key, this.values); }
}
