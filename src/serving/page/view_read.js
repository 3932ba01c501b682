// The last stages of an encoder: the norm behind the embeddings, the pooler, the classes, a label for each word, what may
// stand at a mask, and the vector of a text.
import { signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { hasBias } from "/assets/model_facts.js";
import { columnWindow, product, someColumns, transposed } from "/assets/product.js";
import { kAnswers, bar } from "/assets/read_answer.js";
import { rowOf } from "/assets/sentence.js";
import { t } from "/assets/strings.js";
import { columnSteps, precisionNote } from "/assets/view_attention.js";
import { maps, normFinding, normParameters, parameterStrips, rowsOf } from "/assets/view_layers.js";
import { lawful, numberStrip, wordMatrix } from "/assets/view_words.js";

const kMostNumbers = 400_000; // of one reply
const kMostLabels = 12; // rows of the output weight that are followed

const added = (left, right) => ({ shape: left.shape, values: left.values.map((value, i) => value + right.values[i]) });
const asRow = (values) => ({ shape: [1, values.length], values });
const kActivations = { tanh: Math.tanh, relu: (x) => Math.max(x, 0), silu: (x) => x / (1 + Math.exp(-x)), "relu-squared": (x) => Math.max(x, 0) ** 2,
  "gelu-tanh": (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))), gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)) };

// The error function: its series near 0, and its continued fraction beyond (Abramowitz and Stegun 1964, 7.1.5 and 7.1.14).
function erf(x) {
  const a = Math.abs(x);
  if (a < 3) {
    let term = a, sum = a;
    for (let n = 1; Math.abs(term) > 1e-17 * sum; ++n) { term *= (-a * a) / n; sum += term / (2 * n + 1); }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; --n) fraction = (n / 2) / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / ((a + fraction) * Math.sqrt(Math.PI)));
}

const output = (sentence) => sentence.part({ part: "output", path: "encoder" }).then((part) => part.output);

// A map x W + b of one row, whose weight is fetched in windows of columns.
async function mapped(sentence, input, path) {
  const width = input.values.length, step = Math.max(Math.floor(kMostNumbers / width), 1), values = [];
  for (let begin = 0; begin < width; begin += step) {
    const columns = [begin, Math.min(begin + step, width)], { values: weight, shape } = (await sentence.part({ part: "parameter", path: `${path}.weight`, columns })).parameter;
    const bias = hasBias(sentence.model, "map") ? (await sentence.part({ part: "parameter", path: `${path}.bias`, columns })).parameter.values : null;
    for (let c = 0; c < shape[1]; ++c) values.push(input.values.reduce((sum, x, i) => sum + x * weight[i * shape[1] + c], bias ? bias[c] : 0));
  }
  return asRow(values);
}

/// What stands for a text, [1, d_model]: the mean of its rows, or its first row.
export async function textVector(sentence, pooling) {
  const rows = await output(sentence), [count, width] = rows.shape;
  if (pooling === "pooler") return (await pooledOf(sentence)).result;
  if (pooling === "first") return asRow(rowOf(rows, 0));
  const mean = Array.from({ length: width }, (_, c) => rows.values.reduce((sum, value, i) => (i % width === c ? sum + value : sum), 0) / count);
  if (!sentence.model.unit_length || sentence.model.head !== "none") return asRow(mean);
  const length = Math.hypot(...mean);
  return asRow(mean.map((value) => (length > 0 ? value / length : 0)));
}

/// The first row behind the pooler: {input, before, result}, each [1, d_model].
export async function pooledOf(sentence) {
  const input = asRow(rowOf(await output(sentence), 0)), before = await mapped(sentence, input, "pooler");
  return { input, before, result: asRow(before.values.map(kActivations[sentence.model.pooler])) };
}

// A product of one row with a square weight, a window of its columns.
async function squareProduct({ sentence, state, go }, { path, label, left, symbol, bias: biasSymbol, result }) {
  const width = left.part.values.length, columns = columnWindow(width, width, state.outColumn ?? 0);
  const weight = (await sentence.part({ part: "parameter", path: `${path}.weight`, columns })).parameter;
  const bias = hasBias(sentence.model, "map") ? (await sentence.part({ part: "parameter", path: `${path}.bias`, columns })).parameter : null;
  return [product({ law: "linear", rows: [label], row: 0, firstColumn: columns[0], left: { symbol: left.symbol, ...left.part }, right: { symbol, ...weight },
    bias: bias ? { symbol: biasSymbol, ...bias } : null, result: { symbol: result.symbol, ...someColumns(result.part, ...columns) } }), columnSteps(columns, width, (outColumn) => go({ outColumn }))];
}

const activationOf = (title, activation, input, result, label) => lawful(wordMatrix(title, "[1, d_model]", result, [label], { row: 0, rowHeight: 14 }), "activation", { activation, input, factor: null, result });

/// The logits of some outputs: a row times their rows of the output weight.
async function logitsProduct(sentence, { label, left, path, ids, names }) {
  const rows = (await sentence.part({ part: "parameter", path, rows: ids })).parameter, whole = (await sentence.part({ part: "parameter", path: "output.bias" })).parameter;
  const bias = { symbol: "b", values: ids.map((id) => whole.values[id]) }, width = left.part.values.length;
  const values = ids.map((_, r) => rowOf(rows, r).reduce((sum, value, i) => sum + value * left.part.values[i], bias.values[r]));
  return product({ law: "linear", rows: [label], row: 0, columns: names, left: { symbol: left.symbol, shape: [1, width], values: left.part.values },
    right: { symbol: path === "output.weight" ? "W^T" : "E^T", ...transposed(rows) }, bias, result: { symbol: "z", ...asRow(values) } });
}

/// The sum of the embeddings, with the rows of segments, and its norm.
export async function embedNormView(context) {
  const { sentence, state } = context, { model } = sentence, part = await sentence.part({ part: "embedding", path: "embedding" });
  const before = part.segments ? added(part.sum, part.segments) : part.sum, norm = model.embedding_norm ? await normParameters(context, "embedding.norm") : null;
  const named = [[model.positions === "rope" ? "X" : "X + P", part.sum]];
  if (part.segments) named.push(["E_seg", part.segments], ["y", before, "sum", { left: part.sum, right: part.segments }]);
  if (norm) named.push(["LayerNorm(y)", part.result, "norm", { input: before, ...norm }]);
  return el("div", {}, norm ? normFinding(sentence.sourceLabels, state.row, before, part.result) : null, maps(context, named, norm ? parameterStrips(norm) : []));
}

export async function poolView(context) {
  const { sentence } = context, { model } = sentence, { input, before, result } = await pooledOf(sentence), label = sentence.sourceLabels[0];
  return el("div", {}, await squareProduct(context, { path: "pooler", label, left: { symbol: "h₁", part: input }, symbol: "W_p", bias: "b_p", result: { symbol: "a", part: before } }),
    activationOf(`v = ${model.pooler}(a)`, model.pooler, before, result, label), numberStrip("v", result.values, signedLimit(result.values)), precisionNote(sentence));
}

/// The classes of a text and their probabilities, as the server gives them, and the product that makes their logits.
export async function labelsView({ sentence }) {
  const { model, request: { labels } } = sentence, left = { symbol: "v", part: await textVector(sentence, model.class_pooling) };
  const ids = sentence.shares().slice(0, kMostLabels).map(({ name }) => labels.indexOf(name)).filter((id) => id >= 0);
  return el("div", {}, kAnswers.classify.elements({ data: [sentence.answer] }),
    ids.length ? await logitsProduct(sentence, { label: "v", left, path: "output.weight", ids, names: ids.map((id) => labels[id]) }) : null, precisionNote(sentence));
}

/// A label for each word, and the logits of the row that is chosen.
export async function taggedView(context) {
  const { sentence, state } = context, { labels } = sentence.request, { row } = rowsOf(context), rows = await output(sentence), chosen = Math.min(row, rows.shape[0] - 1);
  const ids = labels.slice(0, kMostLabels).map((_, id) => id);
  return el("div", {}, kAnswers.tag.elements({ text: sentence.source.text, data: [sentence.answer] }, { labels }),
    wordMatrix("H", "[S, d_model]", rows, sentence.sourceLabels, { row: Math.min(state.row, rows.shape[0] - 1), onRow: (next) => context.go({ row: next }), rowHeight: 12 }),
    ids.length ? await logitsProduct(sentence, { label: sentence.sourceLabels[chosen], left: { symbol: "h", part: asRow(rowOf(rows, chosen)) }, path: "output.weight", ids, names: labels.slice(0, kMostLabels) }) : null, precisionNote(sentence));
}

/// What may stand at the first mask: a map, its activation and norm, and the table of words.
export async function filledView(context) {
  const { sentence } = context, { model } = sentence, row = sentence.maskRow;
  if (row < 0 || !sentence.answer) return el("p", { class: "note" }, t("read.noMask", { mask: sentence.request.mask ?? "" }));
  const label = sentence.sourceLabels[row], input = asRow(rowOf(await output(sentence), row)), before = await mapped(sentence, input, "transform");
  const active = asRow(before.values.map(kActivations[model.activation])), norm = await normParameters(context, "transform.norm"), y = normed(active, norm);
  const [candidates] = sentence.answer.masks;
  return el("div", {}, el("div", { class: "bars shares" }, candidates.map(({ piece, probability }, i) => bar(piece.trim() || "␣", probability, i === 0))),
    await squareProduct(context, { path: "transform", label, left: { symbol: "h", part: input }, symbol: "W_t", bias: "b_t", result: { symbol: "a", part: before } }),
    activationOf(`${model.activation}(a)`, model.activation, before, active, label),
    lawful(wordMatrix("y", "[1, d_model]", y, [label], { row: 0, rowHeight: 14 }), "norm", { input: active, ...norm, result: y }),
    await logitsProduct(sentence, { label, left: { symbol: "y", part: y }, path: "embedding.weight", ids: candidates.map(({ id }) => id), names: candidates.map(({ piece }) => piece.trim() || "␣") }), precisionNote(sentence));
}

function normed({ values }, { gain, bias, epsilon, kind }) {
  const mean = kind === "rms" ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
  const root = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length + epsilon);
  return asRow(values.map((value, i) => ((value - mean) / root) * gain.values[i] + (bias ? bias.values[i] : 0)));
}

/// The vector of a text, of an encoder without a head.
export async function vectorView({ sentence, state, go }) {
  const rows = await output(sentence), vector = await textVector(sentence, sentence.model.pooling);
  return el("div", {}, wordMatrix("H", "[S, d_model]", rows, sentence.sourceLabels, { row: Math.min(state.row, rows.shape[0] - 1), onRow: (row) => go({ row }), rowHeight: 12 }),
    wordMatrix("v", "[1, d_model]", vector, ["v"], { row: 0, rowHeight: 14 }), numberStrip("v", vector.values, signedLimit(vector.values)));
}
