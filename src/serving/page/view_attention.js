// The stages of one attention head, from queries to context, and the zoom into one cell.
import { colourOf, cssColour, inkOn, show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { links } from "/assets/links.js";
import { rowOf } from "/assets/sentence.js";
import { lettersOf } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { numberStrip, wordMatrix } from "/assets/view_words.js";

/// Everything a stage of attention draws from.
export async function headData({ sentence, stage, state }) {
  const head = Math.min(state.head, sentence.heads(stage.path) - 1);
  const part = await sentence.part({ part: "head", path: stage.path, head });
  const inDecoder = stage.side === "decoder";
  const rows = sentence.queryLabels(stage.path), columns = sentence.keyLabels(stage.path);
  return {
    part, head, rows, columns,
    row: inDecoder ? stage.step : Math.min(state.row, rows.length - 1),
    later: inDecoder ? (r) => r > stage.step : undefined,
    hidden: part.causal ? (r, c) => c > r : undefined,
  };
}

export function headPicker({ sentence, stage, state, go }) {
  const count = sentence.heads(stage.path);
  return el("div", { class: "heads", role: "group", "aria-label": t("head.choose") },
    Array.from({ length: count }, (_, head) => el("button", {
      "aria-pressed": String(head === Math.min(state.head, count - 1)), on: { click: () => go({ head }) },
    }, `${t("head")} ${head + 1}`)));
}

function matrix(context, data, name, options = {}) {
  const kind = name === "weights" ? "weights" : "signed";
  const values = data.part[name].values;
  const limit = kind === "weights" ? 1 : signedLimit(values);
  const masked = options.masked === false ? undefined : data.hidden;
  return el("section", { class: "matrix" },
    heatmap({
      rows: data.rows, columns: data.columns, values, kind, largest: limit, hidden: masked, later: data.later, row: data.row,
      column: context.state.column ?? 0, label: t(`kind.${context.stage.kind}`),
      onCell: (row, column) => context.go({ row, column, cell: true }),
    }),
    legend(kind, limit));
}

export async function qkvView(context) {
  const data = await headData(context);
  const show = (name, labels, later) => wordMatrix(name.toUpperCase()[0], `[${name === "query" ? queries : keys}, d_k]`, data.part[name], labels,
    { row: Math.min(data.row, labels.length - 1), later, onRow: (row) => context.go({ row }), rowHeight: 15 });
  const [queries, keys] = lettersOf(context.stage);
  const keysLater = context.stage.cross ? undefined : data.later;
  return el("div", {}, headPicker(context), el("div", { class: "three" },
    show("query", data.rows, data.later), show("key", data.columns, keysLater), show("value", data.columns, keysLater)));
}

export async function scoresView(context) {
  const data = await headData(context);
  const name = { scores: "scores", scale: "scaled", mask: "scaled" }[context.stage.kind];
  return el("div", {}, headPicker(context),
    matrix(context, data, name, { masked: context.stage.kind === "mask" }), cell(context, data));
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
      matrix(context, data, "weights"),
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
    wordMatrix(t("context.title"), `[${lettersOf(context.stage)[0]}, d_k]`, part.context, data.rows, { row, later: data.later, onRow: (chosen) => context.go({ row: chosen }) }));
}

// One cell: query and key, number by number.
function cell(context, data) {
  const { part, rows, columns, row } = data;
  const column = Math.min(context.state.column ?? 0, data.hidden ? row : columns.length - 1);
  const q = rowOf(part.query, row), k = rowOf(part.key, column);
  const width = q.length, at = row * columns.length + column;
  const products = q.map((value, i) => value * k[i]);
  const limit = signedLimit(products), limitQ = signedLimit([...q, ...k]);
  const box = (value, largest) => el("td", { class: "number", style: {
    "background-color": cssColour(colourOf("signed", value, largest)), color: inkOn(colourOf("signed", value, largest)),
  } }, show(value, 2));
  return el("section", { class: "cell-zoom", "aria-label": t("cell.label") },
    el("h3", {}, t("cell.title", { query: rows[row], key: columns[column] })),
    el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("cell.table") }, el("table", {},
      el("tr", {}, el("th", { scope: "row" }, "q"), q.map((value) => box(value, limitQ))),
      el("tr", {}, el("th", { scope: "row" }, "× k"), k.map((value) => box(value, limitQ))),
      el("tr", { class: "products" }, el("th", { scope: "row" }, "="), products.map((value) => box(value, limit))))),
    el("ol", { class: "chain number" },
      el("li", {}, el("span", {}, "∑ q·k"), el("b", {}, show(part.scores.values[at]))),
      el("li", {}, el("span", {}, `/ √${width} = ${show(Math.sqrt(width), 2)}`), el("b", {}, show(part.scaled.values[at]))),
      data.hidden ? el("li", {}, el("span", {}, t("cell.mask")), el("b", {}, "✓")) : null,
      el("li", {}, el("span", {}, "softmax"), el("b", {}, show(part.weights.values[at], 4)))));
}
