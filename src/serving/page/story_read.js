// The story of an encoder: the pieces of a text are rows at the left, the stack beside them, and what the head says of the
// text stands last: a label, a label for each word, or what may stand at a mask.
import { percent, show } from "/assets/colour.js";
import { keyWidth } from "/assets/model_facts.js";
import { answerKind } from "/assets/stages.js";
import { askOf, headOf, levelsOf, partsOf } from "/assets/story_facts.js";
import { encoderOf, kMargin, rowsOf } from "/assets/story_layout.js";
import { levelStrips } from "/assets/story_scenes_encoder.js";
import { phase, stagger } from "/assets/story_timeline.js";
import { pooledOf, textVector } from "/assets/view_read.js";

const mix = (a, b, part) => a + (b - a) * part;
const kBars = 5;

const kParts = {
  embedding: { part: "embedding", path: "embedding" }, attention: { part: "attention", path: "layers.0.self_attention" },
  residual: { part: "residual", path: "layers.0.self_attention" }, feed: { part: "feed_forward", path: "layers.0.feed_forward" },
  feedResidual: { part: "residual", path: "layers.0.feed_forward" }, memory: { part: "output", path: "encoder" },
};

// What stands for the whole text before the classes, or as its vector: a matrix of one row.
function wholeOf(sentence) {
  const { head, class_pooling, pooling } = sentence.model;
  if (head === "classes") return class_pooling === "pooler" ? pooledOf(sentence).then(({ result }) => result) : textVector(sentence, class_pooling);
  return head === "none" ? textVector(sentence, pooling) : null;
}

/// What the story needs, as loadFacts.
export async function readFacts(sentence, row) {
  const { model } = sentence, paths = sentence.attentions("encoder"), first = sentence.weights.get(paths[0]), head = headOf(first, row);
  const parts = await partsOf(sentence, kParts);
  parts.embedding = { ...parts.embedding, sum: parts.embedding.result ?? parts.embedding.sum }; // what the first layer reads
  return {
    sentence, parts, row, head, heads: model.n_heads, decoderHeads: model.n_heads, S: sentence.source.ids.length, T: 0, layers: model.encoder_layers,
    levels: await levelsOf(sentence, paths.length, (layer) => `layers.${layer}.feed_forward`),
    ask: askOf(parts, first, row, head, model, false), encoderWeights: paths.map((path) => sentence.weights.get(path)),
    whole: await wholeOf(sentence), wordRows: sentence.wordRows(),
  };
}

/// Whether a scene shows how the whole text becomes one vector.
export const hasPool = ({ head }) => head === "classes" || head === "none";

/// @return the geometry, in the names of makeLayout as far as there is the same
export function readLayout(width, height, { S, layers, sentence }) {
  const isNarrow = width < 620, top = isNarrow ? 66 : 44, gate = 20, isBelow = isNarrow && sentence.model.head !== "tags";
  const bottom = height - kMargin - (isBelow ? 92 : 0), labels = isNarrow ? 54 : Math.min(108, Math.max(66, width * 0.09));
  const encoderLeft = kMargin + labels + 6, encoderRight = width * (isBelow ? 0.78 : 0.66), left = encoderRight + (isNarrow ? 8 : 18);
  const vector = isNarrow ? width * 0.14 : width * 0.09, barsLeft = left + vector + 18;
  return {
    width, height, isNarrow, top, bottom, margin: kMargin, nameY: top - 8, gateY: top + 10,
    header: { height: top - 6, line: isNarrow ? 22 : 0, half: isNarrow ? width - 2 * kMargin : width / 2 - 2 * kMargin },
    source: rowsOf(S, top + gate, bottom), labels: { right: kMargin + labels, width: labels },
    encoder: encoderOf(encoderLeft, encoderRight, layers), answer: { left, width: width - kMargin - left, vector },
    bars: isBelow ? { left: kMargin, width: width - 2 * kMargin, row: 16, top: () => bottom + 12 }
      : { left: barsLeft, width: width - kMargin - barsLeft, row: 20, top: (y) => Math.min(Math.max(y - 50, top + gate), bottom - 104) },
  };
}

/// What is under a point, as hitAt.
export function readHit({ source, encoder, bottom, isNarrow }, x, y) {
  const row = Math.min(Math.max(Math.floor((y - source.top) / source.height), 0), source.count - 1);
  if (y < source.top - 4) return null;
  if (isNarrow && y > bottom + 6) return { kind: "answer", row: 0 };
  if (x < encoder.left) return { kind: "word", row };
  if (x < encoder.q) return { kind: "strip", row };
  if (x < encoder.bars) return { kind: "roles", row };
  if (x < encoder.joinGate) return { kind: "weights", row };
  return { kind: x < encoder.right ? "context" : "answer", row };
}

/// The stage of the study that computes what a scene shows, as stageOfScene.
export function stageOfReading(scene, model) {
  const attention = { side: "encoder", layer: 0 };
  return {
    words: { kind: "embed", side: "encoder" }, positions: { kind: "position", side: "encoder" }, roles: { ...attention, kind: "qkv" }, ask: { ...attention, kind: "softmax" },
    take: { ...attention, kind: "context" }, join: { ...attention, kind: "heads" }, around: { ...attention, kind: "feed" },
    layers: { ...attention, kind: "softmax", layer: model.encoder_layers - 1 },
    pool: { kind: model.head === "classes" && model.class_pooling === "pooler" ? "pool" : answerKind(model), side: "encoder" }, answer: { kind: answerKind(model), side: "encoder" },
  }[scene.name];
}

/// The stage of the study for what is under the pointer.
export function studiedOfReading({ kind, row }, model) {
  const attention = { side: "encoder", layer: 0 };
  return {
    word: { kind: "tokens", side: "encoder" }, strip: { kind: "embed", side: "encoder" }, roles: { ...attention, kind: "qkv" }, weights: { ...attention, kind: "softmax" },
    context: { ...attention, kind: "heads" }, answer: { kind: answerKind(model), side: "encoder" },
  }[kind] ?? { kind: "tokens", side: "encoder", row };
}

/// The values that captions name.
export function readValues(facts) {
  const { sentence, ask } = facts, { model } = sentence, best = ask.weights.indexOf(Math.max(...ask.weights)), top = sentence.shares()[0];
  const tagged = sentence.taggedWords().filter(({ tag }) => tag !== "O");
  return {
    S: facts.S, layers: facts.layers, h: facts.heads, d_k: keyWidth(model, false), d_model: model.d_model, d_ff: model.d_ff, V: model.source_vocab_size, C: model.n_labels,
    word: sentence.sourceLabels[facts.row], head: facts.head + 1, best: sentence.sourceLabels[best], score: show(ask.scores[best], 2), scaled: show(ask.scaled[best], 2),
    weight: show(ask.weights[best], 2), first: sentence.sourceLabels[0], label: top?.name ?? "", share: top ? percent(top.share) : "", count: sentence.taggedWords().length,
    tags: tagged.slice(0, 6).map(({ word, tag, probability }) => `${word}: ${tag} (${percent(probability)})`).join(", "), activation: model.pooler,
  };
}

// The rows as the layers left them.
function lastRows(stage, alpha) {
  const { layout, facts } = stage;
  for (let layer = 1; layer <= facts.layers; ++layer) levelStrips(stage, layer, layout.encoder.level(layer), alpha);
}

function lastStrips({ paint, layout: { encoder, source }, facts }, alpha) {
  for (let r = 0; r < source.count; ++r) paint.strip(facts.parts.memory, r, encoder.output, source.y(r), encoder.strip, source.strip, { alpha: alpha(r) });
}

// The vector of the whole text, at the height of the row that it is made of.
function wholeStrip({ paint, layout: { answer, source }, facts }, x, width, alpha) {
  paint.strip(facts.whole, 0, x, source.y(0), width, source.strip + 4, { alpha });
  paint.outline(x, source.y(0), width, source.strip + 6, paint.colour.warm, alpha);
  if (answer.vector > 40) paint.text("v", answer.left, source.y(0) - source.strip / 2 - 9, { alpha, colour: paint.colour.soft, size: 11 });
}

// The first row, or the mean of all rows, moves out of the stack and becomes the vector of the text.
function pool(stage) {
  const { layout, facts, part } = stage, { encoder, answer, source } = layout, { model } = facts.sentence;
  const isMean = (model.head === "classes" ? model.class_pooling : model.pooling) === "mean", moves = phase(part, 0.1, 0.55), made = phase(part, 0.5, 0.8);
  lastRows(stage, 0.15);
  lastStrips(stage, (r) => (isMean || r === 0 ? 1 : 0.25));
  for (let r = 0; r < (isMean ? source.count : 1); ++r) {
    stage.paint.strip(facts.parts.memory, r, mix(encoder.output, answer.left, moves), mix(source.y(r), source.y(0), moves), mix(encoder.strip, answer.vector, moves), source.strip, { alpha: moves > 0 ? (1 - made) * (isMean ? 0.5 : 1) : 0 });
  }
  wholeStrip(stage, answer.left, answer.vector, made);
  if (model.head === "classes" && model.class_pooling === "pooler" && !layout.isNarrow) stage.paint.text(`${model.pooler}(h₁ W + b)`, answer.left, layout.gateY, { alpha: made, colour: stage.paint.colour.soft, size: 11 });
}

// Bars of labels or of pieces, at the height of a row.
function bars({ paint, layout, facts }, row, grown) {
  const area = layout.bars, top = area.top(layout.source.y(row)), label = Math.min(layout.isNarrow ? 110 : 84, area.width * 0.45), room = Math.max(area.width - label - 44, 10);
  facts.sentence.shares().slice(0, kBars).forEach(({ name, share }, i) => {
    const y = top + (i + 0.5) * area.row, colour = i === 0 ? paint.colour.warm : paint.colour.soft, { context } = paint;
    paint.text(name, area.left + label - 4, y, { align: "right", width: label - 4, colour, bold: i === 0, alpha: grown });
    context.globalAlpha = grown * (i === 0 ? 0.95 : 0.5);
    context.fillStyle = colour;
    context.fillRect(area.left + label, y - 6, Math.max(share * room * grown, 1), 12);
    context.globalAlpha = 1;
    paint.text(percent(share), area.left + label + share * room * grown + 4, y, { size: 11, colour: paint.colour.soft, alpha: grown });
  });
}

// A label beside the first piece of each word.
function tags({ paint, layout, facts, part }) {
  const { answer, source } = layout, words = facts.sentence.taggedWords(), types = [...new Set(words.map(({ tag }) => tag))].sort();
  words.forEach(({ tag, probability }, i) => {
    const on = stagger(part, i, words.length, 0.15, 0.85), y = source.y(facts.wordRows[i] ?? 0), colour = tag === "O" ? paint.colour.soft : paint.head(types.indexOf(tag));
    if (facts.wordRows[i] === undefined) return;
    paint.text(`${tag} ${percent(probability)}`, answer.left, y, { width: answer.width, bold: tag !== "O", colour, alpha: on });
  });
}

function answer(stage) {
  const { paint, layout, facts, part } = stage, { sentence } = facts, { head } = sentence.model, row = head === "words" ? Math.max(sentence.maskRow, 0) : 0;
  lastRows(stage, 0.12);
  lastStrips(stage, (r) => (head === "tags" || (head === "words" && r === row) ? 1 : 0.25));
  if (facts.whole) wholeStrip(stage, layout.answer.left, layout.answer.vector, 1);
  if (head === "tags") return tags(stage);
  if (head === "words") paint.outline(layout.encoder.output, layout.source.y(row), layout.encoder.strip, layout.source.strip + 2, paint.colour.warm, phase(part, 0.05, 0.2));
  return bars(stage, row, phase(part, 0.2, 0.7));
}

export const kReadScenes = { pool, answer };
