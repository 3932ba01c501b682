// The shapes of a stage in two ways of writing: ragged, as the program keeps them (all words in one matrix, no padding),
// and batched, as in lecture notes: (B, heads, T, d_k).
import { el } from "/assets/dom.js";
import { gatesOf, hasNarrowKeys, hasSelfAttention, headWidth, isConvolutional, isReader, isRecurrent, keyWidth } from "/assets/model_facts.js";
import { kOfHead, lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";

// q and k stand for the rows of queries and of keys.
const kMatrix = [["q", "d_model"]], kSquare = [["q", "k"]];
const kRagged = {
  tokens: [["S"]], embed: [["S", "d_model"]], position: [["S", "d_model"]], norm: kMatrix, add: kMatrix, feedNorm: kMatrix, feedAdd: kMatrix, finalNorm: kMatrix,
  qkv: [["q", "d_k"], ["k", "d_k"]], scores: kSquare, scale: kSquare, relative: kSquare, mask: kSquare, softmax: kSquare, context: [["q", "d_v"]], heads: kMatrix,
  feed: [["q", "d_ff"]], memory: [["S", "d_model"]], shift: [["t", "d_model"]], choose: [["V"]], beam: [["K", "t"]],
  embedNorm: kMatrix, pool: [["d_model"]], labels: [["C"]], tagged: [["S", "C"]], filled: [["V"]], vector: [["d_model"]],
  turn: [["q", "d_k"], ["k", "d_k"]], cache: [["t", "d_k"], ["t", "d_v"]],
};
// Of recurrent models. G is the number of gates; in the encoder rows are S words, in the decoder T.
const kOfCells = {
  cellInput: [["q", "G·H"]], cellFed: [["q", "G·H"]], cellState: [["q", "G·H"]], cellGates: [["q", "H"]], cellNew: [["q", "H"]], join: [["S", "C"]], summary: [["C"]], firstState: [["H"]],
  sourceKeys: [["S", "A"]], memory: [["S", "C"]], sourceQuery: [["T", "A"]], context: [["T", "C"]], attentional: kMatrix, readout: kMatrix,
};
// Of convolutional models. K is the width of the kernels.
const kOfConvolutions = {
  convIn: [["q", "H"]], window: [["q", "K·H"]], convolve: [["q", "H"]], glu: [["q", "H"]], convAdd: [["q", "H"]], reach: [["q", "H"]], convKeys: kMatrix, convValues: kMatrix,
  memory: [["S", "d_model"], ["S", "d_model"]], convQuery: kMatrix, context: kMatrix, convFound: [["q", "H"]], convOut: kMatrix,
};

/// What the letters are for a stage.
export function sizesOf(stage, sentence) {
  const { model, source, target, beam } = sentence, inDecoder = stage.side === "decoder";
  const heads = inDecoder ? model.decoder_n_heads : model.n_heads;
  return { B: 1, S: source.ids.length, T: target.ids.length, t: (stage.step ?? 0) + 1, d_model: model.d_model, d_k: keyWidth(model, inDecoder), d_v: headWidth(model, inDecoder), h: heads,
    H: model.d_hidden, C: isReader(model) ? model.n_labels : model.d_context, A: model.d_key, "G·H": isRecurrent(model) ? gatesOf(model).length * model.d_hidden : 0, "K·H": isConvolutional(model) ? model.kernel_width * model.d_hidden : 0,
    d_ff: inDecoder ? model.decoder_d_ff : model.d_ff, V: model.target_vocab_size || model.source_vocab_size, K: beam?.beam_size };
}

/// How the width of a head's values is written: d_k, as that of queries and keys, where they are equal.
export const valueLetter = (model) => (hasNarrowKeys(model) ? "d_v" : "d_k");

/// The letters of a stage's shapes: {ragged: [[...]], batched: [[...]]}.
export function shapesOf(stage, model) {
  const [queries, keys] = lettersOf(stage), own = isRecurrent(model) ? kOfCells : isConvolutional(model) ? kOfConvolutions : {};
  const letters = { q: queries, k: keys, d_v: valueLetter(model) };
  const ragged = (own[stage.kind] || kRagged[stage.kind] || kMatrix).map((shape) => shape.map((letter) => letters[letter] ?? letter));
  const between = kOfHead.includes(stage.kind) && hasSelfAttention(model) ? ["B", "h"] : stage.kind === "choose" ? ["B", "T"] : ["B"];
  return { ragged, batched: ragged.map((shape) => [...between, ...shape]) };
}

function written(shapes, sizes, [open, close]) {
  const one = (shape, value) => `${open}${shape.map(value).join(", ")}${close}`;
  return shapes.map((shape) => el("span", { class: "whole-line" }, `${one(shape, (letter) => letter)} = ${one(shape, (letter) => sizes[letter])}`));
}

/// Both shapes, as nodes.
export function shapesText(stage, sentence) {
  const { ragged, batched } = shapesOf(stage, sentence.model), sizes = sizesOf(stage, sentence);
  return [el("span", { class: "shape-kind" }, t("shape.ragged")), written(ragged, sizes, "[]"), el("span", { class: "shape-kind" }, t("shape.batched")), written(batched, sizes, "()")];
}
