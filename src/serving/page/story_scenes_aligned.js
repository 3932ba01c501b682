// The moving parts of the story of models without self-attention (story_aligned.js). Each function draws one scene at a part
// of it, 0 to 1, over what stands on the stage already.
import { attends, isRecurrent, kernelOf } from "/assets/model_facts.js";
import { bars, bow, crossArcs, drop, end, enter, query, timesOf } from "/assets/story_scenes_decoder.js";
import { kEncoderScenes, levelStrips, plates } from "/assets/story_scenes_encoder.js";
import { phase } from "/assets/story_timeline.js";

const mix = (a, b, part) => a + (b - a) * part;
const clamp = (x) => Math.min(Math.max(x, 0), 1);
const stripWidth = ({ layout, facts }) => Math.min(layout.encoder.strip, (layout.encoder.right - layout.encoder.left) / (facts.layers + 2));
const columnOf = ({ layout: { encoder } }, direction) => mix(encoder.base, encoder.output, direction === "forward" ? 0.32 : 0.6);

function bases({ paint, layout, facts }, alpha) {
  for (let r = 0; r < facts.S; ++r) paint.strip(facts.parts.embedding.sum, r, layout.encoder.base, layout.source.y(r), layout.encoder.strip, layout.source.strip, { alpha });
}

function levels(stage, upTo, alpha) {
  for (let layer = 1; layer <= upTo; ++layer) levelStrips(stage, layer, stage.layout.encoder.level(layer), alpha);
}

// The cells of one direction have come to the row number `walk`: each word goes in, and the state passes on to the next.
function cells(stage, direction, walk) {
  const { paint, layout: { encoder, source }, facts } = stage, { S, parts } = facts, { state } = parts[direction], x = columnOf(stage, direction), isBack = direction === "backward", width = encoder.strip;
  for (let i = 0; i < S; ++i) {
    const r = isBack ? S - 1 - i : i, before = isBack ? r + 1 : r - 1, on = clamp(walk - i), y = source.y(r);
    if (on <= 0) continue;
    const comes = clamp(on * 2), made = clamp(on * 2 - 1);
    if (on < 1) paint.strip(parts.embedding.sum, r, mix(encoder.base, x, comes), y, width, source.strip, { alpha: 0.8 * (1 - made) });
    if (i > 0) {
      const begin = source.y(before), tip = mix(begin, y, comes);
      paint.line([[x + width / 2, begin], [x + width / 2, tip]], paint.colour.accent, 2, { alpha: 0.7 });
      if (on < 1) paint.strip(state, before, x, tip, width, source.strip, { alpha: 0.8 * (1 - made) });
    }
    paint.strip(state, r, x, y, width, source.strip, { alpha: made });
    if (on < 1) paint.outline(x, y, width, source.strip + 4, paint.colour.warm, on);
  }
}

// How far each state moved from the state before, as a bar beside it.
function changes({ paint, layout: { encoder, source }, facts }, x, walk) {
  const moved = facts.moved.filter((_, i) => i % 2), largest = Math.max(...moved, 1e-9);
  moved.forEach((value, r) => {
    paint.context.globalAlpha = 0.8 * clamp(walk - r - 0.5);
    paint.context.fillStyle = paint.colour.feed;
    paint.context.fillRect(x, source.y(r) - source.strip / 4, (value / largest) * encoder.bar * 0.5, source.strip / 2);
    paint.context.globalAlpha = 1;
  });
}

function forward(stage) {
  const { layout, facts, part } = stage, walk = clamp((part - 0.02) / 0.9) * facts.S;
  cells(stage, "forward", walk);
  changes(stage, columnOf(stage, "forward") + layout.encoder.strip + 4, walk);
}

// The cells of the other direction; in the end both states of a word stand side by side.
function backward(stage) {
  const { paint, layout: { encoder, source }, facts, part } = stage, { S, parts } = facts, joined = phase(part, 0.8, 1), width = stripWidth(stage);
  if (!joined) {
    cells(stage, "forward", S);
    return cells(stage, "backward", clamp((part - 0.02) / 0.75) * S);
  }
  for (let r = 0; r < S; ++r) {
    ["forward", "backward"].forEach((direction, k) => paint.strip(parts[direction].state, r, mix(columnOf(stage, direction), encoder.level(1) + (k * width) / 2, joined), source.y(r), mix(encoder.strip, width / 2, joined), source.strip));
  }
}

// The further layers. The halves of a recurrent layer come from above and from below; a row of convolutions comes from its window.
function layers(stage) {
  const { paint, layout: { encoder, source, gateY }, facts, part } = stage, { S, sentence } = facts, count = facts.layers, now = phase(part, 0.02, 0.98) * (count - 1), layer = Math.min(1 + Math.floor(now), count - 1), inside = clamp(now - (layer - 1));
  levels(stage, layer, 0.85);
  const width = stripWidth(stage), to = encoder.level(layer + 1), values = facts.levels[layer];
  if (isRecurrent(sentence.model)) {
    for (let r = 0; r < S; ++r) {
      paint.strip(values, r, to, source.y(r), width / 2, source.strip, { to: 0.5, alpha: clamp(inside * (S + 1) - r) });
      paint.strip(values, r, to + width / 2, source.y(r), width / 2, source.strip, { from: 0.5, alpha: clamp(inside * (S + 1) - (S - 1 - r)) });
    }
  } else {
    for (let r = 0; r < S; ++r) windowArcs(stage, r, encoder.level(layer) + width, to, phase(inside, 0, 0.7), r === facts.row ? 0.9 : 0.2);
    levelStrips(stage, layer + 1, to, phase(inside, 0.5, 0.95));
  }
  paint.text(`${layer + 1} / ${count}`, (encoder.left + encoder.right) / 2, gateY, { align: "center", bold: true, colour: paint.colour.warm });
}

// Lines from the rows of a window to the row that is made of them.
function windowArcs({ paint, layout: { source }, facts }, row, from, to, part, alpha) {
  const { before, after } = kernelOf(facts.sentence.model, "encoder");
  for (let place = Math.max(row - before, 0); place <= Math.min(row + after, facts.S - 1); ++place) {
    paint.arc(from, source.y(place), to, source.y(row), { weight: 0.12, colour: row === facts.row ? paint.colour.accent : paint.colour.soft, part, alpha });
  }
}

// The window of the followed word becomes a value and a gate, and what the gate lets through; then all words do the same.
function window(stage) {
  const { paint, layout: { encoder, source, gateY, isNarrow }, facts, part } = stage, { S, row, parts } = facts, { value, gate, gated, result } = parts.first, others = phase(part, 0.62, 0.8);
  const places = [0.24, 0.44, 0.64].map((at) => mix(encoder.base, encoder.output, at)), width = Math.min(encoder.strip, (encoder.output - encoder.base) * 0.17), last = encoder.level(1), lastWidth = stripWidth(stage);
  const gone = phase(part, 0.85, 1);
  [value, gate, gated].forEach((matrix, k) => {
    const own = phase(part, 0.15 + 0.14 * k, 0.3 + 0.14 * k);
    for (let r = 0; r < S; ++r) paint.strip(matrix, r, places[k], source.y(r), width, source.strip, { alpha: (r === row ? own : others) * (1 - gone) });
    paint.text(isNarrow ? ["A", "B", "⊙"][k] : ["w A + a", "w B + b", "⊙ σ"][k], places[k], gateY, { alpha: own * (1 - gone), colour: paint.colour.soft, size: 11 });
  });
  for (let r = 0; r < S; ++r) {
    windowArcs(stage, r, encoder.base + encoder.strip, places[0], r === row ? phase(part, 0, 0.18) : others, (r === row ? 0.9 : 0.2) * (1 - gone));
    paint.strip(result, r, last, source.y(r), lastWidth, source.strip, { alpha: gone });
  }
  paint.outline(places[2], source.y(row), width, source.strip + 4, paint.colour.accent, phase(part, 0.45, 0.55) * (1 - gone));
}

// The last states of both directions leave the encoder as one vector, and the decoder's first state is made of it.
function summary(stage) {
  const { paint, layout: { encoder, shelf, source, decoder, target }, facts, part } = stage, { S, parts, levels: made } = facts, on = phase(part, 0.08, 0.5), starts = phase(part, 0.55, 0.9), half = stripWidth(stage) / 2, x = encoder.level(facts.layers);
  levels(stage, facts.layers, mix(0.85, 0.2, on));
  [[S - 1, 0], [0, 0.5]].forEach(([r, from], k) => paint.strip(made.at(-1), r, mix(x + k * half, shelf.left + (k * shelf.width) / 2, on), mix(source.y(r), source.y((S - 1) / 2), on), mix(half, shelf.width / 2, on), source.strip + 4, { from, to: from + 0.5, alpha: keepsSummary(facts) ? 1 : 1 - starts }));
  if (on > 0.9) paint.outline(shelf.left, source.y((S - 1) / 2), shelf.width, source.strip + 8, paint.colour.warm, keepsSummary(facts) ? 1 : 1 - starts);
  paint.strip(parts.start.first_state, 0, mix(shelf.left, decoder.at, starts), mix(source.y((S - 1) / 2), target.y(0), starts), mix(shelf.width, decoder.strip, starts), target.strip, { alpha: starts });
}

const keepsSummary = ({ sentence }) => !attends(sentence.model);

function summaryOnShelf({ paint, layout: { shelf, source }, facts }, alpha) {
  paint.strip(facts.parts.start.summary, 0, shelf.left, source.y((facts.S - 1) / 2), shelf.width, source.strip + 4, { alpha });
  paint.outline(shelf.left, source.y((facts.S - 1) / 2), shelf.width, source.strip + 8, paint.colour.warm, alpha);
}

// What the decoder knows of the words before: the state that is passed on, or the rows in its window.
function carry({ paint, layout: { decoder, target }, facts, scene }, at) {
  const { step } = scene, { model } = facts.sentence, y = target.y(step);
  if (isRecurrent(model)) {
    const begin = step ? target.y(step - 1) : y, tip = mix(begin, y, at.self), alpha = at.enter * (1 - at.output);
    paint.line([[decoder.at + decoder.strip / 2, begin], [decoder.at + decoder.strip / 2, tip]], paint.colour.accent, 2, { alpha: 0.7 * alpha });
    paint.strip(facts.parts.state.before, step, decoder.at, tip - target.strip * (1 - at.query), decoder.strip, target.strip, { alpha });
    return paint.outline(decoder.at, tip - target.strip * (1 - at.query), decoder.strip, target.strip + 4, paint.colour.accent, alpha);
  }
  const { before } = kernelOf(model, "decoder");
  for (let place = Math.max(step - before, 0); place < step; ++place) bow(paint, decoder.words - 6, target.y(place), y, { weight: 0.3, colour: paint.colour.accent, alpha: 0.8 * (at.self - at.query * 0.75) });
}

function word(stage) {
  const at = timesOf(stage);
  enter(stage, at);
  carry(stage, at);
  if (stage.facts.cross) {
    query(stage, at);
    crossArcs(stage, at);
  }
  bars(stage, at);
  drop(stage, at);
}

/// What earlier scenes left.
export function alignedStanding(stage) {
  const { paint, layout, facts, scene } = stage, isEnd = scene.name === "end";
  if (["forward", "backward", "window"].includes(scene.name)) bases(stage, 1);
  if (["layers", "summary", "memory"].includes(scene.name) || scene.step !== undefined) bases(stage, 0.15);
  if (scene.step === undefined) return;
  levels(stage, facts.layers, 0.15);
  if (keepsSummary(facts)) summaryOnShelf(stage, isEnd ? 0.4 : 1);
  else for (let r = 0; r < facts.S; ++r) paint.strip(facts.parts.memory, r, layout.shelf.left, layout.source.y(r), layout.shelf.width, layout.source.strip, { alpha: isEnd ? 0.4 : 1 });
  if (facts.cross) plates(stage, isEnd ? 0.4 : 1);
  if (isEnd) return;
  for (let step = 0; step < scene.step; ++step) paint.strip(facts.parts.input.sum, step, layout.decoder.at, layout.target.y(step), layout.decoder.strip, layout.target.strip, { alpha: 0.25 });
}

export const kAlignedScenes = { ...kEncoderScenes, forward, backward, window, layers, summary, first: word, word, end };
