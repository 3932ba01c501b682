// The story of a language model: where things stand, what it is drawn from, and the scenes that only it has. The pieces of
// the text are rows at the left, the stack beside them; the cache is the shelf at its right, and the soft-max stands last.
import { percent } from "/assets/colour.js";
import { headWidth } from "/assets/model_facts.js";
import { firstRows } from "/assets/product.js";
import { askOf, headOf, levelsOf, partsOf } from "/assets/story_facts.js";
import { encoderOf, kMargin, rowsOf } from "/assets/story_layout.js";
import { levelStrips } from "/assets/story_scenes_encoder.js";
import { phase, stagger } from "/assets/story_timeline.js";
import { visible } from "/assets/written_text.js";

const mix = (a, b, part) => a + (b - a) * part;
const kBars = 5, kLeast = 0.05;

const kParts = {
  embedding: { part: "embedding", path: "embedding" }, attention: { part: "attention", path: "layers.0.self_attention" },
  residual: { part: "residual", path: "layers.0.self_attention" }, feed: { part: "feed_forward", path: "layers.0.feed_forward" },
  feedResidual: { part: "residual", path: "layers.0.feed_forward" }, output: { part: "output", path: "decoder" },
};

// Keys and values that heads share, once for each head.
function forEachHead(part, heads, width) {
  const [rows, columns] = part.shape, shared = heads / (columns / width);
  if (shared === 1) return part;
  const values = Array.from({ length: rows }, (_, r) => Array.from({ length: heads }, (__, head) => {
    const begin = r * columns + Math.floor(head / shared) * width;
    return part.values.slice(begin, begin + width);
  })).flat(2);
  return { shape: [rows, heads * width], values };
}

const attentionOf = (part, heads, width) => ({ ...part, key: forEachHead(part.key, heads, width), value: forEachHead(part.value, heads, width) });

// The matrices of a part, the rows of the prompt alone.
const ofPrompt = (part, rows) => part && Object.fromEntries(Object.entries(part).map(([name, value]) => [name, value?.shape ? firstRows(value, rows) : value]));

// The weights among the first `rows` pieces.
function amongFirst({ path, shape: [heads, all], values }, rows) {
  const kept = [];
  for (let head = 0; head < heads; ++head) {
    for (let r = 0; r < rows; ++r) kept.push(...values.slice((head * all + r) * all, (head * all + r) * all + rows));
  }
  return { path, shape: [heads, rows, rows], values: kept };
}

/// What the story needs, as loadFacts; the scenes of the prompt see its rows alone.
export async function aloneFacts(sentence, row) {
  const { model } = sentence, paths = sentence.attentions("decoder"), heads = model.decoder_n_heads, width = headWidth(model, true), S = sentence.source.ids.length;
  const all = await partsOf(sentence, kParts);
  const last = await sentence.part({ part: "attention", path: paths.at(-1) });
  const parts = Object.fromEntries(["embedding", "attention", "residual", "feed", "feedResidual"].map((name) => [name, ofPrompt(all[name], S)]));
  parts.attention = attentionOf(parts.attention, heads, width);
  Object.assign(parts, { memory: all.output, output: all.output, input: all.embedding });
  const weights = paths.map((path) => amongFirst(sentence.weights.get(path), S)), head = headOf(weights[0], row);
  return {
    sentence, parts, row, head, heads, decoderHeads: heads, S, T: sentence.written, rows: sentence.steps + 1, first: sentence.firstStep, layers: model.decoder_layers,
    last: attentionOf(last, heads, width), levels: await levelsOf(sentence, paths.length, (layer) => `layers.${layer}.feed_forward`),
    ask: askOf(parts, weights[0], row, head, model, true), encoderWeights: weights, crossWeights: sentence.weights.get(paths.at(-1)),
    looks: looksOf(sentence, paths), score: scoreOf(sentence),
  };
}

// Where each new piece looked, over all layers and heads: {from, to, weight}.
function looksOf(sentence, paths) {
  const looks = [];
  for (let row = sentence.firstStep; row < sentence.steps; ++row) {
    const sum = new Array(row + 1).fill(0);
    for (const path of paths) sentence.mean(path).slice(row * sentence.steps, row * sentence.steps + row + 1).forEach((weight, c) => { sum[c] += weight / paths.length; });
    sum.forEach((weight, column) => { if (column < row && weight > 0.12) looks.push({ from: column, to: row, weight }); });
  }
  return looks;
}

// The sum of the log-probabilities of the pieces that were written.
function scoreOf(sentence) {
  return sentence.candidates.steps.slice(sentence.firstStep).reduce((sum, step) => sum + Math.log(Math.max(step.chosen_probability, 1e-12)), 0);
}

/// @return the geometry, in the names of makeLayout as far as there is the same
export function aloneLayout(width, height, { rows, layers }) {
  const isNarrow = width < 620, top = isNarrow ? 66 : 44, gate = 20;
  const bottom = height - kMargin - (isNarrow ? 92 : 0);
  const labels = isNarrow ? 54 : Math.min(108, Math.max(66, width * 0.09));
  const encoderLeft = kMargin + labels + 6, encoderRight = width * (isNarrow ? 0.8 : 0.66), shelfLeft = encoderRight + (isNarrow ? 8 : 18);
  const shelfWidth = isNarrow ? width - kMargin - shelfLeft : width * 0.09, barsLeft = shelfLeft + shelfWidth + 18;
  return {
    width, height, isNarrow, top, bottom, margin: kMargin, nameY: top - 8, gateY: top + 10,
    header: { height: top - 6, line: isNarrow ? 22 : 0, half: isNarrow ? width - 2 * kMargin : width / 2 - 2 * kMargin },
    source: rowsOf(rows, top + gate, bottom), labels: { right: kMargin + labels, width: labels },
    encoder: encoderOf(encoderLeft, encoderRight, layers),
    shelf: { left: shelfLeft, width: shelfWidth, right: shelfLeft + shelfWidth },
    bars: isNarrow ? { left: kMargin, width: width - 2 * kMargin, row: 16, top: () => bottom + 12 }
      : { left: barsLeft, width: width - kMargin - barsLeft, row: 20, top: (y) => Math.min(Math.max(y - 50, top + gate), bottom - 104) },
  };
}

/// What is under a point, as hitAt.
export function aloneHit({ source, encoder, shelf, bars, bottom, isNarrow }, x, y) {
  const row = Math.min(Math.max(Math.floor((y - source.top) / source.height), 0), source.count - 2);
  if (y < source.top - 4) return null;
  if (isNarrow && y > bottom + 6) return { kind: "bars", row: 0 };
  if (x < encoder.left) return { kind: "word", row };
  if (x < encoder.q) return { kind: "strip", row };
  if (x < encoder.bars) return { kind: "roles", row };
  if (x < encoder.joinGate) return { kind: "weights", row };
  if (x < shelf.left) return { kind: "context", row };
  return x < shelf.right || isNarrow || y < bars.top(0) ? { kind: "memory", row } : { kind: "bars", row };
}

// Keys and values of a row on the shelf; the plates of the other layers stand behind.
function plate({ paint, layout, facts }, row, alpha, part = 1) {
  const { shelf, encoder, source } = layout, y = source.y(row), half = shelf.width / 2, layers = Math.min(facts.layers, 4);
  const left = mix(encoder.output, shelf.left, part);
  for (let layer = layers - 1; layer > 0 && part >= 1; --layer) paint.outline(left + 2 * layer, y - layer, shelf.width - 6, source.strip, paint.colour.line, alpha);
  paint.strip(facts.last.key, row, left, y, half - 4, source.strip, { alpha });
  paint.strip(facts.last.value, row, left + half - 2, y, half - 4, source.strip, { alpha });
}

/// The cache as far as it is filled: the rows before `rows`.
export function cacheRows(stage, rows, alpha) {
  for (let row = 0; row < rows; ++row) plate(stage, row, alpha);
  cacheNames(stage, alpha);
}

function cacheNames({ paint, layout: { shelf, gateY } }, alpha) {
  if (shelf.width < 40) return;
  ["K", "V"].forEach((name, i) => paint.text(name, shelf.left + (i * shelf.width) / 2, gateY, { alpha, colour: paint.colour.soft, size: 11 }));
}

// The keys and values of the whole prompt move to the cache at once.
function memory(stage) {
  const { layout, facts, part } = stage;
  for (let layer = 1; layer <= facts.layers; ++layer) levelStrips(stage, layer, layout.encoder.level(layer), 0.8 - 0.5 * phase(part, 0.2, 0.7));
  for (let row = 0; row < facts.S; ++row) plate(stage, row, stagger(part, row, facts.S, 0.02, 0.3), stagger(part, row, facts.S, 0.15, 0.85));
  cacheNames(stage, phase(part, 0.7, 0.9));
}

const kFirst = { enter: [0, 0], query: [0, 0], arcs: [0, 0], keep: [0, 0], rise: [0, 0.2], bars: [0.2, 0.6], drop: [0.82, 1] };
const kNext = { enter: [0, 0.14], query: [0.12, 0.3], arcs: [0.27, 0.56], keep: [0.46, 0.6], rise: [0.54, 0.7], bars: [0.66, 0.82], drop: [0.86, 1] };

function word(stage) {
  const { facts, scene, part } = stage, times = scene.step > facts.first ? kNext : kFirst;
  const at = Object.fromEntries(Object.entries(times).map(([name, [from, to]]) => [name, to ? phase(part, from, to) : 1]));
  if (scene.step > facts.first) asks(stage, at);
  rises(stage, at);
  bars(stage, at);
  drop(stage, at);
}

// The new piece becomes a vector; its query goes along the cache, arcs bring the values, and its own key and value stay.
function asks(stage, at) {
  const { paint, layout, facts, scene } = stage, { encoder, source, shelf } = layout, { step } = scene, y = source.y(step);
  paint.strip(facts.parts.input.sum, step, encoder.base, y, encoder.strip * at.enter, source.strip, { alpha: 1 - 0.75 * at.rise });
  if (at.query > 0 && at.arcs < 0.6) {
    const x = mix(encoder.base, shelf.left - encoder.strip * 0.5, at.query), alpha = 1 - phase(at.arcs, 0.1, 0.6);
    paint.strip(facts.last.query, step, x, y, encoder.strip * 0.5, source.strip + 2, { alpha });
    paint.headMarks(x, y + source.strip / 2 + 2, encoder.strip * 0.5, facts.heads, { alpha });
  }
  arcs(stage, at);
  if (at.keep > 0) plate(stage, step, at.keep, at.keep);
}

// Arcs from the cache, each head its colour, each as wide as its weight in the last layer.
function arcs({ paint, layout, facts, scene }, at) {
  if (at.arcs <= 0) return;
  const { encoder, shelf, source, labels, margin } = layout, entry = facts.crossWeights, [heads, rows, columns] = entry.shape, { step } = scene;
  const alpha = 0.85 * (1 - 0.7 * at.bars) * (1 - at.drop);
  for (let column = 0; column <= step; ++column) {
    let sum = 0;
    for (let head = 0; head < heads; ++head) {
      const weight = entry.values[(head * rows + step) * columns + column];
      sum += weight;
      if (weight >= kLeast) paint.arc(shelf.left - 2, source.y(column), encoder.context + encoder.strip, source.y(step) + ((head + 0.5) / heads - 0.5) * source.strip, { weight, colour: paint.head(head), part: at.arcs, alpha, most: heads > 4 ? 6 : 9 });
    }
    if (sum / heads > 0.03) paint.box(margin, source.y(column) - source.strip / 2 - 1, labels.width + 2, source.strip + 2, { fill: paint.colour.warm, alpha: 0.4 * (sum / heads) * at.arcs * (1 - at.drop), radius: 3 });
  }
}

// The piece rises through the layers, and its last vector stands at their end.
function rises(stage, at) {
  const { paint, layout, facts, scene } = stage, { encoder, source } = layout, y = source.y(scene.step);
  const width = Math.min(encoder.strip, (encoder.right - encoder.left) / (facts.layers + 2));
  for (let layer = 1; layer <= facts.layers && scene.step > facts.first; ++layer) {
    const on = phase(at.rise, (layer - 1) / facts.layers, layer / facts.layers);
    paint.strip(facts.levels[layer - 1] ?? null, scene.step, encoder.level(layer), y, width, source.strip, { alpha: on * 0.8 });
  }
  paint.strip(facts.parts.output, scene.step, encoder.output, y, encoder.strip, source.strip, { alpha: at.rise });
  paint.outline(encoder.output, y, encoder.strip, source.strip + 2, paint.colour.warm, at.rise * (1 - at.drop));
}

// The likeliest pieces.
function bars({ paint, layout, facts, scene }, at) {
  if (at.bars <= 0) return;
  const area = layout.bars, top = area.top(layout.source.y(scene.step)), candidates = facts.sentence.candidates.steps[scene.step];
  const label = Math.min(72, area.width * 0.42), room = Math.max(area.width - label - 44, 10), fade = at.bars * (1 - 0.8 * at.drop);
  candidates.ids.slice(0, kBars).forEach((id, i) => {
    const y = top + (i + 0.5) * area.row, isChosen = id === candidates.chosen_id, share = candidates.probabilities[i], colour = isChosen ? paint.colour.warm : paint.colour.soft;
    paint.text(visible(candidates.pieces[i]), area.left + label - 4, y, { align: "right", width: label - 4, colour, bold: isChosen, alpha: fade });
    paint.context.globalAlpha = fade * (isChosen ? 0.95 : 0.5);
    paint.context.fillStyle = colour;
    paint.context.fillRect(area.left + label, y - 6, Math.max(share * room * at.bars, 1), 12);
    paint.context.globalAlpha = 1;
    paint.text(percent(share), area.left + label + share * room * at.bars + 4, y, { size: 11, colour: paint.colour.soft, alpha: fade });
  });
}

// The winner drops out of the soft-max and becomes the next piece of the input.
function drop({ paint, layout, facts, scene }, at) {
  if (at.drop <= 0) return;
  const { source, labels } = layout, area = layout.bars, { step } = scene, candidates = facts.sentence.candidates.steps[step];
  const place = Math.min(Math.max(candidates.ids.indexOf(candidates.chosen_id), 0), kBars - 1);
  const x = area.left + Math.min(72, area.width * 0.42), y = area.top(source.y(step)) + (place + 0.5) * area.row;
  paint.text(facts.sentence.targetLabels[step], mix(x, labels.right, at.drop), mix(y, source.y(step + 1), at.drop), { align: "right", bold: true, colour: paint.colour.warm });
}

// Where each new piece looked, from row to row.
function end({ paint, layout, facts, part }) {
  const { source, encoder } = layout, x = encoder.left + 6, { context } = paint;
  facts.looks.forEach(({ from, to, weight }, i) => {
    const on = stagger(part, i, facts.looks.length, 0, 0.85), y1 = source.y(from), y2 = source.y(to), reach = Math.min((encoder.right - encoder.left) * 0.9, 20 + Math.abs(y2 - y1) * 0.8);
    if (on <= 0) return;
    context.globalAlpha = 0.6 * on;
    context.strokeStyle = paint.head(to);
    context.lineWidth = 0.5 + 9 * weight;
    context.beginPath();
    context.moveTo(x, y1);
    context.bezierCurveTo(x + reach, y1, x + reach, y2, x, y2);
    context.stroke();
    context.globalAlpha = 1;
  });
}

export const kAloneScenes = { memory, first: word, word, end };
