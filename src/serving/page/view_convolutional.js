// The stages of convolutional models: the window of a row, the convolution and its gate, the scaled sums, and the rows that a
// state has seen.
import { show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { heatmap } from "/assets/heatmap.js";
import { kernelOf, reachOf } from "/assets/model_facts.js";
import { firstRows, someColumns } from "/assets/product.js";
import { rowOf } from "/assets/sentence.js";
import { t } from "/assets/strings.js";
import { precisionNote } from "/assets/view_attention.js";
import { mapped, matrixOf, shownRows } from "/assets/view_maps.js";
import { lawful, numberStrip, wordMatrix } from "/assets/view_words.js";

const rowName = (stage) => (stage.side === "decoder" ? "y" : "x");
const wordName = (stage) => (stage.side === "decoder" ? "g" : "e");
const layerOf = ({ sentence, stage }) => sentence.part({ part: "convolution", path: stage.path });
const wordsOf = async (sentence, side) => (await sentence.part({ part: "embedding", path: `${side}.embedding` })).sum;
// A part of which columns are asked for.
const columnsOf = (part) => ({ columns: part.shape[1], part: (columns) => someColumns(part, ...columns) });

/// The rows of each window side by side, [N, K·H]; rows past an end are 0.
export function windowsOf({ shape: [rows, width], values }, { before, after }) {
  const found = [];
  for (let r = 0; r < rows; ++r) {
    for (let place = r - before; place <= r + after; ++place) {
      for (let i = 0; i < width; ++i) found.push(place < 0 || place >= rows ? 0 : values[place * width + i]);
    }
  }
  return { shape: [rows, (before + after + 1) * width], values: found };
}

// A map from one part to another, with the weight and the bias at `path`.
const mapView = (context, { left, path, letters: [weight, bias], result, symbol }) => mapped(context, { left, weight: { symbol: weight, path: `${path}.weight` }, bias: { symbol: bias, path: `${path}.bias` }, result: { symbol, ...columnsOf(result) } });

// The formula of the first number of the chosen row, with the numbers put in.
const numbersIn = (word, ...parts) => el("p", { class: "numbers-in number" }, t("numbers.in", { word }), parts.join(" "));

// factor · (left + right), beside what is added. Each: {name, part}.
function scaledSum(context, { left, right, factor, symbol, letter, result }) {
  const { count, row, labels } = shownRows(context), [a, b, made] = [left.part, right.part, result].map((part) => show(rowOf(part, row)[0])), limit = signedLimit([...left.part.values, ...right.part.values]);
  const matrix = (name, part) => matrixOf(context, name, letter, part, limit), strip = (name, part) => numberStrip(name, rowOf(part, row), limit, 6);
  return [el("div", { class: "sum" }, strip(left.name, left.part), strip(right.name, right.part), strip(symbol, result)), numbersIn(labels[row], factor.name, "·", `(${a} + ${b})`, "=", made),
    el("div", { class: "pair-of-maps" }, matrix(left.name, left.part), matrix(right.name, right.part),
      lawful(matrix(`${symbol} = ${factor.name} · (${left.name} + ${right.name})`, result), "scaled_sum", { left: firstRows(left.part, count), right: firstRows(right.part, count), factor: factor.value, result: firstRows(result, count) }))];
}
const kHalf = { name: "√½", value: Math.SQRT1_2 };

/// Into the width of the convolutions.
export async function convInView(context) {
  const { sentence, stage } = context, { input } = await sentence.part({ part: "convolution", path: `${stage.side}.layers.0` });
  return el("div", {}, await mapView(context, { left: { symbol: wordName(stage), part: await wordsOf(sentence, stage.side) }, path: stage.path, letters: ["W", "c"], result: input, symbol: `${rowName(stage)}\u2070` }), normNote(sentence), precisionNote(sentence));
}

// Weight normalisation is said where its weights are shown.
const normNote = (sentence) => (sentence.model.weight_norm ? el("p", { class: "note" }, t("product.normed")) : null);

/// The rows that a convolution sees at the chosen row, and the windows of all rows.
export async function windowView(context) {
  const { sentence, stage } = context, { input } = await layerOf(context), { labels, row, count } = shownRows(context), kernel = kernelOf(sentence.model, stage.side);
  const known = firstRows(input, count), windows = windowsOf(known, kernel), places = Array.from({ length: kernel.before + 1 + kernel.after }, (_, i) => row - kernel.before + i);
  const isThere = (place) => place >= 0 && place < count, limit = signedLimit(input.values);
  const finding = t("window.finding", { word: labels[row], words: places.map((place) => (isThere(place) ? labels[place] : "0")).join(" · ") });
  return el("div", {}, el("p", { class: "finding" }, finding),
    el("ol", { class: "pieces growing" }, labels.map((label, i) => el("li", { class: i >= count ? "later" : places.includes(i) ? "newest" : "" }, el("span", {}, el("b", {}, i >= count ? "?" : label))))),
    wordMatrix(`w ${labels[row]}`, "[K, H]", { shape: [places.length, input.shape[1]], values: rowOf(windows, row) }, places.map((place) => (isThere(place) ? labels[place] : "0")), { row: kernel.before, largest: limit, rowHeight: 16 }),
    el("div", { class: "stack-of-maps" }, matrixOf(context, `${rowName(stage)}`, "H", input, limit),
      lawful(matrixOf(context, "w", "K·H", { shape: [labels.length, windows.shape[1]], values: [...windows.values, ...new Array((labels.length - count) * windows.shape[1]).fill(0)] }, limit), "windows", { input: known, ...kernel, result: windows })));
}

const kMaps = ["value", "gate"];

/// The two products of a convolution: the value and the gate.
export async function convolveView(context) {
  const { sentence, stage, state, go } = context, part = await layerOf(context), { count } = shownRows(context), chosen = kMaps[state.map ?? 0];
  const windows = windowsOf(firstRows(part.input, count), kernelOf(sentence.model, stage.side));
  return el("div", {},
    el("div", { class: "heads", role: "group", "aria-label": t("product.choose") }, kMaps.map((name, i) => el("button", { "aria-pressed": String(name === chosen), on: { click: () => go({ map: i }) } }, t(`convolve.${name}`)))),
    await mapView(context, { left: { symbol: "w", part: windows }, path: `${stage.path}.${chosen}`, letters: chosen === "value" ? ["A", "a"] : ["B", "b"], result: part[chosen], symbol: chosen === "value" ? "w A + a" : "w B + b" }), normNote(sentence), precisionNote(sentence));
}

const sigmoid = (value) => 1 / (1 + Math.exp(-value));

/// The value as far as the gate is open.
export async function gluView(context) {
  const { stage } = context, { value, gate, gated } = await layerOf(context), { labels, row, count } = shownRows(context);
  const open = { shape: gate.shape, values: gate.values.map(sigmoid) }, ofRow = rowOf(open, row), limit = signedLimit([...value.values, ...gated.values]);
  const strip = (name, part, largest) => numberStrip(name, rowOf(part, row), largest, 6), part = (matrix) => firstRows(matrix, count), letter = stage.side === "decoder" ? "h" : "v", first = (matrix) => show(rowOf(matrix, row)[0]);
  return el("div", {},
    el("p", { class: "finding" }, t("glu.finding", { word: labels[row], open: ofRow.filter((x) => x > 0.5).length, all: ofRow.length, mean: show(ofRow.reduce((sum, x) => sum + x, 0) / ofRow.length, 2) })),
    el("div", { class: "sum" }, strip("w A + a", value, limit), strip("σ(w B + b)", open, 1), strip(letter, gated, limit)), numbersIn(labels[row], first(value), "·", `σ(${first(gate)})`, "=", first(value), "·", first(open), "=", first(gated)),
    el("div", { class: "pair-of-maps" }, matrixOf(context, "w A + a", "H", value, limit), matrixOf(context, "w B + b", "H", gate),
      lawful(matrixOf(context, "σ(w B + b)", "H", open, 1), "gate_of", { input: part(gate), result: part(open) }),
      lawful(matrixOf(context, `${letter} = (w A + a) ⊙ σ(w B + b)`, "H", gated, limit), "glu", { value: part(value), gate: part(gate), result: part(gated) })));
}

/// The query of a layer: the state and the word.
export async function convQueryView(context) {
  const { sentence, stage } = context, part = await layerOf(context), { query } = await sentence.part({ part: "attention", path: `${stage.path}.attention` });
  return el("div", {}, await mapView(context, { left: { symbol: "h", part: part.gated }, path: `${stage.path}.attention.query`, letters: ["W", "c"], result: part.query_map, symbol: "h W + c" }),
    scaledSum(context, { left: { name: "h W + c", part: part.query_map }, right: { name: "g", part: await wordsOf(sentence, "decoder") }, factor: kHalf, symbol: "q", letter: "d_model", result: query }), normNote(sentence), precisionNote(sentence));
}

/// What was attended to goes into the row of the layer.
export async function convFoundView(context) {
  const { sentence, stage } = context, part = await layerOf(context), attention = await sentence.part({ part: "attention", path: `${stage.path}.attention` });
  return el("div", {}, await mapView(context, { left: { symbol: "c", part: attention.context }, path: `${stage.path}.attention.context`, letters: ["W", "b"], result: part.context_map, symbol: "c W + b" }),
    scaledSum(context, { left: { name: "h", part: part.gated }, right: { name: "c W + b", part: part.context_map }, factor: kHalf, symbol: "f", letter: "H", result: part.attended }), normNote(sentence), precisionNote(sentence));
}

const kLevels = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
const levelName = (stage, level) => rowName(stage) + [...String(level)].map((digit) => kLevels[digit]).join("");

/// The result of a layer: what it made and what came in.
export async function convAddView(context) {
  const { stage } = context, part = await layerOf(context), inDecoder = stage.side === "decoder";
  return el("div", {}, scaledSum(context, { left: { name: inDecoder ? "f" : "v", part: inDecoder ? part.attended : part.gated }, right: { name: levelName(stage, stage.layer), part: part.input }, factor: kHalf,
    symbol: levelName(stage, stage.layer + 1), letter: "H", result: part.result }));
}

/// Which rows a state has seen: a line for each layer, the words at the bottom.  @param onRow(r): another state is chosen
export function reachMap(model, { side, layers, row, labels, later, onRow }) {
  const values = [], levels = Array.from({ length: layers + 1 }, (_, i) => layers - i), letter = side === "decoder" ? "y" : "x";
  for (const level of levels) {
    const [first, last] = reachOf(model, side, layers - level, row);
    values.push(...labels.map((_, place) => (place >= first && place <= last && !later?.(place) ? 1 : 0)));
  }
  const names = levels.map((level) => (level ? `${t("layer")} ${level}` : t("reach.words"))), columns = labels.map((label, place) => (later?.(place) ? "?" : label));
  return lawful(el("div", {}, heatmap({ rows: names, columns, values, kind: "weights", row: 0, column: row, maxCell: 30, label: t("reach.label", { word: columns[row] }),
    describe: (r, c, value) => t(value ? "reach.seen" : "reach.unseen", { word: columns[row], other: columns[c], level: names[r] }), onCell: onRow ? (r, column) => onRow(column) : undefined })),
  "reach", { kernel: model.kernel_width, side, row, letter, result: { shape: [layers + 1, labels.length], values } });
}

/// What a state has seen: words of the same side through the windows, and in the decoder the source through attention.
export async function reachView(context) {
  const { sentence, stage, go } = context, { model } = sentence, { labels, row, later, count } = shownRows(context), layers = stage.layer + 1, inDecoder = stage.side === "decoder";
  const [first, last] = reachOf(model, stage.side, layers, row), from = Math.max(first, 0), to = Math.min(last, count - 1);
  const words = labels.slice(from, to + 1).join(" "), finding = t(`reach.finding.${stage.side}`, { word: labels[row], words, seen: to - from + 1, all: labels.length, S: sentence.sourceLabels.length });
  return el("div", {}, el("p", { class: "finding" }, finding), reachMap(model, { side: stage.side, layers, row, labels, later, onRow: inDecoder ? undefined : (chosen) => go({ row: chosen }) }),
    inDecoder ? sourceReach(context, layers) : null);
}

// What each layer of the decoder took from the source at a step, and which words a state of the encoder brings along.
function sourceReach({ sentence, stage }, layers) {
  const paths = sentence.attentions("cross").slice(0, layers), width = sentence.sourceLabels.length;
  const values = paths.flatMap((path) => sentence.mean(path).slice(stage.step * width, (stage.step + 1) * width));
  const [first, last] = reachOf(sentence.model, "encoder", sentence.model.encoder_layers, 0);
  return [el("h3", {}, t("reach.source")), el("p", { class: "note" }, t("reach.sourceNote", { seen: last - first + 1 })),
    heatmap({ rows: paths.map((_, layer) => `${t("layer")} ${layer + 1}`), columns: sentence.sourceLabels, values, kind: "weights", row: layers - 1, maxCell: 34, label: t("reach.source") })];
}

/// The keys of the source.
export async function convKeysView(context) {
  const { sentence, stage } = context, { output } = await sentence.part({ part: "output", path: "encoder" }), { result } = await sentence.part({ part: "convolution", path: `encoder.layers.${sentence.model.encoder_layers - 1}` });
  return el("div", {}, await mapView(context, { left: { symbol: "x", part: result }, path: stage.path, letters: ["W", "c"], result: output, symbol: "k" }), normNote(sentence), precisionNote(sentence));
}

/// The values of the source: key and word, times the root of the length.
export async function convValuesView(context) {
  const { sentence } = context, { key, value } = await sentence.part({ part: "attention", path: "decoder.layers.0.attention" }), factor = Math.sqrt(key.shape[0] / 2);
  return el("div", {}, scaledSum(context, { left: { name: "k", part: key }, right: { name: "e", part: await wordsOf(sentence, "encoder") }, factor: { name: `√${key.shape[0]} · √½`, value: factor }, symbol: "v", letter: "d_model", result: value }));
}

/// What the decoder reads: the last row in the width of the words.
export async function convOutView(context) {
  const { sentence, stage } = context, { output } = await sentence.part({ part: "output", path: "decoder" }), { result } = await sentence.part({ part: "convolution", path: `decoder.layers.${sentence.model.decoder_layers - 1}` });
  return el("div", {}, await mapView(context, { left: { symbol: "y", part: result }, path: stage.path, letters: ["W", "b"], result: output, symbol: "h" }), normNote(sentence), precisionNote(sentence));
}

/// Keys and values, which stay for every step.
export async function convMemoryView(context) {
  const { sentence } = context, { key, value } = await sentence.part({ part: "attention", path: "decoder.layers.0.attention" });
  return el("div", { class: "pair-of-maps" }, matrixOf(context, "k", "d_model", key), matrixOf(context, "v", "d_model", value));
}

export const kConvolutionalViews = {
  convIn: convInView, window: windowView, convolve: convolveView, glu: gluView, convQuery: convQueryView, convFound: convFoundView, convAdd: convAddView, reach: reachView, convKeys: convKeysView,
  convValues: convValuesView, convOut: convOutView, memory: convMemoryView,
};
