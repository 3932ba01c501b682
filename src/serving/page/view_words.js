// Stages of single words: sub-words, embeddings, positions, the encoder's output, the decoder's input.
import { cssColour, colourOf, show, signedLimit } from "/assets/colour.js";
import { el, svg } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { addsPositions, isAlone, isReader, stackOf } from "/assets/model_facts.js";
import { firstRows } from "/assets/product.js";
import { rowOf } from "/assets/sentence.js";
import { t } from "/assets/strings.js";

export function tokenList(pieces, ids, chosen, onChoose) {
  return el("ol", { class: "pieces" }, pieces.map((piece, i) => el("li", {},
    el("button", { "aria-pressed": String(i === chosen), on: { click: () => onChoose?.(i) } },
      el("b", {}, piece), el("span", { class: "number" }, ids[i])))));
}

/// Says which formula gives what an element shows, and from what, so that a test can compute it again.
export function lawful(element, law, shown) {
  element.setAttribute("data-law", law);
  element.shown = shown;
  return element;
}

/// The path of the embedding table of one side. A language model or an encoder has one alone.
export function tablePath(model, isTarget) {
  if (isAlone(model) || isReader(model)) return "embedding.weight";
  return model.tying === "all" ? "embedding.weight" : isTarget ? "target_embedding.weight" : "source_embedding.weight";
}

/// A matrix whose rows are words and whose columns are numbers.
export function wordMatrix(title, shape, part, labels, options = {}) {
  const limit = options.largest ?? signedLimit(part.values);
  return el("section", { class: "matrix" },
    el("h3", {}, title, " ", el("small", { class: "shape" }, shape)),
    heatmap({ rows: labels, columns: null, values: part.values, kind: "signed", largest: limit, label: title, ...options }),
    legend("signed", limit));
}

/// The first numbers of one row, as coloured fields.
export function numberStrip(label, values, limit, count = 12) {
  return el("div", { class: "strip" }, el("span", { class: "strip-label" }, label),
    el("span", { class: "fields" }, values.slice(0, count).map((value) => el("span", { class: "field number", style: {
      "border-bottom-color": cssColour(colourOf("signed", value, limit)),
    } }, show(value, 2))), values.length > count ? el("span", { class: "note" }, `… ${values.length}`) : null));
}

export function tokensView({ sentence, state, go }) {
  return el("div", {},
    el("p", { class: "quote" }, sentence.source.text),
    tokenList(sentence.isAlone ? sentence.sourceLabels : sentence.source.pieces, sentence.source.ids, state.row, (row) => go({ row })),
    el("p", { class: "note" }, t("tokens.note", { count: sentence.source.ids.length, size: sentence.model.source_vocab_size })));
}

// The vectors of the words of the source or of the prompt, the rows of the decoder that follow them left out.
async function embeddingOf(sentence) {
  const part = await sentence.part({ part: "embedding", path: `${stackOf(sentence.model, "encoder")}embedding` });
  return Object.fromEntries(["words", "positions", "sum"].filter((name) => part[name]).map((name) => [name, firstRows(part[name], sentence.source.ids.length)]));
}

export async function embedView({ sentence, state, go }) {
  const part = await embeddingOf(sentence);
  const { model } = sentence, rows = await sentence.part({ part: "parameter", path: tablePath(model, false), rows: sentence.source.ids });
  const limit = signedLimit(part.words.values), onRow = (row) => go({ row }), symbol = model.tying === "all" || sentence.isAlone || sentence.isReader ? "E" : "E source";
  const isScaled = model.scale_embedding !== false, row = Math.min(state.row, sentence.source.ids.length - 1);
  return el("div", {},
    sentence.isReader && model.head !== "words" ? null : el("p", { class: "note" }, t(sentence.isReader ? "embed.tying.all.alone" : `embed.tying.${model.tying}${sentence.isAlone ? ".alone" : ""}`)),
    wordMatrix(`${symbol}[id]`, "[S, d_model]", rows.parameter, sentence.source.ids.map(String), { row, onRow, rowHeight: 13 }),
    lawful(wordMatrix(`X = ${isScaled ? "√d_model · " : ""}${symbol}[id]`, "[S, d_model]", part.words, sentence.sourceLabels, { row, onRow, largest: limit, rowHeight: 13 }),
      "scaled", { table: rows.parameter, factor: isScaled ? Math.sqrt(model.d_model) : 1, result: part.words }),
    numberStrip(sentence.sourceLabels[row], rowOf(part.words, row), limit));
}

// Words, positions and their sum, each from what stands beside it.
function sumMaps(part, labels, { letter, row, onRow, isSinusoidal }) {
  const limit = signedLimit(part.sum.values), shape = `[${letter}, d_model]`;
  const matrix = (title, values) => wordMatrix(title, shape, values, labels, { row, onRow, largest: limit, rowHeight: 12 });
  const positions = matrix(isSinusoidal ? "PE" : "P[pos]", part.positions);
  return el("div", { class: "stack-of-maps" }, matrix("X", part.words), isSinusoidal ? lawful(positions, "sinusoid", { result: part.positions }) : positions,
    lawful(matrix(isSinusoidal ? "X + PE" : "X + P[pos]", part.sum), "sum", { left: part.words, right: part.positions, result: part.sum }));
}

export async function positionView({ sentence, state, go }) {
  const part = await embeddingOf(sentence), chosen = Math.min(state.row, sentence.source.ids.length - 1);
  const limit = signedLimit(part.sum.values);
  const isSinusoidal = sentence.model.positions === "sinusoidal", sign = isSinusoidal ? "PE" : "P";
  const strip = (label, values) => numberStrip(label, rowOf(values, chosen), limit, 8);
  return el("div", {},
    waves(part.positions, chosen),
    sumMaps(part, sentence.sourceLabels, { letter: "S", row: chosen, onRow: (row) => go({ row }), isSinusoidal }),
    el("div", { class: "sum", role: "group", "aria-label": t("position.sum") },
      strip(`X  ${sentence.sourceLabels[chosen]}`, part.words), strip(`+ ${sign}  pos = ${chosen}`, part.positions), strip("=", part.sum)));
}

// Four of the curves that positions are read from, with the sentence's own positions as dots.
function waves(positions, row) {
  const [n, width] = positions.shape;
  const columns = [0, 0.12, 0.25, 0.5].map((part) => Math.min(Math.floor((part * width) / 2) * 2, width - 1));
  const w = 640, h = 60;
  return el("figure", { class: "waves" }, columns.map((column, index) => {
    const points = Array.from({ length: n }, (_, r) => [30 + (r * (w - 60)) / Math.max(n - 1, 1), h / 2 - positions.values[r * width + column] * (h / 2 - 6)]);
    return el("div", { class: "wave-row" }, svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": t("position.wave", { column }) },
      svg("line", { x1: 30, x2: w - 30, y1: h / 2, y2: h / 2, class: "axis" }),
      svg("polyline", { points: points.map((p) => p.join(",")).join(" "), class: `wave wave-${index}` }),
      points.map(([x, y], r) => svg("circle", { cx: x, cy: y, r: r === row ? 6 : 3, class: `wave-dot wave-${index}` }))),
      el("span", { class: "note number" }, column));
  }), el("figcaption", { class: "note" }, t("position.caption")));
}

export async function memoryView({ sentence, state, go }) {
  const part = await sentence.part({ part: "output", path: "encoder" });
  return el("div", {}, wordMatrix(t("machine.memory"), "[S, d_model]", part.output, sentence.sourceLabels, { row: state.row, onRow: (row) => go({ row }) }),
    numberStrip(sentence.sourceLabels[state.row], rowOf(part.output, state.row), signedLimit(part.output.values)));
}

export async function shiftView({ sentence, stage }) {
  const { model, target } = sentence, { step } = stage;
  const part = await sentence.part({ part: "embedding", path: `${stackOf(model, "decoder")}embedding` });
  const written = Object.fromEntries(["words", "positions", "sum"].filter((name) => part[name]).map((name) => [name, firstRows(part[name], step + 1)]));
  const isSinusoidal = model.positions === "sinusoidal", labels = sentence.inputLabels.slice(0, step + 1);
  return el("div", {},
    el("ol", { class: "pieces growing" }, target.input_pieces.map((piece, i) => el("li", { class: i > step ? "later" : i === step ? "newest" : "" },
      el("span", {}, el("b", {}, i > step ? "?" : sentence.isAlone ? sentence.inputLabels[i] : piece), el("span", { class: "number" }, i > step ? "" : target.input_ids[i]))))),
    addsPositions(model) ? sumMaps(written, labels, { letter: "t", row: step, isSinusoidal })
      : wordMatrix("X", "[t, d_model]", written.words, labels, { row: step, rowHeight: 12 }));
}
