// Where the words of a text look, in every head of an encoder.
import { inspect } from "/assets/api.js";
import { el } from "/assets/dom.js";
import { compare, glance } from "/assets/glance.js";

const kMostWeights = 500_000; // numbers of weights in one request

/// What the encoder computed for one text, as the panels of "Look inside" ask for it.
class EncodedText {
  constructor(model, pieces, weights) {
    Object.assign(this, { model, labels: pieces.map((piece) => piece.trim() || piece), weights: new Map(weights.map((entry) => [entry.path, entry])) });
  }
  attentions(kind) { return kind === "encoder" ? [...this.weights.keys()] : []; }
  heads() { return this.model.n_heads; }
  isMasked() { return false; }
  head(path, head) {
    const { shape, values } = this.weights.get(path), size = shape[1] * shape[2];
    return { values: values.slice(head * size, (head + 1) * size), rows: this.labels, columns: this.labels };
  }
}

/// The weights of all attentions, as many at a time as a reply may hold. Throws what the server says.
async function load(request, signal) {
  const { model, source } = await inspect({ ...request, parts: [] }, signal);
  const paths = Array.from({ length: model.encoder_layers }, (_, layer) => `layers.${layer}.self_attention`), found = [];
  const at = Math.max(Math.floor(kMostWeights / (model.n_heads * source.ids.length ** 2)), 1);
  for (let begin = 0; begin < paths.length; begin += at) {
    const parts = paths.slice(begin, begin + at).map((path) => ({ part: "weights", path }));
    found.push(...(await inspect({ ...request, parts }, signal)).parts.flatMap((part) => part.attentions));
  }
  return new EncodedText(model, source.pieces, found);
}

/// All heads at a glance, and two of them side by side.
export class ReadAttention {
  constructor() {
    this.element = el("div", { class: "panels" });
    this.state = { kind: "encoder", layer: 0, head: 0, first: [0, 0], second: [0, 1], compareRow: 1 };
    this.clear();
  }

  clear() {
    this.text = null;
    this.paint();
  }

  /// @param request  {model, text};  throws what the server says
  async look(request, signal) {
    this.text = await load(request, signal);
    this.paint();
  }

  change(values) {
    Object.assign(this.state, values);
    this.paint();
  }

  paint() {
    const { text, state } = this, change = (values) => this.change(values);
    this.element.replaceChildren(...(text ? [glance(text, state, change, (kind, layer, head) => change({ layer, head, first: [layer, head] })), compare(text, state, change)] : []));
  }
}
