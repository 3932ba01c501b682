// The stages of recurrent models: the sums, gates and states of a cell, the summary of a sentence, and what the decoder makes of
// its state and of the source.
import { show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { attends, gatesOf } from "/assets/model_facts.js";
import { firstRows, someColumns } from "/assets/product.js";
import { rowOf } from "/assets/sentence.js";
import { movement } from "/assets/state_math.js";
import { t } from "/assets/strings.js";
import { precisionNote } from "/assets/view_attention.js";
import { mapped, matrixOf, shownRows } from "/assets/view_maps.js";
import { lawful, numberStrip, wordMatrix } from "/assets/view_words.js";

const letterOf = (stage) => (stage.side === "decoder" ? "s" : "h");
const beforeOf = (stage) => `${letterOf(stage)}${stage.direction === "backward" ? "\u209c\u208a\u2081" : "\u209c\u208b\u2081"}`;
const cellOf = ({ sentence, stage }) => sentence.part({ part: "cell", path: stage.path });
// The columns of the sums of a cell, one name of "input_sums", "state_sums", "fed_sums".
const sumsOf = ({ sentence, stage }, name) => async (columns) => (await sentence.part({ part: "cell_sums", path: stage.path, columns }))[name];

/// x W + b of all words, W_fed of what was attended to, h U + c of the states before.
export async function cellSumsView(context) {
  const { sentence, stage } = context, { model } = sentence, columns = gatesOf(model).length * model.d_hidden;
  const { read, fed } = await sentence.part({ part: "cell_sums", path: stage.path, columns: [0, 1] }), cell = await cellOf(context);
  const views = {
    cellInput: () => mapped(context, { left: { symbol: "x", part: read }, weight: { symbol: "W", path: `${stage.path}.input.weight` },
      bias: { symbol: "b", path: `${stage.path}.input.bias` }, result: { symbol: "p", columns, part: sumsOf(context, "input_sums") } }),
    cellFed: () => mapped(context, { left: { symbol: model.input_feeding ? "a\u209c\u208b\u2081" : "c", part: fed }, weight: { symbol: "W_fed", path: "decoder.fed.weight" },
      result: { symbol: "w", columns, part: sumsOf(context, "fed_sums") } }),
    cellState: () => mapped(context, { left: { symbol: beforeOf(stage), part: cell.before }, weight: { symbol: "U", path: `${stage.path}.state.weight` },
      bias: { symbol: "c", path: `${stage.path}.state.bias` }, result: { symbol: "u", columns, part: sumsOf(context, "state_sums") } }),
  };
  return el("div", {}, el("p", { class: "note" }, t("state.columns", { gates: gatesOf(model).join(", "), width: model.d_hidden, all: columns })), await views[stage.kind](), precisionNote(sentence));
}

// The columns of a gate in a matrix of all gates.
const ofGate = (part, index, width) => someColumns(part, index * width, (index + 1) * width);

/// One gate: its sums, and what its function makes of them.
export async function cellGatesView(context) {
  const { sentence, stage, state, go } = context, { model } = sentence, names = gatesOf(model), width = model.d_hidden;
  const cell = await cellOf(context), index = Math.min(state.gate ?? 0, names.length - 1), name = names[index], { count, labels, row } = shownRows(context);
  const columns = [index * width, (index + 1) * width], sums = await sentence.part({ part: "cell_sums", path: stage.path, columns });
  const isCandidate = index === 2, isGru = model.cell === "gru", gate = ofGate(cell.gates, index, width), values = rowOf(gate, row);
  const open = values.filter((value) => value > 0.5).length;
  const sum = (symbol, part) => matrixOf(context, `${symbol}_${name}`.replace("_", " "), "H", part);
  const formula = `${name} = ${isCandidate ? "tanh" : "σ"}(…)`;
  return el("div", {},
    el("div", { class: "heads", role: "group", "aria-label": t("gate.choose") }, names.map((gateName, i) => el("button", { "aria-pressed": String(i === index), on: { click: () => go({ gate: i }) } }, `${gateName}: ${t(`gate.${model.cell}.${gateName}`)}`))),
    isCandidate ? null : el("p", { class: "finding" }, t("gate.finding", { word: labels[row], gate: name, open, all: width, mean: show(values.reduce((total, value) => total + value, 0) / width, 2) })),
    el("div", { class: "pair-of-maps" }, sum("p", sums.input_sums), sum("u", sums.state_sums), sums.fed_sums ? sum("w", sums.fed_sums) : null,
      isGru && isCandidate ? matrixOf(context, "r", "H", ofGate(cell.gates, 0, width), 1) : null),
    lawful(matrixOf(context, formula, "H", gate, 1), "gate", { function: isCandidate ? "tanh" : "sigmoid", input: firstRows(sums.input_sums, count), state: firstRows(sums.state_sums, count),
      fed: sums.fed_sums ? firstRows(sums.fed_sums, count) : null, reset: isGru && isCandidate ? firstRows(ofGate(cell.gates, 0, width), count) : null, result: firstRows(gate, count) }));
}

/// Two bars a word: the length of its state, and the change.
export function movementBars(cell, labels, { letter, count = labels.length, row = -1 }) {
  const { values } = movement(cell), largest = Math.max(...values.slice(0, 2 * count), 1e-9);
  const bar = (value, kind) => [el("span", { class: "track" }, el("span", { class: kind, style: { width: `${(100 * value) / largest}%` } })), el("span", { class: "number" }, show(value, 2))];
  const table = el("div", { class: "bars movement" },
    el("span", {}), el("span", { class: "note" }, `‖${letter}‖`), el("span", {}), el("span", { class: "note" }, t("state.change")), el("span", {}),
    labels.slice(0, count).flatMap((label, r) => [el("span", { class: r === row ? "piece chosen" : "piece" }, label), bar(values[2 * r], "fill"), bar(values[2 * r + 1], "fill feed")]));
  return lawful(table, "movement", { state: firstRows(cell.state, count), before: firstRows(cell.before, count), result: { shape: [count, 2], values: values.slice(0, 2 * count) } });
}

/// The new state of each word, made of the gates and the state before; its length and its change.
export async function cellNewView(context) {
  const { sentence, stage } = context, { model } = sentence, cell = await cellOf(context), width = model.d_hidden, { labels, row, count } = shownRows(context);
  const gates = Object.fromEntries(gatesOf(model).map((name, i) => [name, firstRows(ofGate(cell.gates, i, width), count)])), part = (name) => firstRows(cell[name], count);
  const letter = letterOf(stage), matrix = (title, values, largest) => matrixOf(context, title, "H", values, largest), limit = signedLimit(cell.state.values);
  const isLstm = model.cell === "lstm";
  return el("div", {},
    el("p", { class: "finding" }, t("state.finding", { word: labels[row], length: show(movement(cell).values[2 * row], 2), change: show(movement(cell).values[2 * row + 1], 2) })),
    el("div", { class: "pair-of-maps" }, gatesOf(model).filter((name) => name !== "r").map((name) => matrix(name, ofGate(cell.gates, gatesOf(model).indexOf(name), width), 1)),
      matrix(beforeOf(stage), cell.before, limit), isLstm ? matrix(`m${beforeOf(stage).slice(1)}`, cell.cell_before) : null),
    isLstm ? lawful(matrix("m\u209c = f ⊙ m + i ⊙ g", cell.cell), "lstm_memory", { ...gates, before: part("cell_before"), result: part("cell") }) : null,
    isLstm ? lawful(matrix(`${letter}\u209c = o ⊙ tanh(m\u209c)`, cell.state, limit), "lstm_state", { o: gates.o, memory: part("cell"), result: part("state") })
      : lawful(matrix(`${letter}\u209c = (1 − z) ⊙ n + z ⊙ ${letter}`, cell.state, limit), "gru_state", { z: gates.z, n: gates.n, before: part("before"), result: part("state") }),
    el("h3", {}, t("state.flow")), movementBars(cell, labels, { letter, count, row }));
}

/// Both directions of a layer of the encoder side by side.
export async function joinView(context) {
  const { sentence, stage } = context, [ahead, back] = await Promise.all(["forward", "backward"].map((direction) => sentence.part({ part: "cell", path: `${stage.path}.${direction}` })));
  const { output } = await sentence.part({ part: "output", path: stage.path }), limit = signedLimit(output.values);
  return el("div", {}, el("div", { class: "pair-of-maps" }, matrixOf(context, "\u2192h", "H", ahead.state, limit), matrixOf(context, "\u2190h", "H", back.state, limit)),
    lawful(matrixOf(context, "e = [\u2192h, \u2190h]", "C", output, limit), "concat", { left: ahead.state, right: back.state, result: output }));
}

/// The last state of each direction: one vector for the whole sentence.
export async function summaryView(context) {
  const { sentence } = context, { model } = sentence, last = `encoder.layers.${model.layers - 1}`;
  const { summary } = await sentence.part({ part: "first_state", path: "decoder.layers.0" });
  const [ahead, back] = await Promise.all(["forward", "backward"].map((direction) => sentence.part({ part: "cell", path: `${last}.${direction}` })));
  const count = sentence.sourceLabels.length, isAll = !attends(model);
  return el("div", {},
    el("p", { class: "finding" }, t(isAll ? "bottleneck.finding" : "summary.finding", { count, width: summary.shape[1], numbers: count * summary.shape[1] })),
    el("div", { class: "pair-of-maps" }, matrixOf(context, "\u2192h", "H", ahead.state), matrixOf(context, "\u2190h", "H", back.state)),
    lawful(wordMatrix(t(isAll ? "machine.bottleneck" : "machine.summary"), "[1, C]", summary, ["[\u2192h, \u2190h]"], { rowHeight: 22 }), "ends", { left: ahead.state, right: back.state, result: summary }),
    numberStrip(t(isAll ? "machine.bottleneck" : "machine.summary"), summary.values, signedLimit(summary.values)));
}

/// The first state of a layer of the decoder, made of the summary.
export async function firstStateView(context) {
  const { sentence, stage } = context, part = await sentence.part({ part: "first_state", path: stage.path }), width = sentence.model.d_hidden;
  const made = async (name, value, symbol) => [
    await mapped(context, { left: { symbol: "summary", part: part.summary }, weight: { symbol: "W", path: `${stage.path}.${name}.weight` }, bias: { symbol: "b", path: `${stage.path}.${name}.bias` },
      result: { symbol: "x", columns: width, part: (columns) => someColumns(part[`${value}_sums`], ...columns) }, key: `${value}0`, rows: 1 }),
    lawful(wordMatrix(`${symbol}\u2080 = tanh(x)`, "[1, H]", part[value], [`${symbol}\u2080`], { largest: 1, rowHeight: 16 }), "tanh", { input: part[`${value}_sums`], result: part[value] })];
  return el("div", {}, await made("initial_hidden", "first_state", "s"), part.first_cell ? await made("initial_cell", "first_cell", "m") : null, precisionNote(sentence));
}

/// The keys of the source, with which the decoder finds its words.
export async function sourceKeysView(context) {
  const { sentence, stage } = context, attention = await sentence.part({ part: "attention", path: stage.path });
  return el("div", {}, await mapped(context, { left: { symbol: "e", part: attention.value }, weight: { symbol: "K", path: `${stage.path}.key.weight` },
    result: { symbol: "k", columns: attention.key.shape[1], part: (columns) => someColumns(attention.key, ...columns) } }), precisionNote(sentence));
}

/// The query of the state before the cell.
export async function sourceQueryView(context) {
  const { sentence, stage } = context, attention = await sentence.part({ part: "attention", path: stage.path }), cell = await sentence.part({ part: "cell", path: "decoder.layers.0" });
  return el("div", {}, await mapped(context, { left: { symbol: "s\u209c\u208b\u2081", part: cell.before }, weight: { symbol: "W_q", path: `${stage.path}.query.weight` },
    result: { symbol: "q", columns: attention.query.shape[1], part: (columns) => someColumns(attention.query, ...columns) } }), precisionNote(sentence));
}

function tanhRows(context, title, sums, result) {
  const { labels, row, later, count } = shownRows(context);
  return lawful(wordMatrix(title, "[T, d_model]", result, labels, { row, later, largest: 1, rowHeight: 11 }), "tanh", { input: firstRows(sums, count), result: firstRows(result, count) });
}

/// Input feeding: context and state become the attentional vector.
export async function attentionalView(context) {
  const { sentence, stage } = context, part = await sentence.part({ part: "attentional", path: stage.path });
  return el("div", {}, await mapped(context, { left: { symbol: "[c, s]", part: part.joined }, weight: { symbol: "W", path: `${stage.path}.combine.weight` },
    bias: { symbol: "b", path: `${stage.path}.combine.bias` }, result: { symbol: "x", columns: part.sum.shape[1], part: (columns) => someColumns(part.sum, ...columns) } }),
    tanhRows(context, "a = tanh(x)", part.sum, part.result), precisionNote(sentence));
}

// The parts of the readout: what each reads, and its matrix, as formulas name them.
function readParts(model) {
  const isBahdanau = model.attention === "bahdanau";
  return [["top", isBahdanau && model.layers === 1 ? "[s, c]" : "s", "W"], ["first", isBahdanau ? "[s\u00b9, c]" : "a", "W_1"], ["words", "y", "W_y"], ["context", "c", "W_c"]];
}

/// What the output layer reads: the sum of several products, behind a tanh.
export async function readoutView(context) {
  const { sentence } = context, part = await sentence.part({ part: "readout", path: "readout" }), { output } = await sentence.part({ part: "output", path: "decoder" }), { count } = shownRows(context);
  const parts = readParts(sentence.model).filter(([name]) => part[name]), products = [];
  for (const [name, symbol, matrix] of parts) {
    products.push(await mapped(context, { left: { symbol, part: part[name] }, weight: { symbol: matrix, path: `readout.${name}.weight` },
      bias: name === "top" ? { symbol: "b", path: "readout.top.bias" } : null, result: { symbol: "x", columns: part.sum.shape[1], part: (columns) => someColumns(part[`from_${name}`], ...columns) }, key: `${name}0` }));
  }
  const total = parts.length > 1 ? lawful(matrixOf(context, "∑ x", "d_model", part.sum), "sums", { parts: parts.map(([name]) => firstRows(part[`from_${name}`], count)), result: firstRows(part.sum, count) }) : null;
  return el("div", {}, products, total, tanhRows(context, "o = tanh(∑ x)", part.sum, output), precisionNote(sentence));
}

export const kRecurrentViews = {
  cellInput: cellSumsView, cellFed: cellSumsView, cellState: cellSumsView, cellGates: cellGatesView, cellNew: cellNewView, join: joinView, summary: summaryView, firstState: firstStateView,
  sourceKeys: sourceKeysView, sourceQuery: sourceQueryView, attentional: attentionalView, readout: readoutView,
};
