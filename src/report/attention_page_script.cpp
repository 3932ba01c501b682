#include "report/attention_page_parts.h"

namespace dragoman::report::attention_page_parts {

std::string_view drawing_script() {
  return R"js(
"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

/* A text in the chosen language, with {0}, {1}, ... replaced by the values. Texts are named by their English form. */
const speaksChinese = () => byId("speak-zh").checked;
function t(english, ...values) {
  const text = speaksChinese() ? DATA.chinese[english] ?? english : english;
  return text.replace(/\{(\d)\}/g, (whole, i) => values[i] ?? whole);
}

/* head -1 is the mean of a layer's heads; pinned and cell are indices or null */
const state = { kind: DATA.kinds[0] || null, layer: 0, head: 0, pinned: null, cell: null };

function element(name, attributes, ...children) {
  const isSvg = ["svg", "g", "rect", "text", "path", "title"].includes(name);
  const node = isSvg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/* Opacity of a weight: small weights stay visible, 0 is empty, 1 is full. */
const shade = (weight) => weight === null ? 1 : Math.pow(Math.min(Math.max(weight, 0), 1), 0.65);
const show = (weight) => weight === null ? t("not a number") : weight.toFixed(4);
const plain = (piece) => piece.replace(/^\u2581(?=.)/, "");

function matrixOf(kind, layer, head) {
  const heads = kind.layers[layer] || [];
  if (head >= 0) return (heads[head] || []).map((w) => w === null ? null : w / DATA.scale);
  return heads[0].map((_, i) => {
    const values = heads.map((weights) => weights[i]);
    return values.includes(null) ? null : values.reduce((a, b) => a + b, 0) / values.length / DATA.scale;
  });
}

function drawThumbnail(canvas, kind, layer, head) {
  const weights = matrixOf(kind, layer, head);
  const columns = kind.columns.length, rows = kind.rows.length;
  canvas.width = columns;
  canvas.height = rows;
  const style = getComputedStyle(document.documentElement);
  const context = canvas.getContext("2d");
  context.fillStyle = style.getPropertyValue("--ground");
  context.fillRect(0, 0, columns, rows);
  weights.forEach((weight, i) => {
    context.fillStyle = style.getPropertyValue(weight === null ? "--c1" : "--c0");
    context.globalAlpha = shade(weight);
    context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
  });
}

function drawOverview() {
  const kind = state.kind;
  const table = element("table");
  const count = Math.max(...kind.layers.map((heads) => heads.length));
  const names = element("tr", {}, element("td"));
  for (let head = 0; head < count; ++head) names.append(element("th", { scope: "col" }, t("head {0}", head + 1)));
  if (count > 1) names.append(element("th", { scope: "col" }, t("mean")));
  table.append(names);
  kind.layers.forEach((heads, layer) => {
    const row = element("tr", {}, element("th", { scope: "row" }, t("layer {0}", layer + 1)));
    const shown = heads.map((_, head) => head).concat(heads.length > 1 ? [-1] : []);
    for (const head of shown) {
      const canvas = element("canvas");
      drawThumbnail(canvas, kind, layer, head);
      const button = element("button", { type: "button", "aria-label": nameOf(layer, head) }, canvas);
      button.dataset.layer = layer;
      button.dataset.head = head;
      button.addEventListener("click", () => choose(layer, head));
      row.append(element("td", {}, button));
    }
    table.append(row);
  });
  byId("overview").replaceChildren(table);
  markChosen();
}

const nameOf = (layer, head) => t(head < 0 ? "layer {0}, mean of heads" : "layer {0}, head {1}", layer + 1, head + 1);

function drawLabels(svg, kind, size, left, top) {
  kind.rows.forEach((piece, i) => svg.append(element("text",
    { x: left - 6, y: top + size * (i + 0.5) + 4, "text-anchor": "end", class: "row" }, piece)));
  kind.columns.forEach((piece, j) => svg.append(element("text",
    { transform: `translate(${left + size * (j + 0.6)} ${top - 6}) rotate(-50)`, class: "column" }, piece)));
}

function drawMap() {
  const kind = state.kind, weights = matrixOf(kind, state.layer, state.head);
  const longest = (pieces) => Math.max(...pieces.map((piece) => [...piece].length)) * 7;
  const left = longest(kind.rows) + 12, top = longest(kind.columns) * 0.78 + 14, overhang = longest(kind.columns) * 0.65;
  const room = byId("map").clientWidth - left - overhang;
  const size = Math.floor(Math.min(28, Math.max(15, room / kind.columns.length)));
  const width = left + size * kind.columns.length + overhang, height = top + size * kind.rows.length + 4;
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  svg.append(element("rect", { class: "ground", x: left, y: top, width: size * kind.columns.length, height: size * kind.rows.length }));
  drawLabels(svg, kind, size, left, top);
  weights.forEach((weight, i) => {
    const row = Math.floor(i / kind.columns.length), column = i % kind.columns.length;
    const cell = element("rect", { class: weight === null ? "cell broken" : "cell", x: left + size * column, y: top + size * row,
      width: size - 1, height: size - 1, "fill-opacity": shade(weight).toFixed(3) });
    cell.addEventListener("pointerenter", () => showCell(row, column));
    svg.append(cell);
  });
  const frame = element("rect", { class: "frame", width: size - 1, height: size - 1, visibility: "hidden" });
  svg.append(frame);
  const map = byId("map");
  map.replaceChildren(svg);
  map.place = { frame, size, left, top, weights };
}

function drawLegend() {
  const bar = element("canvas", { width: 64, height: 1 });
  const context = bar.getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--c0");
  for (let i = 0; i < bar.width; ++i) {
    context.globalAlpha = shade((i + 0.5) / bar.width);
    context.fillRect(i, 0, 1, 1);
  }
  byId("legend").replaceChildren("0", bar, "1");
}
)js";
}

std::string_view interaction_script() {
  return R"js(
const LINE = 26; /* height of a token in the list, as in the style sheet */

function tokenList(pieces, side) {
  const list = element("ul", { "aria-label": t(side === "row" ? "tokens that look" : "tokens looked at") });
  pieces.forEach((piece, index) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }, element("span", { dir: "auto" }, piece));
    const item = element("li", {}, button, element("span", { class: "weight" }));
    if (side === "row") item.replaceChildren(element("span", { class: "weight" }), button);
    const target = { side, index };
    button.addEventListener("pointerenter", () => showLinks(target));
    button.addEventListener("pointerleave", () => showLinks(state.pinned));
    button.addEventListener("focus", () => showLinks(target));
    button.addEventListener("blur", () => showLinks(state.pinned));
    button.addEventListener("click", () => {
      const isSame = state.pinned && state.pinned.side === side && state.pinned.index === index;
      state.pinned = isSame ? null : target;
      showLinks(state.pinned || target);
    });
    list.append(item);
  });
  return list;
}

function drawLinks() {
  const rows = tokenList(state.kind.rows, "row"), columns = tokenList(state.kind.columns, "column");
  byId("links").replaceChildren(rows, element("svg", { "aria-hidden": "true" }), columns);
  showLinks(state.pinned);
}

/* Draws the arcs of one token, or of all when `target` is null, and shades the tokens at their other ends. */
function showLinks(target) {
  const [rows, svg, columns] = byId("links").children;
  const width = svg.clientWidth || 80, weights = byId("map").place.weights;
  const across = state.kind.columns.length;
  svg.replaceChildren();
  for (const list of [rows, columns]) {
    for (const item of list.children) {
      const button = item.querySelector("button");
      button.style.setProperty("--w", 0);
      button.setAttribute("aria-pressed", "false");
      item.querySelector(".weight").textContent = "";
    }
  }
  weights.forEach((weight, i) => {
    const row = Math.floor(i / across), column = i % across;
    const isMine = target && (target.side === "row" ? row : column) === target.index;
    if (weight === null || weight < 0.005 || (target && !isMine)) return;
    const from = (row + 0.5) * LINE - 1, to = (column + 0.5) * LINE - 1;
    svg.append(element("path", { d: `M0 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`,
      "stroke-width": (0.6 + 3 * weight).toFixed(2), "stroke-opacity": (target ? 0.15 + 0.85 * weight : weight * 0.55).toFixed(3) }));
    if (target) markEnd((target.side === "row" ? columns : rows).children[target.side === "row" ? column : row], weight);
  });
  if (target) describe(target, (target.side === "row" ? rows : columns).children[target.index]);
}

function markEnd(item, weight) {
  item.querySelector("button").style.setProperty("--w", (0.45 * shade(weight)).toFixed(3));
  if (weight >= 0.02) item.querySelector(".weight").textContent = weight.toFixed(2);
}

function describe(target, item) {
  item.querySelector("button").setAttribute("aria-pressed", "true");
  const kind = state.kind, across = kind.columns.length, weights = byId("map").place.weights;
  const isRow = target.side === "row";
  const ends = (isRow ? kind.columns : kind.rows).map((piece, i) =>
    ({ piece, weight: weights[isRow ? target.index * across + i : i * across + target.index] }));
  ends.sort((a, b) => (b.weight || 0) - (a.weight || 0));
  const best = ends.slice(0, 3).map((end) => `${plain(end.piece)} ${end.weight === null ? "?" : end.weight.toFixed(2)}`).join(", ");
  const name = plain((isRow ? kind.rows : kind.columns)[target.index]);
  byId("readout").textContent = t(isRow ? "{0} looks at {1}" : "{0} is looked at by {1}", name, best);
}

function showCell(row, column) {
  const kind = state.kind, place = byId("map").place;
  state.cell = { row, column };
  place.frame.setAttribute("x", place.left + place.size * column);
  place.frame.setAttribute("y", place.top + place.size * row);
  place.frame.setAttribute("visibility", "visible");
  for (const [name, index] of [["row", row], ["column", column]]) {
    byId("map").querySelectorAll("text." + name).forEach((label, i) => label.classList.toggle("on", i === index));
  }
  byId("readout").replaceChildren(`${plain(kind.rows[row])} \u2192 ${plain(kind.columns[column])}: `,
    element("b", {}, show(place.weights[row * kind.columns.length + column])));
}

function moveCell(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  const clamp = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const at = state.cell || { row: -step[0], column: -step[1] };
  showCell(clamp(at.row + step[0], state.kind.rows.length), clamp(at.column + step[1], state.kind.columns.length));
}

function markChosen() {
  for (const button of byId("overview").querySelectorAll("button")) {
    const isChosen = Number(button.dataset.layer) === state.layer && Number(button.dataset.head) === state.head;
    button.setAttribute("aria-pressed", String(isChosen));
  }
}

function choose(layer, head) {
  state.layer = layer;
  state.head = head;
  state.cell = null;
  byId("chosen").textContent = t("{0}, {1}", t(state.kind.name), nameOf(layer, head));
  byId("readout").textContent = "";
  drawMap();
  drawLinks();
  markChosen();
}

/* Writes all that is chosen in the chosen language. */
function speak() {
  document.documentElement.lang = speaksChinese() ? "zh-Hans" : "en";
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  for (const button of byId("kinds").children) button.textContent = t(DATA.kinds.find((kind) => kind.id === button.dataset.id).name);
  if (!state.kind) {
    byId("note").textContent = t("There are no attention weights in this page.");
    return;
  }
  const pinned = state.pinned;
  chooseKind(state.kind);
  state.pinned = pinned;
  showLinks(pinned);
}

function chooseKind(kind) {
  state.kind = kind;
  state.pinned = null;
  for (const button of byId("kinds").children) button.setAttribute("aria-pressed", String(button.dataset.id === kind.id));
  byId("note").textContent = t(kind.note);
  const layer = Math.min(state.layer, kind.layers.length - 1);
  state.layer = layer;
  drawOverview();
  choose(layer, Math.min(state.head, kind.layers[layer].length - 1));
}

/* Opens at the head in which the word that was asked for looks most at another one. */
function openAtWord() {
  if (!DATA.open || !state.kind || state.kind.id !== "encoder") return;
  state.layer = DATA.open.layer;
  state.head = DATA.open.head;
  state.pinned = { side: "row", index: DATA.open.row };
}

function start() {
  byId("speak-zh").checked = navigator.language.startsWith("zh");
  byId("speak-en").checked = !speaksChinese();
  for (const input of document.querySelectorAll(".speak")) input.addEventListener("change", speak);
  document.querySelector(".detail").hidden = !state.kind;
  for (const kind of DATA.kinds) {
    const button = element("button", { type: "button", "data-id": kind.id }, t(kind.name));
    button.addEventListener("click", () => chooseKind(kind));
    byId("kinds").append(button);
  }
  byId("map").addEventListener("keydown", moveCell);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawOverview();
    drawLegend();
  });
  addEventListener("resize", () => showLinks(state.pinned));
  drawLegend();
  openAtWord();
  speak();
}
start();
)js";
}

}  // namespace dragoman::report::attention_page_parts
