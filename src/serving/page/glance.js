// All layers and heads at once, two heads side by side, and where one word looks in every head.
import { show } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { heatmap, legend, thumbnail } from "/assets/heatmap.js";
import { links } from "/assets/links.js";
import { t } from "/assets/strings.js";

const kKinds = ["encoder", "decoder", "cross"];

function kindPicker(sentence, chosen, onChoose) {
  const kinds = kKinds.filter((kind) => sentence.attentions(kind).length);
  return kinds.length < 2 ? null : el("div", { class: "heads", role: "group", "aria-label": t("glance.kind") }, kinds.map((kind) => el("button", {
    "aria-pressed": String(kind === chosen), on: { click: () => onChoose(kind) },
  }, t(`kind.${kind}`))));
}

function small(sentence, path, head) {
  const { values, columns } = sentence.head(path, head);
  const hidden = sentence.isMasked(path) ? (r, c) => c > r : undefined;
  const canvas = thumbnail({ values, nColumns: columns.length, kind: "weights", hidden, size: 88 });
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}

/// @param onChoose(kind, layer, head)
export function glance(sentence, state, change, onChoose) {
  const kind = state.kind;
  const paths = sentence.attentions(kind);
  const isOn = (layer, head) => state.layer === layer && state.head === head;
  return el("section", { class: `card panel${isWide(sentence) ? " wide" : ""}` },
    el("h2", {}, t("glance.title")), el("p", { class: "note" }, t(`glance.${kind}`)),
    kindPicker(sentence, kind, (next) => change({ kind: next })),
    el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("glance.title") }, el("table", { class: "small-multiples" },
      el("tr", {}, el("td", {}), Array.from({ length: sentence.heads(paths[0]) }, (_, head) => el("th", { scope: "col" }, `${t("head")} ${head + 1}`))),
      paths.map((path, layer) => el("tr", {}, el("th", { scope: "row" }, `${t("layer")} ${layer + 1}`),
        Array.from({ length: sentence.heads(path) }, (_, head) => el("td", {}, el("button", {
          class: "thumb", "aria-pressed": String(isOn(layer, head)), "aria-label": t("glance.open", { layer: layer + 1, head: head + 1 }),
          on: { click: () => onChoose(kind, layer, head) },
        }, small(sentence, path, head)))))))),
    legend("weights"));
}

function headSelect(sentence, kind, value, label, onChange) {
  const select = el("select", { "aria-label": label, on: { change: () => onChange(select.value.split(".").map(Number)) } },
    sentence.attentions(kind).flatMap((path, layer) => Array.from({ length: sentence.heads(path) }, (_, head) => el("option", {
      value: `${layer}.${head}`, selected: value[0] === layer && value[1] === head,
    }, `${t("layer")} ${layer + 1}, ${t("head")} ${head + 1}`))));
  return select;
}

/// Two heads of one kind beside each other, for one word.
export function compare(sentence, state, change) {
  const kind = state.kind;
  const paths = sentence.attentions(kind);
  const side = (which) => {
    const [layer, head] = [Math.min(state[which][0], paths.length - 1), state[which][1]];
    const path = paths[layer];
    const { values, rows, columns } = sentence.head(path, Math.min(head, sentence.heads(path) - 1));
    const row = Math.min(state.compareRow, rows.length - 1);
    const hidden = kind === "decoder" ? (r, c) => c > r : undefined;
    return el("div", { class: "side" },
      headSelect(sentence, kind, [layer, head], t(`compare.${which}`), (value) => change({ [which]: value })),
      heatmap({ rows, columns, values, kind: "weights", hidden, row, maxCell: 24, label: `${t("layer")} ${layer + 1}, ${t("head")} ${head + 1}`, onRow: (compareRow) => change({ compareRow }) }),
      links({ left: rows, right: columns, weights: values, row, label: t("links.label"), onRow: (compareRow) => change({ compareRow }) }));
  };
  return el("section", { class: "card panel" }, el("h2", {}, t("compare.title")), el("p", { class: "note" }, t("compare.note")),
    kindPicker(sentence, kind, (next) => change({ kind: next })),
    el("div", { class: "two even" }, side("first"), side("second")));
}

/// The strongest link of a word to another word, in all heads of the encoder or, without one, of the model: {weight,
/// column, place, index}.
export function strongestLink(sentence, row) {
  const labels = sentence.mainLabels, n = labels.length, ends = sentence.isAlone ? 0 : 1;
  let best = { weight: -1, column: 0, place: [0, 0], index: 0 };
  let index = 0;
  sentence.attentions(sentence.mainKind).forEach((path, layer) => {
    for (let head = 0; head < sentence.heads(path); ++head, ++index) {
      sentence.head(path, head).values.slice(row * n, (row + 1) * n - ends).forEach((weight, column) => {
        const isWord = /[\p{L}]{3,}|\p{Script=Han}/u.test(labels[column]) && !(sentence.isReader && /^[[<].*[\]>]$/.test(labels[column]));
        if (isWord && column !== row && weight > best.weight) best = { weight, column, place: [layer, head], index };
      });
    }
  });
  return best;
}

/// Many heads need the whole width of the page.
const isWide = (sentence) => sentence.model.n_heads > 4;

/// Where one word looks, in every head of the encoder or, without one, of the model: a row a head, a column a word.
export function fromWord(sentence, row, change, onChoose) {
  const kind = sentence.mainKind, paths = sentence.attentions(kind), labels = sentence.mainLabels;
  const n = labels.length, words = sentence.isAlone ? labels : labels.slice(0, -1);
  const names = [], places = [], values = [];
  paths.forEach((path, layer) => {
    for (let head = 0; head < sentence.heads(path); ++head) {
      names.push(`${layer + 1}.${head + 1}`);
      places.push([layer, head]);
      values.push(...sentence.head(path, head).values.slice(row * n, (row + 1) * n));
    }
  });
  const best = strongestLink(sentence, row);
  const word = labels[row];
  return el("section", { class: `card panel${isWide(sentence) ? " wide" : ""}` },
    el("h2", {}, t("from.title", { word })), el("p", { class: "note" }, t(`from.note${sentence.isAlone ? ".alone" : ""}`)),
    el("div", { class: "word-picker", role: "group", "aria-label": t("from.pick") }, words.map((label, i) => el("button", {
      class: "token", "aria-pressed": String(i === row), on: { click: () => change(i) } }, label))),
    best.weight > 0 ? el("p", { class: "finding" }, t(`from.finding${sentence.isAlone || sentence.isReader ? ".alone" : ""}`, {
      word, other: labels[best.column], weight: show(best.weight, 2), layer: best.place[0] + 1, head: best.place[1] + 1,
    }), sentence.isAlone || sentence.isReader ? null : [" ", el("a", { href: "#compare" }, t("from.compare"))]) : null,
    heatmap({ rows: names, columns: labels, values, kind: "weights", row: best.index, column: best.column, maxCell: 34, maxHeight: 460,
      label: t("from.title", { word }), describe: (r, c, value) => `${t("layer")} ${places[r][0] + 1}, ${t("head")} ${places[r][1] + 1}: ${word} → ${labels[c]}: ${show(value, 4)}`,
      onCell: (r) => onChoose(kind, ...places[r], row) }),
    legend("weights"));
}
