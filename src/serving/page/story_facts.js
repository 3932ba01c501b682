// The numbers that the story is drawn from. All come from the inspection of the sentence; nothing is made up.
import { strongestLink } from "/assets/glance.js";
import { addsDistances, headWidth, keyWidth, scales } from "/assets/model_facts.js";
import { distancesOf } from "/assets/relative_positions.js";
import { rowOf } from "/assets/sentence.js";

const kMark = "\u2581";
const kMostNumbers = 100_000; // of one reply that is fetched for a picture alone

/// The words that pieces spell, as lists of their indices; the end of the sentence is no word.
export function wordGroups(pieces) {
  const groups = [];
  pieces.forEach((piece, i) => {
    if (piece === "</s>" || piece === "<s>") return;
    if (piece.startsWith(kMark) || !groups.length) groups.push([]);
    groups.at(-1).push(i);
  });
  return groups;
}

/// The text that pieces spell.
export function spell(pieces) {
  return pieces.filter((piece) => piece !== "</s>" && piece !== "<s>").join("").replaceAll(kMark, " ").trim();
}

/// Row `row` of a head's weights, from a part {shape: [H, T, S], values}.
export function weightsOf(entry, head, row) {
  const [, rows, columns] = entry.shape;
  const begin = (head * rows + row) * columns;
  return entry.values.slice(begin, begin + columns);
}

/// The sum over layers and heads of the cross-attention, [T][S], each row divided by the number of heads summed.
export function summedCross(sentence) {
  const entries = sentence.attentions("cross").map((path) => sentence.weights.get(path));
  const heads = entries.reduce((sum, entry) => sum + entry.shape[0], 0);
  const [, rows, columns] = entries[0].shape;
  const sum = Array.from({ length: rows }, () => new Array(columns).fill(0));
  for (const entry of entries) {
    entry.values.forEach((value, i) => { sum[Math.floor(i / columns) % rows][i % columns] += value / heads; });
  }
  return sum;
}

/// Ribbons between words: {source, target: lists of pieces, weight}, the mean over the pieces of the target word.
export function ribbonsOf(sentence) {
  const cross = summedCross(sentence);
  const sources = wordGroups(sentence.source.pieces), targets = wordGroups(sentence.target.pieces);
  return targets.flatMap((target) => sources.map((source) => ({
    source, target,
    weight: target.reduce((sum, t) => sum + source.reduce((inner, s) => inner + cross[t][s], 0), 0) / target.length,
  }))).filter(({ weight }) => weight > 0.08);
}

/// What the search kept beside the winner at each step: [{text, score, isAhead}], the best first.
export function ghostsOf({ nodes, finished }) {
  const winner = new Set();
  for (let node = finished[0]?.node ?? -1; node >= 0; node = nodes[node].parent) winner.add(node);
  const steps = [];
  nodes.forEach((node, i) => (steps[node.step] ??= []).push({ ...node, index: i }));
  return steps.map((kept) => {
    const own = kept.find((node) => winner.has(node.index));
    return kept.filter((node) => node !== own).sort((a, b) => b.score - a.score)
      .map((node) => ({ text: lastPieces(nodes, node.index), isAhead: Boolean(own) && node.score > own.score }));
  });
}

function lastPieces(nodes, index) {
  const pieces = [];
  for (let node = index; node >= 0 && pieces.length < 3; node = nodes[node].parent) pieces.unshift(nodes[node].piece);
  return spell(pieces) || pieces.at(-1);
}

// One matrix of many that are shown beside words.
const kParts = {
  embedding: { part: "embedding", path: "encoder.embedding" }, attention: { part: "attention", path: "encoder.layers.0.self_attention" },
  residual: { part: "residual", path: "encoder.layers.0.self_attention" }, feed: { part: "feed_forward", path: "encoder.layers.0.feed_forward" },
  feedResidual: { part: "residual", path: "encoder.layers.0.feed_forward" }, memory: { part: "output", path: "encoder" },
  input: { part: "embedding", path: "decoder.embedding" }, output: { part: "output", path: "decoder" },
};

const kDistances = { part: "parameter", path: "encoder.relative_positions.weight" };

// What the story can do without where a reply would be too large: {part: its names}. It is drawn as an outline then.
const kOptional = { residual: ["input", "change", "result"], feed: ["active"], feedResidual: ["result"] };

/// The parts that `kinds` names: {name: what to ask for}. Each is fetched once.
export async function partsOf(sentence, kinds) {
  const parts = {};
  for (const [name, wanted] of Object.entries(kinds)) {
    try {
      parts[name] = await sentence.part(wanted);
    } catch (error) {
      if (!kOptional[name]) throw error;
      parts[name] = Object.fromEntries(kOptional[name].map((value) => [value, null]));
    }
  }
  for (const side of ["memory", "output"]) if (parts[side]) parts[side] = parts[side].output;
  return parts;
}

/// What each layer writes; nothing where that is too much for a picture. @param pathOf(layer): of its feed-forward
export async function levelsOf(sentence, count, pathOf) {
  if (4 * sentence.model.d_model * sentence.mainLabels.length > kMostNumbers) return [];
  const results = [];
  for (let layer = 0; layer < count; ++layer) {
    const wanted = { part: "residual", path: pathOf(layer) };
    results.push(await sentence.part(wanted).then((part) => part.result, () => null)); // only a picture
  }
  return results;
}

/// Scores of one query against all keys, what the soft-max takes, and weights.
/// @param distances  the numbers of relative positions, [buckets, h]; undefined in a model without
export function askOf({ attention, distances }, entry, row, head, model, inDecoder) {
  const width = headWidth(model, inDecoder);
  const slice = (part, r, one) => rowOf(part, r).slice(one * width, (one + 1) * width);
  const sharing = entry.shape[0] / (attention.key.shape[1] / width), query = slice(attention.query, row, head); // heads that share a key
  const scores = Array.from({ length: attention.key.shape[0] }, (_, r) => slice(attention.key, r, Math.floor(head / sharing)).reduce((sum, k, i) => sum + k * query[i], 0));
  const factor = scales(model) ? 1 / Math.sqrt(keyWidth(model, inDecoder)) : 1, added = distances ? distancesOf(distances.parameter, model, { head, row, count: scores.length }) : null;
  return { scores, scaled: scores.map((score, r) => factor * score + (added?.[r] ?? 0)), weights: weightsOf(entry, head, row) };
}

/// The head of a layer's weights in which the word looks most at another word.
export function headOf(entry, row) {
  let best = { head: 0, weight: -1 };
  for (let head = 0; head < entry.shape[0]; ++head) {
    weightsOf(entry, head, row).forEach((weight, column) => { if (column !== row && weight > best.weight) best = { head, weight }; });
  }
  return best.head;
}

/// Fetches what the story needs, one part after the other, since the server computes one inspection at a time.
/// @param row  the source piece that is followed
export async function loadFacts(sentence, row) {
  const parts = await partsOf(sentence, addsDistances(sentence.model) ? { ...kParts, distances: kDistances } : kParts);
  const crossPaths = sentence.attentions("cross"), selfPaths = sentence.attentions("decoder");
  const cross = await sentence.part({ part: "attention", path: crossPaths.at(-1) });
  const { model } = sentence;
  const first = sentence.weights.get("encoder.layers.0.self_attention"), head = headOf(first, row);
  return {
    sentence, parts, cross, row, head,
    S: sentence.sourceLabels.length, T: sentence.steps, layers: model.encoder_layers, heads: model.n_heads, decoderHeads: model.decoder_n_heads,
    levels: await levelsOf(sentence, model.encoder_layers, (layer) => `encoder.layers.${layer}.feed_forward`),
    ask: askOf(parts, first, row, head, model, false),
    crossWeights: sentence.weights.get(crossPaths.at(-1)), selfWeights: sentence.weights.get(selfPaths.at(-1)),
    encoderWeights: sentence.attentions("encoder").map((path) => sentence.weights.get(path)),
    ghosts: ghostsOf(sentence.beam), ribbons: ribbonsOf(sentence), best: sentence.beam.finished[0] ?? null,
    link: strongestLink(sentence, row),
  };
}
