// The way through a recurrent encoder-decoder: the sentence goes through cells word by word, and what they keep of it is all
// that the decoder knows, directly or by attention.
import { attends, kDirections } from "/assets/model_facts.js";

const kDetail = { word: 1, layer: 2, all: 3 };
const kAttentionPath = "decoder.attention";

// The stages of a cell at `base.path`; isFed: what was attended to goes into it.
function cellStages(base, isFed) {
  const kinds = ["cellInput", ...(isFed ? ["cellFed"] : []), "cellState", "cellGates", "cellNew"];
  return kinds.map((kind) => ({ ...base, kind, rank: kind === "cellNew" ? kDetail.layer : kDetail.all }));
}

function encoderStages(model) {
  const stages = [{ kind: "tokens", side: "encoder", rank: kDetail.word }, { kind: "embed", side: "encoder", rank: kDetail.layer }];
  for (let layer = 0; layer < model.layers; ++layer) {
    for (const direction of kDirections) {
      stages.push(...cellStages({ side: "encoder", layer, direction, path: `encoder.layers.${layer}.${direction}`, block: `e-${direction}` }, false));
    }
    stages.push({ side: "encoder", layer, kind: "join", path: `encoder.layers.${layer}`, block: "e-backward", rank: kDetail.layer });
  }
  const summary = { side: "encoder", block: "e-summary" };
  stages.push({ ...summary, kind: "summary", path: "decoder.layers.0", rank: kDetail.word });
  for (let layer = 0; layer < model.layers; ++layer) stages.push({ ...summary, kind: "firstState", layer, path: `decoder.layers.${layer}`, rank: kDetail.layer });
  if (attends(model)) {
    const memory = { side: "encoder", block: "e-memory", path: kAttentionPath };
    stages.push({ ...memory, kind: "sourceKeys", rank: kDetail.all }, { ...memory, kind: "memory", rank: kDetail.word });
  }
  return stages;
}

function attentionStages(base, model) {
  const kinds = [...(model.attention === "bahdanau" ? ["sourceQuery"] : []), "scores", "softmax", "context"];
  return kinds.map((kind) => ({ ...base, kind, path: kAttentionPath, cross: true, block: "d-cross", rank: kind === "softmax" ? kDetail.layer : kDetail.all }));
}

// One word of the decoder. Bahdanau attends before the cell, Luong behind it.
function stepStages(base, model) {
  const { attention, input_feeding: isFeeding, layers } = model, stages = [{ ...base, kind: "shift", rank: kDetail.layer }];
  const cells = (layer) => cellStages({ ...base, layer, path: `decoder.layers.${layer}`, block: "d-cell" }, layer === 0 && (attention === "bahdanau" || isFeeding));
  const attend = attentionStages(base, model);
  if (attention === "bahdanau") stages.push(...attend);
  for (let layer = 0; layer < layers; ++layer) {
    stages.push(...cells(layer));
    if (isFeeding && layer === 0) stages.push(...attend, { ...base, kind: "attentional", path: kAttentionPath, block: "d-cross", rank: kDetail.all });
  }
  if (attention === "luong" && !isFeeding) stages.push(...attend);
  if (!isFeeding || layers > 1) stages.push({ ...base, kind: "readout", path: "readout", block: "d-readout", rank: kDetail.all });
  return [...stages, { ...base, kind: "choose", rank: kDetail.word }];
}

/// All stages of a sentence. direction: "forward" or "backward", of a layer of the encoder.
export function recurrentStages(sentence) {
  const stages = encoderStages(sentence.model);
  for (let step = 0; step < sentence.steps; ++step) stages.push(...stepStages({ side: "decoder", step }, sentence.model));
  return [...stages, { kind: "beam", side: "decoder", step: sentence.steps - 1, rank: kDetail.word }];
}

/// The blocks of the figure, from below upwards: [name, height, type, text].
export function recurrentColumns(model) {
  const cross = attends(model) ? [["d-cross", 76, "attention", "machine.cross"]] : [], cell = ["d-cell", 76, "feed", "machine.cell"];
  return {
    encoder: [["e-embed", 32, "embed", "machine.embed"], ["e-forward", 76, "feed", "machine.forward"], ["e-backward", 76, "feed", "machine.backward"],
      ["e-summary", 34, "norm", attends(model) ? "machine.summary" : "machine.bottleneck"], ...(attends(model) ? [["e-memory", 34, "norm", "machine.memory"]] : [])],
    decoder: [["d-embed", 32, "embed", "machine.shift"], ...(model.attention === "bahdanau" ? [...cross, cell] : [cell, ...cross]),
      ...(model.input_feeding && model.layers === 1 ? [] : [["d-readout", 34, "norm", "machine.readout"]]), ["d-softmax", 92, "out", "machine.softmax"], ["d-output", 40, "out", null]],
  };
}

/// The states that are drawn in a block of the figure: the part of /v1/inspect.
export function recurrentStrip(name, layer) {
  const path = { "e-forward": `encoder.layers.${layer}.forward`, "e-backward": `encoder.layers.${layer}.backward`, "d-cell": `decoder.layers.${layer}` }[name];
  return path && { part: "cell", path };
}

/// The key of a stage's title and words; nothing where every model has the same.
export function recurrentKey(stage, model) {
  switch (stage.kind) {
    case "cellInput": return stage.side === "encoder" ? "cellInput" : stage.layer === 0 ? "cellInputWord" : "cellInputAbove";
    case "cellFed": return model.input_feeding ? "cellFed.feeding" : "cellFed.context";
    case "cellState": return stage.direction === "backward" ? "cellState.backward" : stage.side === "encoder" ? "cellState.forward" : "cellState.decoder";
    case "cellGates": case "cellNew": return `${stage.kind}.${model.cell}`;
    case "summary": return attends(model) ? "summary" : "bottleneck";
    case "scores": return model.attention === "bahdanau" ? "scores.additive" : "scores.product";
    case "context": return "context.source";
    case "shift": return "shift.recurrent";
    case "memory": return "memory.states";
    default: return null;
  }
}
