// The stages of one attention head, from queries to context, and the zoom into one cell.
import { colourOf, cssColour, headColour, inkOn, show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { links } from "/assets/links.js";
import { columnWindow, firstRows, product, someColumns, transposed } from "/assets/product.js";
import { hasBias, scales } from "/assets/model_facts.js";
import { prose } from "/assets/prose.js";
import { rowOf } from "/assets/sentence.js";
import { valueLetter } from "/assets/shapes.js";
import { lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { lawful, numberStrip, wordMatrix } from "/assets/view_words.js";

const kSecret = "?";

// The labels of queries and keys. A row of the decoder is the token that is read, and the one that is made of it; what
// is not written yet stays hidden, in rows and in columns.
function visibleLabels(sentence, stage) {
  const rows = sentence.queryLabels(stage.path), columns = sentence.keyLabels(stage.path);
  if (stage.side !== "decoder") return { rows, columns };
  const isKnown = (i) => i <= stage.step;
  return {
    rows: rows.map((label, i) => (isKnown(i) ? `${label} → ${sentence.targetLabels[i]}` : kSecret)),
    columns: stage.cross ? columns : columns.map((label, i) => (isKnown(i) ? label : kSecret)),
  };
}

/// Everything a stage of attention draws from.
export async function headData({ sentence, stage, state }) {
  const head = Math.min(state.head, sentence.heads(stage.path) - 1);
  const part = await sentence.part({ part: "head", path: stage.path, head });
  const inDecoder = stage.side === "decoder";
  const { rows, columns } = visibleLabels(sentence, stage), count = inDecoder ? stage.step + 1 : rows.length;
  return {
    part, head, rows, columns,
    count, keys: inDecoder && !stage.cross ? count : columns.length, // that are written
    taken: withBias(part.scaled ?? part.scores, part.bias), // by the soft-max
    row: inDecoder ? stage.step : Math.min(state.row, rows.length - 1),
    later: inDecoder ? (r) => r > stage.step : undefined,
    hidden: part.causal ? (r, c) => c > r || (part.window > 0 && c <= r - part.window) : undefined,
  };
}

export function headPicker({ sentence, stage, state, go }) {
  const count = sentence.heads(stage.path);
  return count < 2 && !sentence.looksAtItself ? null : el("div", { class: "heads", role: "group", "aria-label": t("head.choose") },
    Array.from({ length: count }, (_, head) => el("button", {
      "aria-pressed": String(head === Math.min(state.head, count - 1)), style: { "--head": headColour(head) }, on: { click: () => go({ head }) },
    }, `${t("head")} ${head + 1}`)));
}

function matrix(context, data, { values }, options = {}) {
  const kind = options.kind ?? "signed";
  const limit = kind === "weights" ? 1 : signedLimit(values);
  const masked = options.masked === false ? undefined : data.hidden;
  return lawful(el("section", { class: "matrix" }, options.title ? el("h3", {}, options.title) : null,
    heatmap({
      maxHeight: 430,
      rows: data.rows, columns: data.columns, values, kind, largest: limit, hidden: masked, later: data.later, row: data.row,
      column: context.state.column ?? 0, label: t(`kind.${context.stage.kind}`),
      onCell: (row, column) => context.go({ row, column, cell: true }),
    }),
    legend(kind, limit)), ...(options.law ?? lawOf(context.stage.kind, data)));
}

// Which formula gives a matrix, and from what.
function lawOf(kind, { part, taken }) {
  if (kind === "scores" && part.rule === "additive") return ["additive", { left: part.query, right: part.key, weight: part.score_weight, result: part.scores }];
  if (kind === "scores") return ["scores", { left: part.query, right: part.key, result: part.scores }];
  if (kind === "softmax") return ["softmax", { scaled: taken, causal: part.causal, window: part.window, result: part.weights }];
  if (part.bias && kind !== "scale") return ["sum", { left: part.scaled, right: part.bias, result: taken }];
  return ["scale", { scores: part.scores, width: part.scale === 1 ? 1 : part.query.shape[1], result: part.scaled }];
}

// What relative positions add.
function withBias(scores, bias) {
  return bias ? { ...scores, values: scores.values.map((score, i) => score + bias.values[i]) } : scores;
}

const kRoles = ["query", "key", "value"];

export async function qkvView(context) {
  const data = await headData(context);
  const made = (name) => data.part[`projected_${name}`] ?? data.part[name]; // before they are turned
  const matrix = (name, labels, later) => wordMatrix(name.toUpperCase()[0], `[${name === "query" ? queries : keys}, ${name === "value" ? valueLetter(context.sentence.model) : "d_k"}]`, made(name), labels,
    { row: Math.min(data.row, labels.length - 1), later, onRow: (row) => context.go({ row }), rowHeight: 12 });
  const [queries, keys] = lettersOf(context.stage);
  const keysLater = context.stage.cross ? undefined : data.later;
  const role = context.state.role ?? "query";
  return el("div", {}, headPicker(context), el("div", { class: "three" },
    matrix("query", data.rows, data.later), matrix("key", data.columns, keysLater), matrix("value", data.columns, keysLater)),
    el("div", { class: "heads", role: "group", "aria-label": t("product.choose") }, kRoles.map((name) => el("button", {
      "aria-pressed": String(name === role), on: { click: () => context.go({ role: name }) } },
      prose(t(`role.${name}${hasBias(context.sentence.model, "input") ? "" : ".plain"}`, { input: stageInput(context, name) }))))),
    await projection(context, data, role), precisionNote(context.sentence));
}

/// With int8 the inputs of products are rounded too, so that the formula agrees only to that rounding.
export function precisionNote(sentence) {
  return sentence.model.precision === "int8" ? el("p", { class: "note" }, t("product.int8")) : null;
}

/// The input of a sub-layer as the formulas write it: X, or X with a hat after the norm.
export function readName(model) { return model.norm_order === "pre" ? "X\u0302" : "X"; }

// What a role is projected from: in cross-attention keys and values come from the encoder's output.
function stageInput({ sentence, stage }, role) {
  return stage.cross && role !== "query" ? "memory" : readName(sentence.model);
}

/// A vector of biases, or null where the model has none there. what: as in hasBias
export async function biasPart(sentence, what, path, columns) {
  return hasBias(sentence.model, what) ? (await sentence.part({ part: "parameter", path, ...(columns ? { columns } : {}) })).parameter : null;
}

// X W + b of one role and one head; heads may share keys and values.
async function projection(context, data, role) {
  const { sentence, stage, go } = context, { path } = stage, letter = role.toUpperCase()[0], ofMemory = stage.cross && role !== "query";
  const made = data.part[`projected_${role}`] ?? data.part[role], width = made.shape[1], head = role === "query" ? data.head : data.part.key_head ?? data.head;
  const columns = [head * width, (head + 1) * width];
  const input = ofMemory ? (await sentence.part({ part: "output", path: "encoder" })).output : (await sentence.part({ part: "residual", path })).read;
  const weight = (await sentence.part({ part: "parameter", path: `${path}.${role}.weight`, columns })).parameter;
  const bias = await biasPart(sentence, "input", `${path}.${role}.bias`, columns);
  const rows = stage.side === "decoder" && !ofMemory ? stage.step + 1 : input.shape[0], labels = role === "query" ? data.rows : data.columns;
  return product({ law: "linear", rows: labels, row: Math.min(data.row, labels.length - 1), onRow: stage.side === "encoder" ? (row) => go({ row }) : undefined,
    left: { symbol: stageInput(context, role), ...firstRows(input, rows) }, right: { symbol: `W^${letter}`, ...weight },
    bias: bias ? { symbol: `b^${letter}`, ...bias } : null, result: { symbol: letter, ...firstRows(made, rows) } });
}

// All heads beside each other, and the matrix that joins them.
export async function headsView(context) {
  const { sentence, stage, state, go } = context, { path } = stage;
  const attention = await sentence.part({ part: "attention", path }), residual = await sentence.part({ part: "residual", path });
  const { rows: labels } = visibleLabels(sentence, stage), inDecoder = stage.side === "decoder";
  const count = inDecoder ? stage.step + 1 : labels.length, row = inDecoder ? stage.step : Math.min(state.row, labels.length - 1);
  const heads = sentence.heads(path), width = attention.context.shape[1] / heads, model = attention.context.shape[1];
  const window = columnWindow(model, residual.change.shape[1], state.outColumn ?? 0);
  const weight = (await sentence.part({ part: "parameter", path: `${path}.output.weight`, columns: window })).parameter;
  const bias = await biasPart(sentence, "map", `${path}.output.bias`, window);
  const all = firstRows(attention.context, count), limit = signedLimit(all.values);
  return el("div", {}, el("p", { class: "note" }, prose(t("heads.note", { h: heads, d_k: width, d_model: model }))),
    el("div", { class: "heads-side" }, Array.from({ length: heads }, (_, head) => el("div", { style: { "--head": headColour(head) } },
      wordMatrix(`${t("head")} ${head + 1}`, `[${lettersOf(stage)[0]}, ${valueLetter(sentence.model)}]`, someColumns(all, head * width, (head + 1) * width), labels.slice(0, count),
        { row, largest: limit, rowHeight: 11, onRow: inDecoder ? undefined : (chosen) => go({ row: chosen }) })))),
    product({ law: "linear", rows: labels, row, firstColumn: window[0], onRow: inDecoder ? undefined : (chosen) => go({ row: chosen }),
      left: { symbol: "Concat", ...all }, right: { symbol: "W^O", ...weight }, bias: bias ? { symbol: "b^O", ...bias } : null,
      result: { symbol: "MultiHead", ...someColumns(firstRows(residual.change, count), ...window) } }),
    columnSteps(window, residual.change.shape[1], (outColumn) => go({ outColumn })), precisionNote(sentence));
}

/// Buttons to the columns before and after those of a wide weight that are shown.
export function columnSteps([begin, end], all, onChoose) {
  if (begin === 0 && end === all) return null;
  return el("p", { class: "note" }, t("product.columns", { begin, end: end - 1, all }), " ",
    el("button", { disabled: begin === 0, on: { click: () => onChoose(Math.max(begin - (end - begin), 0)) } }, "←"), " ",
    el("button", { disabled: end === all, on: { click: () => onChoose(Math.min(end, all - 1)) } }, "→"));
}

export async function scoresView(context) {
  const data = await headData(context);
  const shown = { scores: data.part.scores, scale: data.part.scaled, mask: data.taken }[context.stage.kind];
  return el("div", {}, headPicker(context),
    matrix(context, data, shown, { masked: context.stage.kind === "mask" }), cell(context, data),
    context.stage.kind === "scores" && data.part.rule !== "additive" ? scoresProduct(data) : null);
}

/// What relative positions add: a number for each bucket of distances, which the head has learned, and the sum.
export async function relativeView(context) {
  const { sentence: { model }, stage } = context, data = await headData(context), { part, head } = data, isScaled = scales(model);
  const table = (await context.sentence.part({ part: "parameter", path: `${stage.side}.relative_positions.weight`, columns: [head, head + 1] })).parameter;
  const law = ["distance", { table, count: model.relative_buckets, reach: model.relative_distance, sees_later: stage.side === "encoder", result: part.bias }];
  return el("div", {}, headPicker(context), el("div", { class: "pair-of-maps" },
    matrix(context, data, part.bias, { masked: false, title: "B", law }),
    matrix(context, data, data.taken, { masked: false, title: isScaled ? "Q K^T / √d_k + B" : "Q K^T + B" })), cell(context, data));
}

// Q K^T as a product; its columns are the keys.
function scoresProduct({ part, rows, columns, row, count, keys }) {
  return product({ law: "linear", rows, columns, row, left: { symbol: "Q", ...firstRows(part.query, count) },
    right: { symbol: "K^T", ...transposed(firstRows(part.key, keys)) }, bias: null, result: { symbol: "Q K^T", ...someColumns(firstRows(part.scores, count), 0, keys) } });
}

export async function softmaxView(context) {
  const data = await headData(context);
  const { rows, columns, row } = data;
  const weights = data.part.weights.values;
  const best = columns.map((label, c) => [weights[row * columns.length + c], label]).sort((a, b) => b[0] - a[0]);
  return el("div", {}, headPicker(context),
    el("p", { class: "finding" }, t("softmax.finding", {
      word: rows[row], first: best[0][1], weight: show(best[0][0], 2), rest: best.slice(1, 3).map(([w, label]) => `${label} ${show(w, 2)}`).join(", "),
    })),
    el("div", { class: "two" },
      matrix(context, data, data.part.weights, { kind: "weights" }),
      links({ left: rows, right: columns, weights, row, visible: data.later ? row + 1 : rows.length, label: t("links.label"),
        onRow: context.stage.side === "encoder" ? (chosen) => context.go({ row: chosen }) : undefined })),
    cell(context, data));
}

export async function contextView(context) {
  const data = await headData(context);
  const { part, row, columns } = data;
  const limit = signedLimit(part.value.values);
  const count = columns.length;
  const order = columns.map((label, c) => c).filter((c) => !data.hidden?.(row, c))
    .sort((a, b) => part.weights.values[row * count + b] - part.weights.values[row * count + a]).slice(0, 6);
  return el("div", {}, headPicker(context),
    el("div", { class: "weighted" }, order.map((c) => el("div", { class: "weighted-row" },
      el("span", { class: "weighted-weight number" }, show(part.weights.values[row * count + c], 3), " ×"),
      numberStrip(columns[c], rowOf(part.value, c), limit, 7))),
    order.length < count ? el("p", { class: "note" }, t("context.more", { count: count - order.length })) : null,
    el("div", { class: "weighted-row total" }, el("span", { class: "weighted-weight" }, "="),
      numberStrip(data.rows[row], rowOf(part.context, row), limit, 7))),
    contextProduct(context, data));
}

// Weights times values.
function contextProduct({ stage, go }, { part, rows, row, count, keys }) {
  return product({ law: "linear", rows, row, weights: ["left"], onRow: stage.side === "decoder" ? undefined : (chosen) => go({ row: chosen }),
    left: { symbol: "α", ...someColumns(firstRows(part.weights, count), 0, keys) }, right: { symbol: "V", ...firstRows(part.value, keys) }, bias: null,
    result: { symbol: t("context.title"), ...firstRows(part.context, count) } });
}

// One cell: query and key, number by number.
function cell(context, data) {
  const { part, rows, columns, row } = data;
  const column = Math.min(context.state.column ?? 0, data.hidden ? row : columns.length - 1);
  const q = rowOf(part.query, row), k = rowOf(part.key, column);
  const width = q.length, at = row * columns.length + column, isAdditive = part.rule === "additive";
  const products = q.map((value, i) => (isAdditive ? part.score_weight.values[i] * Math.tanh(value + k[i]) : value * k[i]));
  const limit = signedLimit(products), limitQ = signedLimit([...q, ...k]);
  const box = (value, largest) => el("td", { class: "number", style: {
    "background-color": cssColour(colourOf("signed", value, largest)), color: inkOn(colourOf("signed", value, largest)),
  } }, show(value, 2));
  return el("section", { class: "cell-zoom", "aria-label": t("cell.label") },
    el("h3", {}, t("cell.title", { query: rows[row], key: columns[column] })),
    el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("cell.table") }, el("table", {},
      el("tr", {}, el("th", { scope: "row" }, "q"), q.map((value) => box(value, limitQ))),
      el("tr", {}, el("th", { scope: "row" }, isAdditive ? "k" : "× k"), k.map((value) => box(value, limitQ))),
      el("tr", { class: "products" }, el("th", { scope: "row" }, isAdditive ? "v tanh(q + k)" : "="), products.map((value) => box(value, limit))))),
    el("ol", { class: "chain number" },
      el("li", {}, el("span", {}, isAdditive ? "∑ v tanh(q + k)" : "∑ q·k"), el("b", {}, show(part.scores.values[at]))),
      part.scaled && part.scale !== 1 ? el("li", {}, el("span", {}, `/ √${width} = ${show(Math.sqrt(width), 2)}`), el("b", {}, show(part.scaled.values[at]))) : null,
      part.bias ? el("li", {}, el("span", {}, "+ b"), el("b", {}, show(part.bias.values[at]))) : null,
      data.hidden ? el("li", {}, el("span", {}, t("cell.mask")), el("b", {}, "✓")) : null,
      el("li", {}, el("span", {}, "softmax"), el("b", {}, show(part.weights.values[at], 4)))));
}
