// What stages of recurrent and convolutional models draw with: a matrix of the rows that were read, and X W + b.
import { isNormed } from "/assets/model_facts.js";
import { columnWindow, firstRows, product } from "/assets/product.js";
import { lettersOf } from "/assets/stages.js";
import { columnSteps } from "/assets/view_attention.js";
import { rowsOf } from "/assets/view_layers.js";
import { wordMatrix } from "/assets/view_words.js";

const parameterOf = async (sentence, path, columns) => (await sentence.part({ part: "parameter", path, columns })).parameter;

// A weight that is kept as a direction and a length for each column: gain v / ||v||.
function lengthened({ shape, values }, gain) {
  const width = shape[1], squares = new Array(width).fill(0);
  values.forEach((value, i) => { squares[i % width] += value * value; });
  return { shape, values: values.map((value, i) => (value * gain.values[i % width]) / Math.sqrt(squares[i % width])) };
}

// Columns of the matrix that a map multiplies with.
async function weightOf(sentence, path, columns) {
  const weight = await parameterOf(sentence, path, columns);
  return isNormed(sentence.model) ? lengthened(weight, await parameterOf(sentence, `${path}_gain`, columns)) : weight;
}

/// How many rows a stage shows: only the words that were read.
export function shownRows(context) {
  const { labels, row, later, onRow } = rowsOf(context);
  return { labels, row, later, onRow, count: later ? row + 1 : labels.length };
}

export function matrixOf(context, title, letter, part, largest) {
  const { labels, row, later, onRow } = shownRows(context);
  return wordMatrix(title, `[${lettersOf(context.stage)[0]}, ${letter}]`, part, labels, { row, later, onRow, rowHeight: 11, ...(largest ? { largest } : {}) });
}

/// X W (+ b), a window of its columns.  @param key  of the state that keeps which columns are shown
export async function mapped(context, { left, weight, bias, result, key = "column0", rows }) {
  const { sentence, state, go } = context, shown = shownRows(context), count = rows ?? shown.count;
  const window = columnWindow(left.part.shape[1], result.columns, state[key] ?? 0);
  const made = await result.part(window);
  return [product({ law: "linear", rows: rows ? [left.symbol] : shown.labels, row: rows ? 0 : shown.row, onRow: rows ? undefined : shown.onRow, firstColumn: window[0],
    left: { symbol: left.symbol, ...firstRows(left.part, count) }, right: { symbol: weight.symbol, ...(await weightOf(sentence, weight.path, window)) },
    bias: bias ? { symbol: bias.symbol, ...(await parameterOf(sentence, bias.path, window)) } : null, result: { symbol: result.symbol, ...firstRows(made, count) } }),
  columnSteps(window, result.columns, (column) => go({ [key]: column }))];
}
