// Stages that some models add to attention: queries and keys are normalised and turned by their places, and keys and values
// of what a language model read before stand in a cache.
import { el } from "/assets/dom.js";
import { firstRows } from "/assets/product.js";
import { valueLetter } from "/assets/shapes.js";
import { lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { headData, headPicker } from "/assets/view_attention.js";
import { lawful, wordMatrix } from "/assets/view_words.js";

// RMSNorm of each row, as the model does it to the queries and keys of a head.
function normed({ shape, values }, gain, epsilon) {
  const width = shape[1];
  const result = values.map((value, i) => {
    const row = values.slice(i - (i % width), i - (i % width) + width);
    return (value / Math.sqrt(row.reduce((sum, x) => sum + x * x, 0) / width + epsilon)) * gain.values[i % width];
  });
  return { shape, values: result };
}

/// Queries and keys before and after RMSNorm on the head (QK-norm) and the rotation by the place.
export async function turnView(context) {
  const { sentence, stage } = context, { model } = sentence, data = await headData(context), { part, count } = data, rows = data.columns.slice(0, count);
  const options = { row: data.row, rowHeight: 12, onRow: stage.side === "decoder" ? undefined : (row) => context.go({ row }) };
  const matrix = (title, values, labels = rows) => wordMatrix(title, `[${lettersOf(stage)[0]}, d_k]`, firstRows(values, count), labels, options);
  const rotation = part.rotation && firstRows(part.rotation, count);
  const columns = [];
  for (const [name, letter] of [["query", "Q"], ["key", "K"]]) {
    let before = firstRows(part[`projected_${name}`], count), symbol = letter;
    const shown = [matrix(symbol, before)];
    if (model.qk_norm) {
      const gain = (await sentence.part({ part: "parameter", path: `${stage.path}.${name}_norm.gain` })).parameter;
      const input = before, law = { input, gain, epsilon: model.layer_norm_epsilon, kind: "rms" };
      before = rotation ? normed(before, gain, model.layer_norm_epsilon) : firstRows(part[name], count);
      symbol = `RMSNorm(${letter})`;
      shown.push(lawful(matrix(symbol, before), "norm", { ...law, result: before }));
    }
    if (rotation) shown.push(lawful(matrix(`R · ${symbol}`, part[name]), "rotate", { input: before, rotation, result: firstRows(part[name], count) }));
    columns.push(el("div", {}, shown));
  }
  return el("div", {}, headPicker(context),
    rotation ? lawful(matrix(t("turn.table"), rotation), model.rope_scaling === "none" ? "angles" : "given", { theta: model.rope_theta, result: rotation }) : null,
    el("div", { class: "pair-of-maps" }, columns));
}

/// Keys and values of one head: those that were kept, and those of the piece that is read now.
export async function cacheView(context) {
  const { sentence, stage } = context, data = await headData(context), isFirst = stage.step === sentence.firstStep;
  const options = { row: stage.step, later: data.later, rowHeight: 12 };
  const matrix = (name, letter) => wordMatrix(letter, `[${lettersOf(stage)[1]}, ${name === "value" ? valueLetter(sentence.model) : "d_k"}]`, data.part[name], data.columns, options);
  return el("div", {}, headPicker(context),
    el("ol", { class: "pieces growing" }, sentence.inputLabels.map((label, i) => {
      const state = i > stage.step ? "later" : i === stage.step || isFirst ? "newest" : "";
      return el("li", { class: state }, el("span", {}, el("b", {}, i > stage.step ? "?" : label), el("span", { class: "number" }, t(`cache.${state || "kept"}`))));
    })),
    el("div", { class: "pair-of-maps" }, matrix("key", "K"), matrix("value", "V")));
}
