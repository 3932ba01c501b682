// The way through the machine: every stage of a translation, of a text that a language model continues, or of one that an
// encoder reads, in the order it is computed.
import { addsDistances, addsPositions, isAlone, isConvolutional, isReader, isRecurrent, scales, turns } from "/assets/model_facts.js";
import { convolutionalStages } from "/assets/stages_convolutional.js";
import { recurrentStages } from "/assets/stages_recurrent.js";

/// How fine the steps are; a stage is stopped at when its rank is at most that.
export const kDetail = { word: 1, layer: 2, all: 3 };

// The kinds of a sub-layer's stages in the order of the model: pre-norm normalises what the sub-layer reads, post-norm
// normalises the sum with what came in.
const kAttention = ["qkv", "turn", "cache", "scores", "scale", "relative", "mask", "softmax", "context", "heads"];
const kOrders = {
  post: { attention: [...kAttention, "norm"], feed: ["feed", "feedNorm"] },
  pre: { attention: ["norm", ...kAttention, "add"], feed: ["feedNorm", "feed", "feedAdd"] },
};
/// The kinds of stages that show one head.
export const kOfHead = kAttention.filter((kind) => kind !== "heads");
const kLandmarks = ["softmax", "feed", "cache"]; // where a step by sub-layers stops

function subLayer(base, kinds) {
  return kinds.map((kind) => ({ ...base, kind, rank: kLandmarks.includes(kind) ? kDetail.layer : kDetail.all }));
}

// The stages of an attention that the model has. Cross-attention knows no places of queries beside keys.
function attentionStages(model, base, { isCross = false, isMasked = false, isCached = false } = {}) {
  const order = kOrders[model.norm_order] ?? kOrders.post;
  const isThere = { turn: !isCross && turns(model), cache: isCached, scale: scales(model), relative: !isCross && addsDistances(model), mask: isMasked };
  return subLayer({ ...base, cross: isCross }, order.attention.filter((kind) => isThere[kind] ?? true));
}

// A language model: the prompt becomes vectors, which enter the stack at once; then each new piece follows. The keys and
// values of what was read before stand in the cache.
function stagesAlone(sentence) {
  const { model } = sentence, isPre = model.norm_order === "pre", order = kOrders[model.norm_order] ?? kOrders.post;
  const stages = [{ kind: "tokens", side: "prompt", rank: kDetail.word }, { kind: "embed", side: "prompt", rank: kDetail.layer }];
  if (addsPositions(model)) stages.push({ kind: "position", side: "prompt", rank: kDetail.layer });
  for (let step = sentence.firstStep; step < sentence.steps; ++step) {
    const base = { side: "decoder", step };
    stages.push({ ...base, kind: "shift", rank: kDetail.layer });
    for (let layer = 0; layer < model.decoder_layers; ++layer) {
      stages.push(...attentionStages(model, { ...base, layer, path: `layers.${layer}.self_attention` }, { isMasked: true, isCached: true }));
      stages.push(...subLayer({ ...base, layer, path: `layers.${layer}.feed_forward` }, order.feed));
    }
    if (isPre) stages.push({ ...base, kind: "finalNorm", path: "norm", rank: kDetail.all });
    stages.push({ ...base, kind: "choose", rank: kDetail.word });
  }
  return stages;
}

/// The kind of an encoder's last stage, which depends on its head.
export const answerKind = ({ head }) => ({ classes: "labels", tags: "tagged", words: "filled" })[head] ?? "vector";

// An encoder: the text becomes vectors, which rise through the stack; its head says something of them.
function stagesOfReader({ model }) {
  const order = kOrders[model.norm_order] ?? kOrders.post, base = { side: "encoder" }, stages = [{ ...base, kind: "tokens", rank: kDetail.word }, { ...base, kind: "embed", rank: kDetail.layer }];
  if (addsPositions(model)) stages.push({ ...base, kind: "position", rank: kDetail.layer });
  if (model.segments > 0 || model.embedding_norm) stages.push({ ...base, kind: "embedNorm", rank: kDetail.all });
  for (let layer = 0; layer < model.encoder_layers; ++layer) {
    stages.push(...attentionStages(model, { ...base, layer, path: `layers.${layer}.self_attention` }));
    stages.push(...subLayer({ ...base, layer, path: `layers.${layer}.feed_forward` }, order.feed));
  }
  if (model.norm_order === "pre") stages.push({ ...base, kind: "finalNorm", path: "norm", rank: kDetail.all });
  if (model.head === "classes" && model.class_pooling === "pooler") stages.push({ ...base, kind: "pool", rank: kDetail.layer });
  stages.push({ ...base, kind: answerKind(model), rank: kDetail.word });
  return stages;
}

/// All stages of a sentence. side: "encoder", "decoder" or, of a language model, "prompt"; step: the row of the decoder
/// whose next token is being made.
export function makeStages(sentence) {
  if (isAlone(sentence.model)) return stagesAlone(sentence);
  if (isReader(sentence.model)) return stagesOfReader(sentence);
  if (isRecurrent(sentence.model)) return recurrentStages(sentence);
  if (isConvolutional(sentence.model)) return convolutionalStages(sentence);
  const { model } = sentence, { encoder_layers, decoder_layers, norm_order } = model;
  const order = kOrders[norm_order] ?? kOrders.post, isPre = norm_order === "pre";
  const stages = [{ kind: "tokens", side: "encoder", rank: kDetail.word }, { kind: "embed", side: "encoder", rank: kDetail.layer }];
  if (addsPositions(model)) stages.push({ kind: "position", side: "encoder", rank: kDetail.layer });
  for (let layer = 0; layer < encoder_layers; ++layer) {
    const path = `encoder.layers.${layer}`;
    stages.push(...attentionStages(model, { side: "encoder", layer, path: `${path}.self_attention` }));
    stages.push(...subLayer({ side: "encoder", layer, path: `${path}.feed_forward` }, order.feed));
  }
  if (isPre) stages.push({ kind: "finalNorm", side: "encoder", path: "encoder.norm", rank: kDetail.all });
  stages.push({ kind: "memory", side: "encoder", rank: kDetail.word });
  for (let step = 0; step < sentence.steps; ++step) {
    const base = { side: "decoder", step };
    stages.push({ ...base, kind: "shift", rank: kDetail.layer });
    for (let layer = 0; layer < decoder_layers; ++layer) {
      const path = `decoder.layers.${layer}`;
      stages.push(...attentionStages(model, { ...base, layer, path: `${path}.self_attention` }, { isMasked: true }));
      stages.push(...attentionStages(model, { ...base, layer, path: `${path}.cross_attention` }, { isCross: true }));
      stages.push(...subLayer({ ...base, layer, path: `${path}.feed_forward` }, order.feed));
    }
    if (isPre) stages.push({ ...base, kind: "finalNorm", path: "decoder.norm", rank: kDetail.all });
    stages.push({ ...base, kind: "choose", rank: kDetail.word });
  }
  stages.push({ kind: "beam", side: "decoder", step: sentence.steps - 1, rank: kDetail.word });
  return stages;
}

/// The next stage to stop at from `index`, forward or back; `index` itself when there is none.
export function neighbour(stages, index, direction, detail) {
  for (let i = index + direction; i >= 0 && i < stages.length; i += direction) {
    if (stages[i].rank <= detail) return i;
  }
  return index;
}

/// The place of a stage with these properties, or -1.
export function findStage(stages, wanted) {
  return stages.findIndex((stage) => Object.entries(wanted).every(([key, value]) => stage[key] === value));
}

/// The letters of the rows of queries and of keys in a stage: S source words, T target words.
export function lettersOf(stage) {
  if (stage.side !== "decoder") return ["S", "S"];
  return stage.cross ? ["T", "S"] : ["T", "T"];
}

/// The block of the figure that a stage stands in.
export function blockOf(stage) {
  if (stage.block) return stage.block;
  const prefix = stage.side === "encoder" ? "e" : "d";
  switch (stage.kind) {
    case "tokens": return stage.side === "prompt" ? "d-embed" : "e-input";
    case "embed": return `${prefix}-embed`;
    case "position": return `${prefix}-position`;
    case "cache": return "d-cache";
    case "embedNorm": return "e-embed-norm";
    case "pool": return "e-pool";
    case "labels": case "tagged": case "filled": case "vector": return "e-answer";
    case "memory": return "e-memory";
    case "shift": return "d-embed";
    case "choose": return "d-softmax";
    case "beam": return "d-output";
    case "feed": return `${prefix}-feed`;
    case "feedNorm": return `${prefix}-feed-norm`;
    case "feedAdd": return `${prefix}-feed-add`;
    case "finalNorm": return `${prefix}-final`;
    default: {
      const block = stage.cross ? "cross" : "self";
      return ["norm", "add"].includes(stage.kind) ? `${prefix}-${block}-${stage.kind}` : `${prefix}-${block}`;
    }
  }
}
