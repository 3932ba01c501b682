// One sentence that is looked into: what the model computed for it, fetched part by part and kept.
import { encode, inspect } from "/assets/api.js";
import { PageError } from "/assets/errors.js";
import { hasDrawnDecoder, hasSelfAttention, isAlone, isReader, stackOf } from "/assets/model_facts.js";
import { tOr } from "/assets/strings.js";
import { joined, visible } from "/assets/written_text.js";

const kMark = "\u2581"; // SentencePiece's space
const kMostWeights = 500_000; // numbers of weights in one request
const kPronouns = ["it", "er", "sie", "es", "它"];

/// A piece as it is written beside matrices: without its space mark; pieces inside a word begin with a dot.
export function pieceLabel(piece) {
  if (piece.startsWith(kMark)) return piece.slice(1) || "␣";
  return /^[\p{L}\p{N}]/u.test(piece) ? `·${piece}` : piece;
}

/// Row `r` of a matrix part {shape, values}.
export function rowOf(part, r) {
  const width = part.shape[1];
  return part.values.slice(r * width, (r + 1) * width);
}

// The weights of all attentions, as many at a time as a reply may hold.
async function allWeights(request, reply, signal) {
  const { model, source, target } = reply, reads = isReader(model), rows = (reads ? source : target).ids.length, size = (reads ? model.n_heads : model.decoder_n_heads) * rows * rows;
  const paths = Array.from({ length: reads ? model.encoder_layers : model.decoder_layers }, (_, layer) => `layers.${layer}.self_attention`);
  const at = Math.max(Math.floor(kMostWeights / size), 1), found = [];
  for (let begin = 0; begin < paths.length; begin += at) {
    const parts = paths.slice(begin, begin + at).map((path) => ({ part: "weights", path }));
    found.push(...(await inspect({ ...request, ...(reads ? {} : { target_ids: target.ids }), parts }, signal)).parts.flatMap((part) => part.attentions));
  }
  return found;
}

// What the head of an encoder says of a text; nothing of one without a head, or without a mask to fill.
async function answerOf({ model, text }, { head, mask }, signal) {
  const routes = { classes: ["classify", {}], tags: ["tag", {}], words: ["fill-mask", { top: 8 }] }, [route, more] = routes[head] ?? [];
  if (!route || (head === "words" && !text.includes(mask))) return null;
  return (await encode(route, { model, input: text, ...more }, signal)).data[0];
}

export class Sentence {
  /// Looks into a text: {source, target, text, beam_size} is translated, {model, text, max_tokens, temperature, ...} is
  /// continued by a language model, {model, text, head, mask, labels} is read by an encoder. Throws what the server says, and PageError for a decoder that no picture shows.
  static async load(request, signal) {
    if (request.head !== undefined) return Sentence.read(request, signal);
    const candidates = { part: "candidates", count: 12 };
    if (!request.model) {
      const reply = await inspect({ ...request, parts: [{ part: "weights" }, candidates, { part: "beam" }] }, signal);
      if (!hasDrawnDecoder(reply.model)) throw new PageError("inside.sublayer", { name: tOr(`setting.value.${reply.model.decoder_sublayer}`, reply.model.decoder_sublayer) });
      return new Sentence(request, reply, reply.parts[0].attentions, reply.parts[1], reply.parts[2]);
    }
    const reply = await inspect({ ...request, parts: [candidates] }, signal);
    return new Sentence(request, reply, await allWeights(request, reply, signal), reply.parts[0], null);
  }

  static async read({ model, text, ...of }, signal) {
    const asked = { model, text: text.trim() }, reply = await inspect({ ...asked, parts: [{ part: "weights", path: "layers.0.self_attention" }] }, signal);
    const sentence = new Sentence({ ...asked, ...of }, reply, await allWeights(asked, reply, signal), null, null);
    sentence.answer = await answerOf(asked, of, signal);
    return sentence;
  }

  constructor(request, reply, weights, candidates, beam) {
    Object.assign(this, { request, candidates, beam, model: reply.model, source: reply.source, target: reply.target });
    const label = this.isAlone ? visible : this.isReader ? (piece) => piece.trim() || piece : pieceLabel;
    this.sourceLabels = reply.source.pieces.map(label);
    this.targetLabels = reply.target.pieces.map(label);
    this.inputLabels = reply.target.input_pieces.map(label);
    this.weights = new Map(weights.map((entry) => [entry.path, entry]));
    this.fetched = new Map();
  }

  /// Whether a language model continues the source, so that there is no encoder.
  get isAlone() { return isAlone(this.model); }
  /// Whether an encoder reads the source, so that there is no decoder.
  get isReader() { return isReader(this.model); }
  /// Whether words look at words of their own side; the story and the comparison show that.
  get looksAtItself() { return hasSelfAttention(this.model); }
  /// Rows of the decoder, each of which predicts a piece; the first of those that the model wrote itself; and those.
  get steps() { return this.target.ids.length; }
  get firstStep() { return this.isAlone ? this.source.ids.length - 1 : 0; }
  get written() { return this.steps - this.firstStep; }

  /// The piece that is followed at first: a pronoun, if there is one.
  get followed() {
    if (this.isAlone) return this.firstStep;
    if (this.maskRow >= 0) return this.maskRow;
    const pronoun = this.find(kPronouns);
    return pronoun >= 0 ? pronoun : Math.min(1, this.sourceLabels.length - 1);
  }

  /// The row of the first mask that an encoder fills, or -1.
  get maskRow() { return this.isReader && this.model.head === "words" ? this.sourceLabels.indexOf(this.request.mask) : -1; }
  /// What the head of an encoder finds likely, the likeliest first: labels, or the pieces at the first mask.
  shares() {
    if (this.model.head === "classes") return this.answer.labels.map(({ label, probability }) => ({ name: label, share: probability }));
    return this.model.head === "words" && this.answer ? this.answer.masks[0].map(({ piece, probability }) => ({ name: piece.trim() || "␣", share: probability })) : [];
  }
  /// The words that an encoder tags: [{word, tag, probability, start, end}].
  taggedWords() { return this.model.head === "tags" ? this.answer.words : []; }
  /// The row of the first piece of each of these words; undefined where pieces do not spell the text.
  wordRows() {
    const text = [...this.source.text.toLowerCase()], begins = [];
    let at = 0;
    this.sourceLabels.forEach((label, row) => {
      const piece = [...label.replace(/^##/, "").toLowerCase()];
      let from = at;
      while (from < text.length && /\s/.test(text[from])) ++from;
      if (!piece.length || !piece.every((character, i) => text[from + i] === character)) return;
      begins.push([from, row]);
      at = from + piece.length;
    });
    return this.taggedWords().map(({ start, end }) => begins.find(([from]) => from >= start && from < end)?.[1]);
  }

  /// The text of some of the pieces that a language model reads or writes.
  joined(pieces) { return joined(pieces); }

  /// The kind of attention in which words are followed, and its words.
  get mainKind() { return !this.looksAtItself ? "cross" : this.isAlone ? "decoder" : "encoder"; }
  get mainLabels() { return this.isAlone ? this.inputLabels : this.sourceLabels; }

  /// Heads, layers and paths of one kind of attention: "encoder", "decoder" or "cross".
  attentions(kind) {
    if ((this.isAlone && kind !== "decoder") || (this.isReader && kind !== "encoder")) return [];
    if (!this.looksAtItself) return kind === "cross" ? [...this.weights.keys()] : [];
    const side = kind === "encoder" ? "encoder" : "decoder";
    const count = kind === "encoder" ? this.model.encoder_layers : this.model.decoder_layers;
    const name = kind === "cross" ? "cross_attention" : "self_attention";
    return Array.from({ length: count }, (_, layer) => `${stackOf(this.model, side)}layers.${layer}.${name}`);
  }
  heads(path) { return this.isReader || path.startsWith("encoder") ? this.model.n_heads : this.model.decoder_n_heads; }
  /// Whether a row of the attention at `path` sees itself and what is before it alone.
  isMasked(path) { return this.isAlone || (path.startsWith("decoder") && path.endsWith("self_attention")); }

  /// [T][S] weights of one head, row-major, with the words of both sides.
  head(path, head) {
    const { shape, values } = this.weights.get(path);
    const size = shape[1] * shape[2];
    return { values: values.slice(head * size, (head + 1) * size), rows: this.queryLabels(path), columns: this.keyLabels(path) };
  }
  /// The mean over the heads.
  mean(path) {
    const { shape, values } = this.weights.get(path);
    const size = shape[1] * shape[2];
    const result = new Array(size).fill(0);
    values.forEach((value, i) => { result[i % size] += value / shape[0]; });
    return result;
  }
  queryLabels(path) { return this.isReader || path.startsWith("encoder") ? this.sourceLabels : this.inputLabels; }
  keyLabels(path) {
    return this.isReader || path.startsWith("encoder") || !path.endsWith("self_attention") ? this.sourceLabels : this.inputLabels;
  }

  /// One part of /v1/inspect, asked for once.
  part(wanted) {
    const key = JSON.stringify(wanted);
    if (!this.fetched.has(key)) {
      const { model, text } = this.request, asked = inspect({ ...(this.isReader ? { model, text } : { ...this.request, target_ids: this.target.ids }), parts: [wanted] }).then((reply) => reply.parts[0]);
      this.fetched.set(key, asked);
      asked.then((part) => { asked.value = part; }, () => this.fetched.delete(key));
    }
    return this.fetched.get(key);
  }
  /// The same if it is here already, else nothing.
  ready(wanted) { return this.fetched.get(JSON.stringify(wanted))?.value; }

  /// The first source piece that spells one of `words`, or -1.
  find(words) {
    return this.sourceLabels.findIndex((label) => words.includes(label.toLowerCase()));
  }
}
