// The story of models without self-attention: states that pass from word to word, or windows that widen from layer to layer,
// and a decoder that attends to them, or that gets one vector alone.
import { percent, show } from "/assets/colour.js";
import { attends, isRecurrent, kDirections, kernelOf, reachOf } from "/assets/model_facts.js";
import { pieceLabel, rowOf } from "/assets/sentence.js";
import { movement } from "/assets/state_math.js";
import { ghostsOf, partsOf, ribbonsOf } from "/assets/story_facts.js";
import { meanWeight } from "/assets/story_scenes_decoder.js";
import { t } from "/assets/strings.js";

/// The scenes before the first word of the translation. `turns`: in it the decoder becomes the larger part of the stage.
export function openingOf(model) {
  const several = model.encoder_layers > 1 ? [{ name: "layers", seconds: 4.5, still: 0.7 }] : [], words = { name: "words", seconds: 4, still: 0.95 }, memory = { name: "memory", seconds: 3, still: 0.95, turns: true };
  if (!isRecurrent(model)) return [words, { name: "positions", seconds: 3.5, still: 0.55 }, { name: "window", seconds: 8, still: 0.6 }, ...several, memory];
  const summary = { name: "summary", seconds: 5, still: 0.5, turns: !attends(model) };
  return [words, { name: "forward", seconds: 7, still: 0.8 }, { name: "backward", seconds: 5, still: 0.6 }, ...several, summary, ...(attends(model) ? [memory] : [])];
}

// What is fetched, by the names of story_facts.js. `state` holds the rows that the decoder passes on.
function kindsOf(sentence) {
  const { model } = sentence, last = `encoder.layers.${model.encoder_layers - 1}`;
  const common = { embedding: { part: "embedding", path: "encoder.embedding" }, input: { part: "embedding", path: "decoder.embedding" }, output: { part: "output", path: "decoder" } };
  if (!isRecurrent(model)) return { ...common, memory: { part: "output", path: "encoder" }, first: { part: "convolution", path: "encoder.layers.0" } };
  const cells = Object.fromEntries(kDirections.map((direction) => [direction, { part: "cell", path: `encoder.layers.0.${direction}` }]));
  return { ...common, ...cells, memory: { part: "output", path: last }, start: { part: "first_state", path: "decoder.layers.0" }, state: { part: "cell", path: "decoder.layers.0" } };
}

// The alignments of all layers as if they were heads: {shape: [layers, T, S], values}. Zeros where there is none.
function alignments(sentence) {
  const entries = sentence.attentions("cross").map((path) => sentence.weights.get(path)), S = sentence.sourceLabels.length, T = sentence.steps;
  return entries.length ? { shape: [entries.length, T, S], values: entries.flatMap(({ values }) => values) } : { shape: [1, T, S], values: new Array(T * S).fill(0) };
}

/// What the story needs, as loadFacts.
export async function alignedFacts(sentence, row) {
  const { model } = sentence, parts = await partsOf(sentence, kindsOf(sentence)), levels = [], cross = sentence.attentions("cross").at(-1);
  for (let layer = 0; layer < model.encoder_layers; ++layer) {
    const path = `encoder.layers.${layer}`;
    levels.push(isRecurrent(model) ? (await sentence.part({ part: "output", path })).output : (await sentence.part({ part: "convolution", path })).result);
  }
  const crossWeights = alignments(sentence);
  return {
    sentence, parts, row, head: 0, heads: 1, levels, crossWeights, decoderHeads: crossWeights.shape[0], S: sentence.sourceLabels.length, T: sentence.steps, layers: model.encoder_layers,
    opening: openingOf(model).map(({ name }) => name), cross: cross ? await sentence.part({ part: "attention", path: cross }) : null, moved: isRecurrent(model) ? movement(parts.forward).values : null,
    ghosts: ghostsOf(sentence.beam), ribbons: cross ? ribbonsOf(sentence) : [], best: sentence.beam.finished[0] ?? null,
  };
}

/// What the words of a scene depend on: the kind of the model.
export function variantOf(scene, model) {
  const kind = isRecurrent(model) ? ".recurrent" : ".convolutional", own = attends(model) ? kind : ".none";
  return { positions: ".learned", layers: kind, summary: own, memory: kind, first: own, word: own, end: attends(model) ? "" : own }[scene.name] ?? "";
}

export function alignedTitle(scene, model, values) {
  const own = scene.name === "summary" && !attends(model) ? ".none" : "";
  return t(scene.name === "memory" ? "story.memory.title" : `story.${scene.name}${own}`, values);
}

/// The stage of the study that computes what a scene shows, as stageOfScene.
export function stageOfAligned(scene, model) {
  const encoder = { side: "encoder" }, step = { side: "decoder", step: scene.step }, last = model.encoder_layers - 1, cell = { ...encoder, kind: "cellNew", layer: 0 };
  const asks = { ...step, kind: "softmax", cross: true, ...(isRecurrent(model) ? {} : { layer: model.decoder_layers - 1 }) };
  return {
    words: { ...encoder, kind: "embed" }, positions: { ...encoder, kind: "position" }, forward: { ...cell, direction: "forward" }, backward: { ...cell, direction: "backward" }, window: { ...encoder, kind: "glu", layer: 0 },
    layers: { ...encoder, kind: isRecurrent(model) ? "join" : "reach", layer: last }, summary: { ...encoder, kind: "summary" }, memory: { ...encoder, kind: "memory" },
    first: attends(model) ? asks : { ...step, kind: "cellNew", layer: 0 }, word: { ...step, kind: "choose" }, end: { side: "decoder", kind: "beam" },
  }[scene.name];
}

/// The formula of a scene.
export const alignedFormula = (scene, model) => (scene.name === "first" && attends(model) ? "context" : stageOfAligned(scene, model).kind);

/// The stage of the study for what is under the pointer.
export function studiedOfAligned({ kind, row }, step, model) {
  const inEncoder = isRecurrent(model) ? { kind: "cellNew", side: "encoder", layer: 0 } : { kind: "glu", side: "encoder", layer: 0 };
  const at = (scene) => stageOfAligned({ step: row, ...scene }, model);
  return { word: { kind: "tokens", side: "encoder" }, strip: { kind: "embed", side: "encoder" }, memory: at({ name: attends(model) ? "memory" : "summary" }), decoder: at({ name: "first" }),
    bars: at({ name: "word", step }), target: { kind: "shift", side: "decoder", step: row } }[kind] ?? inEncoder;
}

/// The values that captions name.
export function alignedValues(facts, scene) {
  const { sentence, S, T, row, layers } = facts, { model } = sentence, step = scene.step ?? 0, candidates = sentence.candidates.steps[step];
  const [weight, source] = sentence.sourceLabels.map((label, column) => [meanWeight(facts.crossWeights, step, column), label]).sort((a, b) => b[0] - a[0])[0];
  const { before, after } = kernelOf(model, "encoder"), [from, to] = reachOf(model, "encoder", layers, row);
  return {
    S, T, layers, count: facts.decoderHeads, d_model: model.d_model, H: model.d_hidden, C: model.d_context, V: model.target_vocab_size, word: sentence.sourceLabels[row], first: sentence.sourceLabels[0],
    change: facts.moved ? show(facts.moved[2 * row + 1], 2) : "", length: facts.moved ? show(facts.moved[2 * row], 2) : "", kernel: model.kernel_width,
    words: sentence.sourceLabels.slice(Math.max(row - before, 0), row + after + 1).join(" "), seen: Math.min(to, S - 1) - Math.max(from, 0) + 1, grow: model.kernel_width - 1,
    step: step + 1, chosen: sentence.targetLabels[step], share: percent(candidates.chosen_probability), source, mean: show(weight, 2), text: sentence.target.text, total: facts.best ? show(facts.best.score, 2) : "–",
  };
}

// What a word has beside its id: the length and the change of its state, or how far its gates are open.
function columnsOf({ sentence, moved, parts }) {
  if (moved) return { names: ["‖→h‖", t("state.change")], of: (r) => [show(moved[2 * r], 3), show(moved[2 * r + 1], 3)] };
  const open = (r) => rowOf(parts.first.gate, r).reduce((sum, value) => sum + 1 / (1 + Math.exp(-value)), 0) / sentence.model.d_hidden;
  return { names: ["σ(w B + b)"], of: (r) => [show(open(r), 3)] };
}

/// The numbers of a scene, as lists of cells: [the head, ...lines], and what each step attends to.
export function alignedTable(facts, scene) {
  const { sentence } = facts, columns = columnsOf(facts);
  if (scene.step === undefined) return { numbers: [[t("choose.token"), "id", ...columns.names], ...sentence.sourceLabels.map((label, r) => [label, sentence.source.ids[r], ...columns.of(r)])], looked: [] };
  const { pieces, probabilities } = sentence.candidates.steps[scene.step];
  return { numbers: [[t("choose.token"), "p"], ...pieces.slice(0, 5).map((piece, i) => [pieceLabel(piece), percent(probabilities[i])])],
    looked: facts.cross ? [[t("choose.token"), t("kind.softmax")], ...sentence.sourceLabels.map((label, column) => [label, show(meanWeight(facts.crossWeights, scene.step, column), 3)])] : [] };
}
