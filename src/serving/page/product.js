// A matrix product that can be followed: row of the left times column of the right gives a cell of the result.
import { colourOf, cssColour, inkOn, show, signedLimit } from "/assets/colour.js";
import { el, replace } from "/assets/dom.js";
import { thumbnail } from "/assets/heatmap.js";
import { prose } from "/assets/prose.js";
import { t } from "/assets/strings.js";

const kTallest = 260, kRightTallest = 150, kTerms = 6;

/// The transpose of a matrix part {shape, values}.
export function transposed({ shape: [rows, columns], values }) {
  return { shape: [columns, rows], values: Array.from({ length: rows * columns }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]) };
}

/// The first `count` rows of a matrix part.
export function firstRows(part, count) {
  const width = part.shape[1];
  return count >= part.shape[0] ? part : { shape: [count, width], values: part.values.slice(0, count * width) };
}

/// Columns [begin, end) of a matrix part.
export function someColumns(part, begin, end) {
  const [rows, width] = part.shape;
  if (begin === 0 && end === width) return part;
  return { shape: [rows, end - begin], values: Array.from({ length: rows }, (_, r) => part.values.slice(r * width + begin, r * width + end)).flat() };
}

/// The sum of one cell, term by term, and its bias.
export function cellOf({ left, right, bias }, r, c) {
  const inner = left.shape[1], columns = right.shape[1];
  const terms = Array.from({ length: inner }, (_, i) => [left.values[r * inner + i], right.values[i * columns + c]]);
  const sum = terms.reduce((total, [a, b]) => total + a * b, 0);
  return { terms, bias: bias ? bias.values[c] : 0, total: sum + (bias ? bias.values[c] : 0) };
}

function matrixCanvas(part, label, tallest, isWeights) {
  const [rows, columns] = part.shape;
  const canvas = el("canvas", { role: "img", "aria-label": label });
  const picture = thumbnail({ values: part.values, nColumns: columns, kind: isWeights ? "weights" : "signed" });
  canvas.paint = (row, column) => {
    const width = canvas.clientWidth || 200, height = Math.max(Math.min(tallest, rows * 16), 14), ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    canvas.style.setProperty("height", `${height}px`);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.imageSmoothingEnabled = columns > width;
    pen.drawImage(picture, 0, 0, width, height);
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--warm");
    pen.lineWidth = 2;
    const y = row >= 0 ? (row * height) / rows : 0, x = column >= 0 ? (column * width) / columns : 0;
    const h = row >= 0 ? Math.max(height / rows, 3) : height, w = column >= 0 ? Math.max(width / columns, 3) : width;
    pen.strokeRect(x, y, w, h);
  };
  canvas.cell = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.min(Math.max(Math.floor(((event.clientY - box.top) / box.height) * rows), 0), rows - 1), Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * columns), 0), columns - 1)];
  };
  return canvas;
}

const named = (symbol, part) => el("span", { class: "product-name" }, el("b", {}, prose(symbol)), " ", el("small", { class: "shape whole-line" }, `[${part.shape.join(" × ")}]`));

function sumLine(options, r, c) {
  const { terms, bias, total } = cellOf(options, r, c), { left, right, result } = options;
  const shown = terms.slice(0, kTerms), limit = signedLimit(terms.flat());
  const box = (value) => el("span", { class: "number product-number", style: { "background-color": cssColour(colourOf("signed", value, limit)), color: inkOn(colourOf("signed", value, limit)) } }, show(value, 2));
  return [
    el("p", { class: "note" }, prose(t("product.cell", { row: options.rows[r], column: options.columns?.[c] ?? c + (options.firstColumn ?? 0), left: left.symbol, right: right.symbol, result: result.symbol }))),
    el("p", { class: "product-terms" }, shown.map(([a, b], i) => [i ? " + " : "", box(a), "·", box(b)]), terms.length > kTerms ? t("product.more", { count: terms.length - kTerms }) : "",
      options.bias ? [" + ", box(bias), el("small", {}, " ", prose(options.bias.symbol))] : "", " = ", el("b", { class: "number product-total" }, show(total, 3))),
  ];
}

/// @param options law: what the test recomputes; left, right, result: {symbol, shape, values}; bias: {symbol, values} or
///   null; rows: labels of the left's rows; columns: labels of the result's columns, or none; row, column: chosen;
///   onRow(r); weights: which of left and result hold weights; firstColumn: number of the first column shown
export function product(options) {
  const { left, right, result } = options;
  let row = Math.min(options.row ?? 0, left.shape[0] - 1), column = Math.min(options.column ?? 0, right.shape[1] - 1);
  const canvases = {
    left: matrixCanvas(left, `${left.symbol}, ${left.shape.join(" × ")}`, kTallest, options.weights?.includes("left")),
    right: matrixCanvas(right, `${right.symbol}, ${right.shape.join(" × ")}`, kRightTallest),
    result: matrixCanvas(result, `${result.symbol}, ${result.shape.join(" × ")}. ${t("map.keys")}`, kTallest, options.weights?.includes("result")),
  };
  canvases.result.tabIndex = 0;
  const line = el("div", { class: "product-sum", "aria-live": "polite" });
  const element = el("figure", { class: "product", "data-law": options.law },
    el("div", { class: "product-grid" }, el("div", { class: "product-note note" }, t("product.how")),
      el("div", {}, named(right.symbol, right), canvases.right), el("div", {}, named(left.symbol, left), canvases.left), el("div", {}, named(result.symbol, result), canvases.result)), line);
  element.shown = options;

  function draw() {
    if (!element.isConnected) return;
    canvases.left.paint(row, -1);
    canvases.right.paint(-1, column);
    canvases.result.paint(row, column);
    replace(line, sumLine(options, row, column));
  }
  const choose = (r, c) => { [row, column] = [r, c]; draw(); };
  canvases.result.addEventListener("pointermove", (event) => choose(...canvases.result.cell(event)));
  canvases.result.addEventListener("click", (event) => { choose(...canvases.result.cell(event)); options.onRow?.(row); });
  canvases.left.addEventListener("pointermove", (event) => choose(canvases.left.cell(event)[0], column));
  canvases.right.addEventListener("pointermove", (event) => choose(row, canvases.right.cell(event)[1]));
  canvases.result.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.min(Math.max(row + move[0], 0), result.shape[0] - 1), Math.min(Math.max(column + move[1], 0), result.shape[1] - 1));
  });
  new ResizeObserver(draw).observe(element);
  return element;
}

const kMostOfWeight = 150_000; // numbers of one weight that are fetched at a time

/// Which columns of a weight [nIn, nOut] are shown so that `column` is among them: [begin, end).
export function columnWindow(nIn, nOut, column) {
  const count = Math.min(nOut, Math.max(16, Math.floor(kMostOfWeight / nIn)));
  const begin = Math.min(Math.floor(column / count) * count, nOut - count);
  return [begin, begin + count];
}
