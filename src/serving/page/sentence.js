// One sentence that is looked into: what the model computed for it, fetched part by part and kept.
import { inspect } from "/assets/api.js";

const kMark = "\u2581"; // SentencePiece's space

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

export class Sentence {
  /// Translates and looks into `text`. Throws what the server says.
  static async load(request, signal) {
    const reply = await inspect({
      ...request,
      parts: [{ part: "weights" }, { part: "candidates", count: 12 }, { part: "beam" }],
    }, signal);
    return new Sentence(request, reply);
  }

  constructor(request, reply) {
    this.request = request;
    this.model = reply.model;
    this.source = reply.source;
    this.target = reply.target;
    this.sourceLabels = reply.source.pieces.map(pieceLabel);
    this.targetLabels = reply.target.pieces.map(pieceLabel);
    this.inputLabels = reply.target.input_pieces.map(pieceLabel);
    this.weights = new Map(reply.parts[0].attentions.map((entry) => [entry.path, entry]));
    this.candidates = reply.parts[1];
    this.beam = reply.parts[2];
    this.fetched = new Map();
  }

  get steps() { return this.target.ids.length; }

  /// Heads, layers and paths of one kind of attention: "encoder", "decoder" or "cross".
  attentions(kind) {
    const stack = kind === "encoder" ? "encoder" : "decoder";
    const count = kind === "encoder" ? this.model.encoder_layers : this.model.decoder_layers;
    const name = kind === "cross" ? "cross_attention" : "self_attention";
    return Array.from({ length: count }, (_, layer) => `${stack}.layers.${layer}.${name}`);
  }
  heads(path) { return path.startsWith("encoder") ? this.model.n_heads : this.model.decoder_n_heads; }

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
  queryLabels(path) { return path.startsWith("encoder") ? this.sourceLabels : this.inputLabels; }
  keyLabels(path) {
    return path.startsWith("encoder") || path.endsWith("cross_attention") ? this.sourceLabels : this.inputLabels;
  }

  /// One part of /v1/inspect, asked for once.
  part(wanted) {
    const key = JSON.stringify(wanted);
    if (!this.fetched.has(key)) {
      const asked = inspect({ ...this.request, target_ids: this.target.ids, parts: [wanted] }).then((reply) => reply.parts[0]);
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
