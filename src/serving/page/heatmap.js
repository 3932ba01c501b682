// A matrix as coloured cells on a canvas, with its labels. Works with pointer and arrow keys; what is under either is
// written below it, and Enter or a click goes into the cell.
import { colourOf, cssColour, inkOn, show, signedLimit } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { t } from "/assets/strings.js";

const kFont = 12, kSlanted = 15; // pixels; two slanted labels stand that far apart

function measure(context, labels) {
  context.font = `600 ${kFont}px system-ui, "Noto Sans CJK SC", sans-serif`;
  return Math.min(110, Math.max(0, ...labels.map((label) => context.measureText(label).width + 1)));
}

function shorten(context, label, width) {
  let text = label;
  while (text.length > 1 && context.measureText(text).width > width) text = text.slice(0, -2) + "…";
  return text;
}

/// @param options rows: labels; columns: labels, or null for numbered columns; values: row-major numbers; kind
///   "weights" | "signed"; largest: what full colour stands for; hidden(r, c): true for a cell that is masked;
///   maxHeight: pixels for all rows, where cells need not be squares; later(r): true for a row that is not there yet; row, column: what is chosen; label: for screen readers;
///   describe(r, c, value): the line below; onCell(r, c): a cell was chosen; onRow(r): a row was chosen
/// @return the element; it draws itself as wide as it is given room
export function heatmap(options) {
  const state = { row: options.row ?? 0, column: options.column ?? (options.onCell ? 0 : -1), hover: null };
  const nColumns = options.rows.length ? options.values.length / options.rows.length : 0;
  const largest = options.largest ?? (options.kind === "signed" ? signedLimit(options.values) : 1);
  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `${options.label}. ${t("map.keys")}` });
  const line = el("p", { class: "readout number", "aria-live": "polite" });
  const figure = el("figure", { class: `heatmap ${options.class ?? ""}` }, canvas, line);
  let place = null;

  const at = (r, c) => options.values[r * nColumns + c];
  const describe = (r, c) => {
    if (options.later?.(r)) return t("map.later");
    if (options.hidden?.(r, c)) return `${options.rows[r]} → ${options.columns?.[c] ?? c}: ${t("map.masked")}`;
    return options.describe ? options.describe(r, c, at(r, c))
      : `${options.rows[r]} → ${options.columns?.[c] ?? `${t("map.column")} ${c}`}: ${show(at(r, c), 4)}`;
  };

  function layout(context) {
    const width = Math.max(figure.clientWidth, 60);
    const left = Math.ceil(measure(context, options.rows)) + 8;
    const top = options.columns ? Math.ceil(measure(context, options.columns)) * 0.72 + 14 : 2;
    const right = options.columns ? Math.min(34, top) : 2;
    const cell = options.columns ? Math.min(options.maxCell ?? 40, (width - left - right) / nColumns)
      : Math.min(14, (width - left - right) / nColumns);
    const height = options.columns ? Math.min(cell, Math.max(9, (options.maxHeight ?? 1e6) / options.rows.length)) : Math.min(22, Math.max(9, options.rowHeight ?? 16));
    return { width, left, top, cell, height, gap: cell > 9 ? 1 : 0 };
  }

  function drawCell(context, r, c) {
    const x = place.left + c * place.cell, y = place.top + r * place.height;
    const w = Math.max(place.cell - place.gap, 0.6), h = place.height - (place.height > 9 ? 1 : 0);
    if (options.later?.(r)) return;
    if (options.hidden?.(r, c)) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--line");
      context.beginPath();
      context.moveTo(x + 1, y + h - 1);
      context.lineTo(x + w - 1, y + 1);
      context.stroke();
      return;
    }
    const colour = colourOf(options.kind, at(r, c), largest);
    context.fillStyle = cssColour(colour);
    context.fillRect(x, y, w + (place.gap ? 0 : 0.5), h);
    if (place.cell >= 34 && place.height >= 18 && options.columns) {
      context.fillStyle = inkOn(colour);
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      context.fillText(show(at(r, c), options.kind === "weights" ? 2 : 1), x + w / 2, y + h / 2 + 0.5);
    }
  }

  function drawLabels(context, ink, soft) {
    context.font = `${kFont}px system-ui, "Noto Sans CJK SC", sans-serif`;
    context.textBaseline = "middle";
    const rowEvery = Math.ceil(kFont / place.height), columnEvery = Math.ceil(kSlanted / place.cell); // of the labels one is written
    options.rows.forEach((label, r) => {
      if (r % rowEvery !== 0 && r !== state.row) return;
      if (r !== state.row && Math.abs(r - state.row) < rowEvery && rowEvery > 1) return;
      context.textAlign = "right";
      context.fillStyle = r === state.row ? ink : soft;
      context.globalAlpha = options.later?.(r) ? 0.35 : 1;
      context.font = `${r === state.row ? "600 " : ""}${kFont}px system-ui, "Noto Sans CJK SC", sans-serif`;
      context.fillText(shorten(context, label, place.left - 8), place.left - 6, place.top + (r + 0.5) * place.height);
    });
    context.globalAlpha = 1;
    options.columns?.forEach((label, c) => {
      if (c % columnEvery !== 0 && c !== state.column) return;
      if (c !== state.column && Math.abs(c - state.column) < columnEvery && columnEvery > 1) return;
      context.save();
      context.translate(place.left + (c + 0.5) * place.cell, place.top - 5);
      context.rotate(-Math.PI / 4);
      context.textAlign = "left";
      context.fillStyle = c === state.column ? ink : soft;
      context.font = `${c === state.column ? "600 " : ""}${kFont}px system-ui, "Noto Sans CJK SC", sans-serif`;
      context.fillText(shorten(context, label, 104), 0, 0);
      context.restore();
    });
  }

  function draw() {
    if (!canvas.isConnected || figure.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    place = layout(context);
    const height = place.top + place.height * options.rows.length + 2;
    canvas.width = place.width * ratio;
    canvas.height = height * ratio;
    canvas.style.setProperty("height", `${height}px`);
    context.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink"), soft = style.getPropertyValue("--soft");
    drawLabels(context, ink, soft);
    for (let r = 0; r < options.rows.length; ++r) {
      for (let c = 0; c < nColumns; ++c) drawCell(context, r, c);
    }
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    if (state.row < options.rows.length && !options.later?.(state.row)) {
      const y = place.top + state.row * place.height;
      if (options.columns && options.onCell) {
        context.strokeRect(place.left + state.column * place.cell - 0.5, y - 0.5, place.cell, place.height);
      }
      context.globalAlpha = 0.45;
      context.strokeRect(place.left - 0.5, y - 0.5, place.cell * nColumns, place.height);
      context.globalAlpha = 1;
    }
    line.textContent = describe(state.hover?.[0] ?? state.row, state.hover?.[1] ?? Math.max(state.column, 0));
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const r = Math.floor((event.clientY - box.top - place.top) / place.height);
    const c = Math.floor((event.clientX - box.left - place.left) / place.cell);
    return r >= 0 && r < options.rows.length && c < nColumns ? [r, Math.max(c, 0)] : null;
  }
  function choose(r, c) {
    [state.row, state.column] = [r, c];
    draw();
    options.onRow?.(r);
    options.onCell?.(r, c, canvas);
  }
  canvas.addEventListener("pointermove", (event) => {
    state.hover = place && cellAt(event);
    if (state.hover) line.textContent = describe(...state.hover);
  });
  canvas.addEventListener("pointerleave", () => { state.hover = null; draw(); });
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell && !options.later?.(cell[0])) choose(...cell);
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      state.row = Math.min(Math.max(state.row + move[0], 0), options.rows.length - 1);
      state.column = Math.min(Math.max(state.column + move[1], 0), nColumns - 1);
      draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(state.row, state.column);
    }
  });
  new ResizeObserver(draw).observe(figure);
  figure.redraw = draw;
  figure.chosenRow = () => {
    if (!place) return null;
    const top = canvas.getBoundingClientRect().top + place.top + state.row * place.height;
    return { top, bottom: top + place.height };
  };
  return figure;
}

/// The legend of a scale, the same everywhere.
export function legend(kind, largest = 1) {
  const canvas = el("canvas", { width: 160, height: 1, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  for (let x = 0; x < 160; ++x) {
    const part = x / 159;
    context.fillStyle = cssColour(colourOf(kind, kind === "signed" ? part * 2 - 1 : part, 1));
    context.fillRect(x, 0, 1, 1);
  }
  const low = kind === "signed" ? show(-largest, 2) : "0";
  return el("p", { class: "legend number" }, low, canvas, show(largest, kind === "signed" ? 2 : 0));
}

/// A matrix without labels as a picture, for places too small for more. @return a data address
export function thumbnail({ values, nColumns, kind, largest, hidden, later, size = 0 }) {
  const nRows = Math.max(1, Math.round(values.length / nColumns));
  const canvas = el("canvas", { width: nColumns, height: nRows });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(nColumns, nRows);
  const limit = largest ?? (kind === "signed" ? signedLimit(values) : 1);
  for (let i = 0; i < values.length; ++i) {
    const r = Math.floor(i / nColumns), c = i % nColumns;
    const gone = hidden?.(r, c) || later?.(r);
    const colour = gone ? [0, 0, 0] : colourOf(kind, values[i], limit);
    picture.data.set([...colour, gone ? 0 : 255], i * 4);
  }
  context.putImageData(picture, 0, 0);
  if (!size) return canvas;
  const large = el("canvas", { width: size, height: Math.round((size * nRows) / nColumns) });
  const pen = large.getContext("2d");
  pen.imageSmoothingEnabled = false;
  pen.drawImage(canvas, 0, 0, large.width, large.height);
  return large;
}
