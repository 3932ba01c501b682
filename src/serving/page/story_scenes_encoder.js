// The moving parts of the story's first half: words become vectors and rise through the encoder. Each function draws
// one scene at a part of it, 0 to 1, over what stands on the stage already (story_stage.js).
import { show } from "/assets/colour.js";
import { scoreText } from "/assets/model_facts.js";
import { phase, stagger } from "/assets/story_timeline.js";

const mix = (a, b, part) => a + (b - a) * part;

// Of a language model the rows of the prompt, or of what is written, alone.
function eachRow(layout, draw) {
  for (let r = 0; r < (layout.source.shown ?? layout.source.count); ++r) draw(r, layout.source.y(r), layout.source.strip);
}

// The ids come to the words, then each unfolds into its row of the table.
function words({ paint, layout, facts, part }) {
  const { encoder } = layout, { S, sentence, parts } = facts;
  eachRow(layout, (r, y, height) => {
    const id = stagger(part, r, S, 0.02, 0.35), strip = stagger(part, r, S, 0.35, 0.95);
    if (r % layout.source.every === 0) {
      paint.text(String(sentence.source.ids[r]), mix(encoder.base - 8, encoder.base + 4, id), y, { colour: paint.colour.embed, alpha: id * (1 - strip), size: 11 });
    }
    paint.strip(parts.embedding.words, r, encoder.base, y, encoder.strip * strip, height);
  });
}

// Waves, or the lines of learned positions, slide in from the left; each word's own row of them is added to its strip.
function positions({ paint, layout, facts, part }) {
  const { encoder } = layout, { S, parts } = facts, { positions: waves, words: before, sum } = parts.embedding;
  const slide = phase(part, 0, 0.35), merge = phase(part, 0.55, 0.9), width = waves.shape[1];
  [0, 0.12, 0.25].forEach((column, k) => {
    const c = Math.min(Math.floor(column * width / 2) * 2, width - 1), x = mix(encoder.left - 60, encoder.q + 20 + k * encoder.strip * 0.9, slide);
    const points = Array.from({ length: S }, (_, r) => [x + waves.values[r * width + c] * encoder.strip * 0.35, layout.source.y(r)]);
    paint.line(points, paint.heads[k], 1.6, { alpha: slide * (1 - merge) });
    points.forEach(([px, py]) => { paint.context.globalAlpha = slide * (1 - merge); paint.dot(px, py, 2.4, paint.heads[k]); });
    paint.context.globalAlpha = 1;
  });
  eachRow(layout, (r, y, height) => {
    paint.strip(before, r, encoder.base, y, encoder.strip, height, { alpha: 1 - merge });
    paint.strip(waves, r, mix(encoder.output, encoder.base, merge), y, encoder.strip, height, { alpha: slide * (1 - merge * 0.6) });
    paint.strip(sum, r, encoder.base, y, encoder.strip, height, { alpha: merge });
  });
}

// Copies of each strip go through the three matrices and come out as query, key and value.
function roles({ paint, layout, facts, part }) {
  const { encoder } = layout, { S, parts, heads } = facts, { sum } = parts.embedding;
  gates(paint, layout, phase(part, 0, 0.2));
  [["query", encoder.q], ["key", encoder.k], ["value", encoder.v]].forEach(([name, x], k) => eachRow(layout, (r, y, height) => {
    const on = stagger(part, r, S, 0.1 + 0.12 * k, 0.65 + 0.12 * k);
    const passed = phase(on, 0.45, 0.75), at = mix(encoder.base, x, on);
    paint.strip(sum, r, at, y, mix(encoder.strip, encoder.thin, on), height, { alpha: on > 0 ? 0.8 * (1 - passed) : 0 });
    paint.strip(parts.attention[name], r, at, y, encoder.thin, height, { alpha: passed });
    if (passed > 0) paint.headMarks(at, y + height / 2 + 1, encoder.thin, heads, { alpha: passed });
  }));
}

function gates(paint, layout, alpha) {
  const { encoder, isNarrow, gateY, source } = layout;
  [["Q", encoder.q], ["K", encoder.k], ["V", encoder.v]].forEach(([name, x]) => {
    if (isNarrow) paint.text(name, x + encoder.thin / 2, gateY, { align: "center", alpha, colour: paint.colour.soft });
    else paint.power("W", name, x + encoder.thin / 2 - 8, gateY, { alpha, colour: paint.colour.soft });
    paint.line([[x - 4, source.top], [x - 4, source.y(source.count - 1) + 8]], paint.colour.line, 1, { alpha, dash: [3, 3] });
  });
}

// Queries, keys and values as they stand after the scene "roles".
export function threeStrips({ paint, layout, facts }, alpha = 1, only = -1) {
  const { encoder } = layout, { parts, heads } = facts;
  gates(paint, layout, alpha);
  [["query", encoder.q], ["key", encoder.k], ["value", encoder.v]].forEach(([name, x]) => eachRow(layout, (r, y, height) => {
    paint.strip(parts.attention[name], r, x, y, encoder.thin, height, { alpha: only < 0 ? alpha : 0.45 * alpha });
    if (only >= 0) paint.strip(parts.attention[name], r, x + (only * encoder.thin) / heads, y, encoder.thin / heads, height, { alpha, from: only / heads, to: (only + 1) / heads });
    paint.headMarks(x, y + height / 2 + 1, encoder.thin, heads, { alpha, only });
  }));
}

// The length of the bar of row r: the score, then what the soft-max takes, then the weight.
function barOf({ scores, scaled, weights }, r, divided, softened, largest) {
  const score = mix(scores[r], scaled[r], divided) / largest;
  return mix(score, weights[r], softened);
}

// The query of one word goes along all keys; a bar grows on each, is scaled and becomes a share.
function ask(stage) {
  const { paint, layout, facts, part } = stage, { encoder, source } = layout, { ask: asked, row, head, heads, S } = facts;
  threeStrips(stage, 1, head);
  const walk = phase(part, 0.02, 0.5) * (S - 1), divided = phase(part, 0.52, 0.66), softened = phase(part, 0.7, 0.9);
  const y = part < 0.02 ? source.y(row) : source.y(walk), width = encoder.thin / heads;
  if (softened < 1) {
    const x = mix(encoder.q + (head * encoder.thin) / heads, encoder.k + (head * encoder.thin) / heads - width - 2, phase(part, 0, 0.04));
    paint.strip(facts.parts.attention.query, row, x, y, Math.max(width, 6), source.strip + 4, { from: head / heads, to: (head + 1) / heads, alpha: 1 - softened });
    paint.outline(x, y, Math.max(width, 6), source.strip + 4, paint.head(head), 1 - softened);
  }
  const largest = Math.max(...asked.scores.map(Math.abs), ...asked.scaled.map(Math.abs), 1e-9);
  for (let r = 0; r < S; ++r) {
    const grown = phase(walk, r - 0.7, r + 0.1), length = barOf(asked, r, divided, softened, largest) * encoder.bar * grown;
    if (Math.abs(length) < 0.3) continue;
    paint.context.fillStyle = length < 0 ? paint.colour.soft : paint.head(head);
    paint.context.globalAlpha = 0.85;
    paint.context.fillRect(length < 0 ? encoder.bars + length : encoder.bars, source.y(r) - source.strip / 2, Math.abs(length), source.strip);
    paint.context.globalAlpha = 1;
    const value = softened > 0.5 ? asked.weights[r] : divided > 0.5 ? asked.scaled[r] : asked.scores[r];
    const isLarge = Math.abs(length) > encoder.bar * 0.12;
    if (isLarge && source.height >= 12) paint.text(show(value, softened > 0.5 ? 2 : 1), encoder.bars + Math.max(length, 0) + 4, source.y(r), { size: 11, colour: paint.colour.soft });
  }
  paint.text(softened > 0.3 ? "softmax" : divided > 0.3 ? scoreText(facts.sentence.model, "√dₖ") : "q·k", encoder.bars, layout.gateY, { colour: paint.head(head) });
}

// The values come back along arcs as wide as the weights; in the end those of the other words, too.
function take(stage) {
  const { paint, layout, facts, part } = stage, { encoder, source } = layout, { head, heads, row, S } = facts;
  threeStrips(stage, 1, head);
  const from = encoder.v + encoder.thin, to = encoder.context, others = phase(part, 0.62, 0.85);
  for (let r = 0; r < S; ++r) headArcs(stage, { head, row: r, from, to, part: r === row ? phase(part, 0.02, 0.5) : others, alpha: r === row ? 0.9 : 0.22 });
  for (let r = 0; r < S; ++r) {
    const alpha = r === row ? phase(part, 0.35, 0.6) : others;
    const width = encoder.strip / heads;
    paint.strip(facts.parts.attention.context, r, to + head * width, source.y(r), width, source.strip, { from: head / heads, to: (head + 1) / heads, alpha });
    if (r === row) paint.outline(to + head * width, source.y(r), width, source.strip, paint.head(head), alpha);
  }
}

function headArcs({ paint, layout, facts }, { head, row, from, to, part, alpha, layer = 0, least = 0.03 }) {
  const entry = facts.encoderWeights[layer], [, , columns] = entry.shape, begin = (head * columns + row) * columns;
  for (let c = 0; c < columns; ++c) {
    const weight = entry.values[begin + c];
    if (weight > least) paint.arc(from, layout.source.y(c), to, layout.source.y(row), { weight, colour: paint.head(head), part, alpha });
  }
}

// All heads side by side, through W^O.
function join(stage) {
  const { paint, layout, facts, part } = stage, { encoder, source, gateY } = layout, { heads, row, S, parts } = facts;
  threeStrips(stage, 1 - phase(part, 0.45, 0.8));
  const through = phase(part, 0.55, 0.95), side = phase(part, 0.05, 0.35);
  for (let head = 0; head < heads; ++head) {
    headArcs(stage, { head, row, from: encoder.v + encoder.thin, to: encoder.context, part: side, alpha: 0.75 * (1 - phase(part, 0.4, 0.7)), least: 0.1 });
  }
  paint.power("W", "O", encoder.joinGate - 8, gateY, { colour: paint.colour.soft });
  paint.line([[encoder.joinGate, source.top], [encoder.joinGate, source.y(S - 1) + 8]], paint.colour.line, 1, { dash: [3, 3] });
  eachRow(layout, (r, y, height) => {
    const shown = r === row ? side : phase(part, 0.3, 0.5), x = mix(encoder.context, encoder.output, through);
    paint.strip(parts.attention.context, r, x, y, encoder.strip, height, { alpha: shown * (1 - through) });
    paint.headMarks(x, y + height / 2 + 1, encoder.strip, heads, { alpha: shown * (1 - through) });
    paint.strip(parts.residual.change, r, x, y, encoder.strip, height, { alpha: through });
  });
}

// The way around, the norm and the feed-forward, in the order of the model. kSteps: [what, from, to].
const kSteps = {
  post: [["add", 0, 0.25], ["norm", 0.25, 0.38], ["feed", 0.38, 0.78], ["add", 0.78, 0.9], ["norm", 0.9, 1]],
  pre: [["add", 0, 0.28], ["norm", 0.28, 0.42], ["feed", 0.42, 0.82], ["add", 0.82, 1]],
};

function around({ paint, layout, facts, part }) {
  const { encoder, source, gateY } = layout, { parts, sentence } = facts;
  const steps = kSteps[sentence.model.norm_order] ?? kSteps.post;
  const feed = steps.find(([what]) => what === "feed"), open = phase(part, feed[1], (feed[1] + feed[2]) / 2) - phase(part, (feed[1] + feed[2]) / 2, feed[2]);
  const added = phase(part, ...steps[0].slice(1)), done = phase(part, feed[2], 1);
  const wide = Math.min(sentence.model.d_ff / sentence.model.d_model, 2.2), now = steps.find(([, , to]) => part <= to) ?? steps.at(-1);
  eachRow(layout, (r, y, height) => {
    const way = mix(encoder.base, encoder.output, added);
    paint.strip(parts.residual.change, r, encoder.output, y, encoder.strip, height, { alpha: 1 - added });
    paint.strip(parts.residual.input, r, way, y - Math.sin(Math.PI * added) * source.height * 0.8, encoder.strip, height, { alpha: added < 1 ? 0.85 : 0 });
    const width = encoder.strip * mix(1, wide, open), x = encoder.output + encoder.strip - width;
    paint.strip(parts.residual.result, r, x, y, width, height, { alpha: (added === 1 ? 1 : 0) * (1 - open) * (1 - done) });
    paint.strip(parts.feed.active, r, x, y, width, height, { alpha: open });
    paint.strip(parts.feedResidual.result, r, encoder.output, y, encoder.strip, height, { alpha: done });
    if (now[0] === "norm") pulse(paint, encoder.output, y, encoder.strip, height, (part - now[1]) / (now[2] - now[1]));
  });
  paint.text({ add: "x + …", norm: "norm", feed: layout.isNarrow ? "FFN" : "W₁ → W₂" }[now[0]], encoder.output + encoder.strip, gateY, { align: "right", colour: paint.colour.soft });
}

function pulse(paint, x, y, width, height, part) {
  paint.outline(x, y, width, height * (1 + 0.7 * Math.sin(Math.PI * part)), paint.colour.norm, Math.sin(Math.PI * part));
}

// The remaining layers: arcs of all heads, from one column to the next.
function layers(stage) {
  const { paint, layout, facts, part } = stage, { encoder, source } = layout, { heads, S } = facts, count = facts.layers;
  const back = phase(part, 0, 0.12), now = phase(part, 0.12, 0.98) * (count - 1), layer = Math.min(1 + Math.floor(now), count - 1), inside = Math.min(now - (layer - 1), 1);
  const xOf = (level) => mix(encoder.output, encoder.level(level), back);
  for (let done = 1; done <= layer; ++done) levelStrips(stage, done, xOf(done), done === layer ? 1 : 0.8);
  const from = xOf(layer) + encoder.strip * 0.5, to = encoder.level(layer + 1);
  if (back === 1) {
    for (let head = 0; head < heads; ++head) {
      for (let r = 0; r < S; ++r) headArcs(stage, { head, row: r, from, to, part: phase(inside, 0, 0.7), alpha: 0.5 * (1 - phase(inside, 0.85, 1)), layer, least: 0.18 });
    }
  }
  levelStrips(stage, layer + 1, to, phase(inside, 0.5, 0.9));
  paint.text(`${layer + 1} / ${count}`, (encoder.left + encoder.right) / 2, layout.gateY, { align: "center", bold: true, colour: paint.colour.warm });
  paint.line([[encoder.left, source.top - 3], [mix(encoder.left, encoder.right, (layer + inside) / count), source.top - 3]], paint.colour.warm, 2);
}

/// The strips after a layer, narrow; only an outline where they were too many to fetch.
export function levelStrips({ paint, layout, facts }, layer, x, alpha) {
  const part = layer === facts.layers && facts.sentence.model.norm_order === "post" ? facts.parts.memory : facts.levels[layer - 1] ?? null;
  const width = Math.min(layout.encoder.strip, (layout.encoder.right - layout.encoder.left) / (facts.layers + 2));
  eachRow(layout, (r, y, height) => {
    paint.strip(part, r, x, y, width, height, { alpha });
  });
}

// The encoder's output moves to the shelf; the keys and values that the decoder makes of it stand beside it.
function memory(stage) {
  const { paint, layout, facts, part } = stage, { encoder, shelf } = layout, { S, parts } = facts;
  for (let layer = 1; layer <= facts.layers; ++layer) levelStrips(stage, layer, encoder.level(layer), 0.6 * (1 - phase(part, 0.2, 0.7)) + 0.15);
  eachRow(layout, (r, y, height) => {
    const on = stagger(part, r, S, 0.05, 0.75);
    paint.strip(parts.memory, r, mix(encoder.output, shelf.left, on), y, mix(encoder.strip, shelf.width, on), height, { alpha: on > 0 ? 1 : 0 });
  });
  plates(stage, phase(part, 0.7, 0.95));
}

/// Keys and values of the last decoder layer; the plates of the other layers stand behind.
export function plates({ paint, layout, facts }, alpha) {
  const { shelf } = layout, layers = Math.min(facts.sentence.attentions("cross").length, 6);
  eachRow(layout, (r, y, height) => {
    for (let layer = layers - 1; layer > 0; --layer) paint.outline(shelf.plates + 2 * layer, y - layer, shelf.plateWidth, height, paint.colour.line, alpha);
    const half = shelf.plateWidth / 2;
    paint.strip(facts.cross.key, r, shelf.plates, y, half, height, { alpha });
    paint.strip(facts.cross.value, r, shelf.plates + half, y, half, height, { alpha });
  });
  if (shelf.plateWidth > 16) paint.text("K V", shelf.plates, layout.gateY, { alpha, colour: paint.colour.soft, size: 11 });
}

export const kEncoderScenes = { words, positions, roles, ask, take, join, around, layers, memory };
