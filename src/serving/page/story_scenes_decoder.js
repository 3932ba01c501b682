// The moving parts of the story's second half: each word of the translation is drawn out of the source.
import { percent } from "/assets/colour.js";
import { pieceLabel } from "/assets/sentence.js";
import { phase, stagger } from "/assets/story_timeline.js";

const mix = (a, b, part) => a + (b - a) * part;
const kBars = 5;

// When what happens in the making of a word: [from, to].
const kFirst = { enter: [0, 0.12], self: [0.12, 0.26], query: [0.26, 0.4], arcs: [0.38, 0.62], output: [0.58, 0.66], bars: [0.64, 0.8], drop: [0.87, 1] };
const kNext = { enter: [0, 0.16], self: [0.1, 0.3], query: [0.22, 0.38], arcs: [0.34, 0.6], output: [0.54, 0.62], bars: [0.58, 0.76], drop: [0.84, 1] };

/// How far each of these has come in a scene.
export function timesOf({ scene, part }) {
  return Object.fromEntries(Object.entries(scene.step ? kNext : kFirst).map(([name, [from, to]]) => [name, phase(part, from, to)]));
}

function word(stage) {
  const at = timesOf(stage);
  enter(stage, at);
  selfArcs(stage, at);
  query(stage, at);
  crossArcs(stage, at);
  bars(stage, at);
  drop(stage, at);
}

/// The last word moves into the decoder's input and becomes a vector.
export function enter({ paint, layout, facts, scene }, at) {
  const { decoder, target } = layout, y = target.y(scene.step);
  paint.outline(decoder.words - 4, y, decoder.wordsWidth + 4, Math.min(target.height, 22), paint.colour.warm, at.enter);
  const width = decoder.strip * at.enter;
  paint.strip(facts.parts.input.sum, scene.step, decoder.at + decoder.strip - width, y, width, target.strip, { alpha: 1 - at.output });
  paint.strip(facts.parts.output, scene.step, decoder.at, y, decoder.strip, target.strip, { alpha: at.output });
}

// Masked self-attention: arcs to the words before; what comes later is dark.
function selfArcs({ paint, layout, facts, scene }, at) {
  const { decoder, target } = layout, { step } = scene, [heads, , columns] = facts.selfWeights.shape;
  const alpha = 0.8 * (at.self - at.query * 0.75), y = target.y(step), x = decoder.words - 6;
  for (let head = 0; head < heads; ++head) {
    for (let c = 0; c < step; ++c) {
      const weight = facts.selfWeights.values[(head * columns + step) * columns + c];
      if (weight < 0.08 || alpha <= 0) continue;
      bow(paint, x, target.y(c), y, { weight, colour: paint.head(head), alpha });
    }
  }
  const dark = at.self * (1 - at.arcs * 0.6), top = target.y(step) + target.height / 2, bottom = target.y(target.count - 1) + target.height / 2;
  paint.box(decoder.words - 4, top, decoder.wordsWidth + 4, bottom - top, { fill: paint.colour.ground, alpha: 0.9 * dark, radius: 4 });
}

/// A half circle at the left of the words, from one row to another.
export function bow(paint, x, y1, y2, { weight, colour, alpha }) {
  const { context } = paint, reach = Math.min(26, 6 + Math.abs(y2 - y1) * 0.3);
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = 0.4 + 5 * weight;
  context.beginPath();
  context.moveTo(x, y1);
  context.bezierCurveTo(x - reach, y1, x - reach, y2, x, y2);
  context.stroke();
  context.globalAlpha = 1;
}

/// The query of the word, all heads of the last layer, goes to the keys on the shelf.
export function query({ paint, layout, facts, scene }, at) {
  if (at.query <= 0 || at.arcs >= 0.5) return;
  const { decoder, shelf, target, source } = layout, { step } = scene;
  const x = mix(decoder.at, shelf.plates + shelf.plateWidth + 4, at.query), width = Math.min(decoder.strip * 0.5, 34);
  const y = mix(target.y(step), source.y((source.count - 1) / 2), at.query * 0.5), alpha = 1 - phase(at.arcs, 0, 0.5);
  paint.strip(facts.cross.query, step, x, y, width, target.strip + 2, { alpha });
  paint.headMarks(x, y + target.strip / 2 + 2, width, facts.decoderHeads, { alpha });
}

/// The weight of one source piece for a step: the mean over the heads of the last layer.
export function meanWeight(entry, step, column) {
  const [heads, rows, columns] = entry.shape;
  let sum = 0;
  for (let head = 0; head < heads; ++head) sum += entry.values[(head * rows + step) * columns + column];
  return sum / heads;
}

/// Arcs from the source carry the values; each head its colour, each arc as wide as its weight.
export function crossArcs({ paint, layout, facts, scene }, at) {
  if (at.arcs <= 0) return;
  const { decoder, shelf, target, source, labels } = layout, { step } = scene, entry = facts.crossWeights, [heads, rows, columns] = entry.shape;
  const y = target.y(step), from = shelf.plates + shelf.plateWidth, alpha = 0.85 * (1 - 0.7 * at.bars) * (1 - at.drop);
  for (let column = 0; column < columns; ++column) {
    const mean = meanWeight(entry, step, column);
    if (mean > 0.02) paint.box(layout.margin, source.y(column) - source.strip / 2 - 1, labels.width + 2, source.strip + 2, { fill: paint.colour.warm, alpha: 0.4 * mean * at.arcs, radius: 3 });
    for (let head = 0; head < heads; ++head) {
      const weight = entry.values[(head * rows + step) * columns + column];
      if (weight < 0.05) continue;
      paint.arc(from, source.y(column), decoder.at, y + ((head + 0.5) / heads - 0.5) * target.strip, { weight, colour: paint.head(head), part: at.arcs, alpha, most: heads > 4 ? 6 : 9 });
    }
  }
}

/// The likeliest pieces; what the search kept besides stands below as ghosts.
export function bars({ paint, layout, facts, scene }, at) {
  if (at.bars <= 0) return;
  const area = layout.bars, top = area.top(layout.target.y(scene.step)), candidates = facts.sentence.candidates.steps[scene.step];
  const label = Math.min(72, area.width * 0.42), room = Math.max(area.width - label - 44, 10), fade = at.bars * (1 - 0.8 * at.drop);
  candidates.ids.slice(0, kBars).forEach((id, i) => {
    const y = top + (i + 0.5) * area.row, isChosen = id === candidates.chosen_id, share = candidates.probabilities[i];
    const colour = isChosen ? paint.colour.warm : paint.colour.soft;
    paint.text(pieceLabel(candidates.pieces[i]), area.left + label - 4, y, { align: "right", width: label - 4, colour, bold: isChosen, alpha: fade });
    paint.context.globalAlpha = fade * (isChosen ? 0.95 : 0.5);
    paint.context.fillStyle = colour;
    paint.context.fillRect(area.left + label, y - 6, Math.max(share * room * at.bars, 1), 12);
    paint.context.globalAlpha = 1;
    paint.text(percent(share), area.left + label + share * room * at.bars + 4, y, { size: 11, colour: paint.colour.soft, alpha: fade });
  });
  ghosts({ paint, layout, facts, scene }, area, top + kBars * area.row + 8, fade);
}

function ghosts({ paint, layout, facts, scene }, area, y, fade) {
  if (layout.isNarrow) return;
  (facts.ghosts[scene.step] ?? []).slice(0, 3).forEach((ghost, i) => paint.text(`${ghost.isAhead ? "↑ " : ""}${ghost.text}`, area.left + 6, y + i * 15, {
    size: 11, width: area.width, colour: ghost.isAhead ? paint.colour.warm : paint.colour.soft, alpha: fade * 0.7 }));
}

/// The winner drops out of the soft-max: up into the translation, and down to the decoder's next input.
export function drop({ paint, layout, facts, scene }, at) {
  if (at.drop <= 0) return;
  const { decoder, target, margin, header, isNarrow } = layout, area = layout.bars, { step } = scene;
  const candidates = facts.sentence.candidates.steps[step], place = Math.max(candidates.ids.indexOf(candidates.chosen_id), 0);
  const x = area.left + Math.min(72, area.width * 0.42) - 40, y = area.top(target.y(step)) + (Math.min(place, kBars - 1) + 0.5) * area.row;
  const label = pieceLabel(facts.sentence.target.pieces[step]);
  paint.text(label, mix(x, decoder.words, at.drop), mix(y, target.y(step + 1), at.drop), { bold: true, colour: paint.colour.warm });
  const headerX = isNarrow ? margin + header.half * 0.6 : layout.width / 2 + header.half * 0.5;
  if (label !== "</s>") paint.text(label, mix(x, headerX, at.drop), mix(y, isNarrow ? 40 : 20, at.drop), { colour: paint.colour.warm, alpha: (1 - at.drop) * 0.8 });
}

/// Ribbons between the words of both sides, and the score.
export function end({ paint, layout, facts, part }) {
  const { source, target, decoder, labels } = layout;
  const centre = (rows, pieces, shift) => pieces.reduce((sum, i) => sum + rows.y(i + shift), 0) / pieces.length;
  facts.ribbons.forEach(({ source: from, target: to, weight }, i) => paint.arc(labels.right + 6, centre(source, from, 0), decoder.words - 6, centre(target, to, 1), {
    weight, colour: paint.head(to[0]), part: stagger(part, i, facts.ribbons.length, 0, 0.8), alpha: 0.55, most: 16 }));
}

export const kDecoderScenes = { first: word, word, end };
