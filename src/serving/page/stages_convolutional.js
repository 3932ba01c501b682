// The way through a convolutional encoder-decoder: windows of neighbours become rows, layer by layer, and each layer of the
// decoder attends to the source.
import { kernelOf, reachOf } from "/assets/model_facts.js";

const kDetail = { word: 1, layer: 2, all: 3 };
const kLandmarks = ["glu", "softmax", "reach"]; // where a step by sub-layers stops

const stagesOf = (kinds, base) => kinds.map((kind) => ({ ...base, kind, rank: kLandmarks.includes(kind) ? kDetail.layer : kDetail.all }));

// The convolution of a layer: the window of each row, the product, the gate.
const kConvolution = ["window", "convolve", "glu"];
const kSum = ["convAdd", "reach"];

function encoderStages(model) {
  const base = { side: "encoder" }, memory = { ...base, block: "e-memory", path: "encoder.output" };
  const stages = [{ ...base, kind: "tokens", rank: kDetail.word }, { ...base, kind: "embed", rank: kDetail.layer }, { ...base, kind: "position", rank: kDetail.layer },
    { ...base, kind: "convIn", path: "encoder.input", block: "e-in", rank: kDetail.all }];
  for (let layer = 0; layer < model.encoder_layers; ++layer) {
    const ofLayer = { ...base, layer, path: `encoder.layers.${layer}` };
    stages.push(...stagesOf(kConvolution, { ...ofLayer, block: "e-conv" }), ...stagesOf(kSum, { ...ofLayer, block: "e-conv-add" }));
  }
  return [...stages, { ...memory, kind: "convKeys", rank: kDetail.all }, { ...memory, kind: "convValues", rank: kDetail.all }, { ...memory, kind: "memory", rank: kDetail.word }];
}

// One word of the decoder.
function stepStages(base, model) {
  const stages = [{ ...base, kind: "shift", rank: kDetail.layer }, { ...base, kind: "convIn", path: "decoder.input", block: "d-in", rank: kDetail.all }];
  for (let layer = 0; layer < model.decoder_layers; ++layer) {
    const ofLayer = { ...base, layer, path: `decoder.layers.${layer}` }, attention = { ...ofLayer, path: `${ofLayer.path}.attention`, cross: true, block: "d-cross" };
    stages.push(...stagesOf(kConvolution, { ...ofLayer, block: "d-conv" }), ...stagesOf(["convQuery"], { ...ofLayer, block: "d-cross" }), ...stagesOf(["scores", "softmax", "context"], attention),
      ...stagesOf(["convFound"], { ...ofLayer, block: "d-cross" }), ...stagesOf(kSum, { ...ofLayer, block: "d-conv-add" }));
  }
  return [...stages, { ...base, kind: "convOut", path: "decoder.output", block: "d-out", rank: kDetail.all }, { ...base, kind: "choose", rank: kDetail.word }];
}

/// All stages of a sentence.
export function convolutionalStages(sentence) {
  const stages = encoderStages(sentence.model);
  for (let step = 0; step < sentence.steps; ++step) stages.push(...stepStages({ side: "decoder", step }, sentence.model));
  return [...stages, { kind: "beam", side: "decoder", step: sentence.steps - 1, rank: kDetail.word }];
}

/// The blocks of the figure, from below upwards: [name, height, type, text].
export function convolutionalColumns() {
  const words = (prefix, text) => [[`${prefix}-embed`, 32, "embed", text], [`${prefix}-position`, 30, "embed", "machine.position"], [`${prefix}-in`, 28, "norm", "machine.convIn"], [`${prefix}-conv`, 76, "feed", "machine.convolution"]];
  const sum = (prefix) => [`${prefix}-conv-add`, 28, "norm", "machine.convAdd"];
  return {
    encoder: [...words("e", "machine.embed"), sum("e"), ["e-memory", 34, "norm", "machine.convMemory"]],
    decoder: [...words("d", "machine.shift"), ["d-cross", 76, "attention", "machine.cross"], sum("d"), ["d-out", 28, "norm", "machine.convOut"], ["d-softmax", 92, "out", "machine.softmax"], ["d-output", 40, "out", null]],
  };
}

/// The part of /v1/inspect whose rows are drawn in a convolution of the figure.
export function convolutionalRows(name, layer) {
  const side = { "e-conv": "encoder", "d-conv": "decoder" }[name];
  return side && { part: "convolution", path: `${side}.layers.${layer}` };
}

/// What is drawn in a thin block of the figure: [the part of /v1/inspect, its matrix].
export function convolutionalStrip(name, layer) {
  const layerPart = (side, value) => [{ part: "convolution", path: `${side}.layers.${layer}` }, value];
  return { "e-conv-add": layerPart("encoder", "result"), "d-conv-add": layerPart("decoder", "result"),
    "e-in": [{ part: "convolution", path: "encoder.layers.0" }, "input"], "d-in": [{ part: "convolution", path: "decoder.layers.0" }, "input"] }[name];
}

/// The key of a stage's title and words; nothing where every model has the same.
export function convolutionalKey(stage) {
  switch (stage.kind) {
    case "window": case "convAdd": case "reach": return `${stage.kind}.${stage.side}`;
    case "position": return "positionLearned";
    case "scores": return "scores.product";
    case "context": return "context.values";
    case "memory": return "memory.values";
    case "softmax": return "cross.layers";
    default: return null;
  }
}

/// The numbers in the words of a stage: rows of a kernel, rows before and behind, and how many rows a state has seen.
export function convolutionalNumbers(stage, { model, source }) {
  const { before, after } = kernelOf(model, stage.side), [first, last] = reachOf(model, stage.side, (stage.layer ?? -1) + 1, 0);
  return { kernel: model.kernel_width, behind: before, ahead: after, seen: last - first + 1, grow: model.kernel_width - 1, factor: Math.sqrt(source.ids.length / 2).toFixed(2), layer: (stage.layer ?? 0) + 1, inner: model.kernel_width * model.d_hidden };
}
