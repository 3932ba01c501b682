// What surrounds attention: residual connection and layer norm, and the feed-forward.
import { show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { rowOf } from "/assets/sentence.js";
import { lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { numberStrip, wordMatrix } from "/assets/view_words.js";

function rowsOf(context) {
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

export async function normView(context) {
  const { sentence, stage } = context;
  const part = await sentence.part({ part: "residual", path: stage.path });
  const isPre = sentence.model.norm_order === "pre";
  const { labels, row, later, onRow } = rowsOf(context);
  const sum = { shape: part.input.shape, values: part.input.values.map((value, i) => value + part.change.values[i]) };
  const named = isPre ? [["x", part.input], ["LayerNorm(x)", part.read], ["Sublayer(LayerNorm(x))", part.change], ["x + …", part.result]]
    : [["x", part.input], ["Sublayer(x)", part.change], ["x + Sublayer(x)", sum], ["LayerNorm(…)", part.result]];
  const before = moments(rowOf(isPre ? part.input : sum, row)), after = moments(rowOf(isPre ? part.read : part.result, row));
  const n = `[${lettersOf(stage)[0]}, d_model]`;
  return el("div", {},
    el("div", { class: "sum" }, named.map(([name, values]) => numberStrip(name, rowOf(values, row), signedLimit(values.values), 6))),
    el("p", { class: "finding number" }, t("norm.finding", {
      word: labels[row], mean: show(before.mean), deviation: show(before.deviation), mean2: show(after.mean), deviation2: show(after.deviation),
    })),
    el("div", { class: "pair-of-maps" }, named.map(([name, values]) => wordMatrix(name, n, values, labels, { row, later, onRow, rowHeight: 11 }))));
}

export async function feedView(context) {
  const { sentence, stage } = context;
  const part = await sentence.part({ part: "feed_forward", path: stage.path });
  const { labels, row, later, onRow } = rowsOf(context);
  const active = rowOf(part.active, row);
  const working = active.filter((value) => value > 0).length;
  const top = active.map((value, i) => [value, i]).sort((a, b) => b[0] - a[0]).slice(0, 8);
  return el("div", {},
    el("p", { class: "finding" }, t("feed.finding", { word: labels[row], working, all: active.length, part: Math.round((100 * working) / active.length) })),
    wordMatrix("xW₁ + b₁", `[${lettersOf(stage)[0]}, d_ff]`, part.hidden, labels, { row, later, onRow }),
    wordMatrix(sentence.model.activation === "relu" ? "max(0, xW₁ + b₁)" : `${sentence.model.activation}(xW₁ + b₁)`, `[${lettersOf(stage)[0]}, d_ff]`, part.active, labels, { row, later, onRow }),
    el("h3", {}, t("feed.top")),
    el("div", { class: "bars" }, top.map(([value, i]) => [el("span", { class: "number" }, `#${i}`),
      el("span", { class: "track" }, el("span", { class: "fill feed", style: { width: `${(100 * Math.max(value, 0)) / Math.max(top[0][0], 1e-9)}%` } })),
      el("span", { class: "number" }, show(value, 2))])));
}
