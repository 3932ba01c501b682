// What surrounds attention: residual connection and layer norm, and the feed-forward.
import { show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { columnWindow, firstRows, product, someColumns } from "/assets/product.js";
import { rowOf } from "/assets/sentence.js";
import { lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { hasBias, isBatchNorm, isGated, isRms, normName, stackOf } from "/assets/model_facts.js";
import { biasPart, columnSteps, precisionNote } from "/assets/view_attention.js";
import { lawful, numberStrip, wordMatrix } from "/assets/view_words.js";

/// The rows of a stage: their labels, the chosen one, which are not there yet, and what a choice does.
export function rowsOf(context) {
  const { sentence, stage, state } = context;
  const inDecoder = stage.side === "decoder";
  return {
    labels: inDecoder ? sentence.inputLabels : sentence.sourceLabels,
    row: inDecoder ? stage.step : state.row,
    later: inDecoder ? (r) => r > stage.step : undefined,
    onRow: inDecoder ? undefined : (row) => context.go({ row }),
  };
}

function moments(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
}

/// What a norm computes with: gain, bias (null without), epsilon, and which it is. A batch norm also has the mean and the
/// variance of each column.
export async function normParameters({ sentence, stage }, path) {
  const { model } = sentence, parameter = async (name) => (await sentence.part({ part: "parameter", path: `${path}.${name}` })).parameter;
  const isBatch = isBatchNorm(model, stage);
  return { gain: await parameter("gain"), bias: await biasPart(sentence, "norm", `${path}.bias`), epsilon: model.layer_norm_epsilon, kind: isRms(model) ? "rms" : isBatch ? "batch" : "layer",
    mean: isBatch ? await parameter("running_mean") : null, variance: isBatch ? await parameter("running_variance") : null };
}

/// What a norm does to a row.
export function normFinding(labels, row, before, after) {
  const a = moments(rowOf(before, row)), b = moments(rowOf(after, row));
  return el("p", { class: "finding number" }, t("norm.finding", { word: labels[row], mean: show(a.mean), deviation: show(a.deviation), mean2: show(b.mean), deviation2: show(b.deviation) }));
}

/// Named matrices, first as strips of the chosen row, then whole. Each: [title, part, law, shown].
export function maps(context, named, extra = []) {
  const { labels, row, later, onRow } = rowsOf(context), shape = `[${lettersOf(context.stage)[0]}, d_model]`;
  return [
    el("div", { class: "sum" }, named.map(([title, part]) => numberStrip(title, rowOf(part, row), signedLimit(part.values), 6)), extra),
    el("div", { class: "pair-of-maps" }, named.map(([title, part, law, shown]) => {
      const matrix = wordMatrix(title, shape, part, labels, { row, later, onRow, rowHeight: 11 });
      return law ? lawful(matrix, law, { ...shown, result: part }) : matrix;
    })),
  ];
}

/// The gain and the bias of a norm, and what a batch norm runs with.
export function parameterStrips({ gain, bias, mean, variance }) {
  const running = mean ? [numberStrip(t("norm.mean"), mean.values, signedLimit(mean.values), 6), numberStrip(t("norm.variance"), variance.values, signedLimit(variance.values), 6)] : [];
  return [...running, numberStrip("γ", gain.values, signedLimit(gain.values), 6), bias ? numberStrip("β", bias.values, signedLimit(bias.values), 6) : null];
}

/// Post-norm: the sum with what came in, normalised. Pre-norm: what the sub-layer reads, normalised.
export async function normView(context) {
  const { sentence, stage } = context;
  const part = await sentence.part({ part: "residual", path: stage.path });
  const norm = await normParameters(context, `${stage.path}.norm`);
  const { labels, row } = rowsOf(context);
  if (sentence.model.norm_order === "pre") {
    return el("div", {}, normFinding(labels, row, part.input, part.read),
      maps(context, [["X", part.input], [`X\u0302 = ${normName(sentence.model, stage)}(X)`, part.read, "norm", { input: part.input, ...norm }]], parameterStrips(norm)));
  }
  const sum = { shape: part.input.shape, values: part.input.values.map((value, i) => value + part.change.values[i]) };
  return el("div", {}, normFinding(labels, row, sum, part.result),
    maps(context, [["x", part.input], ["Sublayer(x)", part.change], ["y = x + Sublayer(x)", sum, "sum", { left: part.input, right: part.change }],
      [`${normName(sentence.model, stage)}(y)`, part.result, "norm", { input: sum, ...norm }]], parameterStrips(norm)));
}

/// Pre-norm: what the sub-layer found is added to what came in.
export async function addView(context) {
  const { sentence, stage } = context, part = await sentence.part({ part: "residual", path: stage.path });
  const name = stage.kind === "feedAdd" ? "FFN(X\u0302)" : "MultiHead(X\u0302)";
  return el("div", {}, maps(context, [["X", part.input], [name, part.change], [`X + ${name}`, part.result, "sum", { left: part.input, right: part.change }]]));
}

/// Pre-norm: the norm at the end of a stack.
export async function finalNormView(context) {
  const { sentence, stage } = context, count = sentence.model[`${stage.side}_layers`];
  const input = (await sentence.part({ part: "residual", path: `${stackOf(sentence.model, stage.side)}layers.${count - 1}.feed_forward` })).result;
  const { output } = await sentence.part({ part: "output", path: stage.side }), norm = await normParameters(context, stage.path);
  const { labels, row } = rowsOf(context);
  return el("div", {}, normFinding(labels, row, input, output), maps(context, [["X", input], [`${normName(sentence.model, stage)}(X)`, output, "norm", { input, ...norm }]], parameterStrips(norm)));
}

// One of the two products of the feed-forward, a window of its columns.
async function feedProduct(context, { name, left, result, column, onColumn }) {
  const { sentence, stage } = context, { labels, row, later, onRow } = rowsOf(context);
  const count = later ? row + 1 : labels.length, path = `${stage.path}.${name}`, index = { gate: "g", inner: "1", outer: "2" }[name];
  const window = columnWindow(left.part.shape[1], result.part.shape[1], column);
  const weight = (await sentence.part({ part: "parameter", path: `${path}.weight`, columns: window })).parameter;
  const bias = await biasPart(sentence, "map", `${path}.bias`, window);
  return [product({ law: "linear", rows: labels, row, onRow, firstColumn: window[0], left: { symbol: left.symbol, ...firstRows(left.part, count) }, right: { symbol: `W_${index}`, ...weight },
    bias: bias ? { symbol: `b_${index}`, ...bias } : null, result: { symbol: result.symbol, ...someColumns(firstRows(result.part, count), ...window) } }), columnSteps(window, result.part.shape[1], onColumn)];
}

export async function feedView(context) {
  const { sentence, stage, state, go } = context, { model } = sentence;
  const part = await sentence.part({ part: "feed_forward", path: stage.path }), residual = await sentence.part({ part: "residual", path: stage.path });
  const { labels, row, later, onRow } = rowsOf(context);
  const active = rowOf(part.active, row);
  const working = active.filter((value) => value > 0).length;
  const top = active.map((value, i) => [value, i]).sort((a, b) => b[0] - a[0]).slice(0, 8);
  const x = model.norm_order === "pre" ? "x\u0302" : "x", gated = isGated(model), inner = (index) => `${x}W${index}${hasBias(model, "map") ? ` + b${index}` : ""}`;
  const name = gated ? `${model.activation}(gate) ⊙ hidden` : model.activation === "relu" ? `max(0, ${inner("₁")})` : `${model.activation}(${inner("₁")})`;
  return el("div", {},
    el("p", { class: "finding" }, t("feed.finding", { word: labels[row], working, all: active.length, part: Math.round((100 * working) / active.length) })),
    gated ? await feedProduct(context, { name: "gate", left: { symbol: x, part: residual.read }, result: { symbol: "gate", part: part.gate }, column: state.innerColumn ?? 0, onColumn: (innerColumn) => go({ innerColumn }) }) : null,
    await feedProduct(context, { name: "inner", left: { symbol: x, part: residual.read }, result: { symbol: "hidden", part: part.hidden }, column: state.innerColumn ?? 0, onColumn: (innerColumn) => go({ innerColumn }) }),
    lawful(wordMatrix(name, `[${lettersOf(stage)[0]}, d_ff]`, part.active, labels, { row, later, onRow, rowHeight: 12 }), "activation", { activation: model.activation, input: gated ? part.gate : part.hidden, factor: gated ? part.hidden : null, result: part.active }),
    await feedProduct(context, { name: "outer", left: { symbol: "active", part: part.active }, result: { symbol: "FFN", part: residual.change }, column: state.outColumn ?? 0, onColumn: (outColumn) => go({ outColumn }) }),
    el("h3", {}, t("feed.top")),
    el("div", { class: "bars" }, top.map(([value, i]) => [el("span", { class: "number" }, `#${i}`),
      el("span", { class: "track" }, el("span", { class: "fill feed", style: { width: `${(100 * Math.max(value, 0)) / Math.max(top[0][0], 1e-9)}%` } })),
      el("span", { class: "number" }, show(value, 2))])),
    precisionNote(sentence));
}
