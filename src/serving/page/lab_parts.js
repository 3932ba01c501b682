// What the panels of the laboratory are built from.
import { el, replace, svg } from "/assets/dom.js";
import { t } from "/assets/strings.js";
import { tex } from "/assets/tex.js";

/// The frame of a panel: title, one paragraph, formula, and the way to the derivation.
/// @param name  of its texts, "lab.NAME"; anchor: of docs/derivations.md
export function panel(name, formula, anchor, openDerivation, ...body) {
  return el("article", { class: `card lab-panel lab-${name}`, id: `lab-${name}`, "aria-labelledby": `lab-title-${name}` },
    el("h2", { id: `lab-title-${name}` }, t(`lab.${name}`)), el("p", { class: "explain" }, t(`lab.${name}.explain`)),
    el("div", { class: "formula-row" }, tex(formula)), body, derivationOf(anchor, openDerivation));
}

/// The way to a section of docs/derivations.md, and the place where it opens.
export function derivationOf(anchor, openDerivation) {
  const place = el("div", { class: "derivation" });
  const link = el("a", { href: derivationAddress(anchor), class: "to-derivation", on: {
    click: (event) => { event.preventDefault(); openDerivation(anchor, place, link); } } }, t("lab.derivation"));
  return [el("p", { class: "more" }, link), place];
}

export function derivationAddress(anchor) {
  return `/docs/${document.documentElement.lang.startsWith("zh") ? "zh/" : ""}derivations.md#${anchor}`;
}

/// A labelled slider with its value beside it. `show` writes the value.
export function slider(id, label, { min, max, step = 1, value, show = String }, onInput) {
  const output = el("output", { for: id, class: "number" }, show(value));
  const input = el("input", { type: "range", id, min, max, step, value, on: { input: () => {
    output.textContent = show(Number(input.value));
    onInput(Number(input.value));
  } } });
  const set = (next) => { input.value = next; output.textContent = show(next); };
  return { element: el("div", { class: "lab-slider" }, el("label", { for: id }, label), input, output), input, set };
}

/// Buttons of which one is pressed. names: values; label(value): its text
export function choice(title, names, chosen, label, onChoose) {
  const buttons = names.map((name) => el("button", { type: "button", "aria-pressed": String(name === chosen), on: { click: () => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(names[i] === name)));
    onChoose(name);
  } } }, label(name)));
  return el("div", { class: "heads", role: "group", "aria-label": title }, buttons);
}

/// An element that `draw(width)` fills anew whenever its width changes, so that text in it keeps its size.
export function fitted(draw, props = {}) {
  const element = el("div", { class: "fitted", ...props });
  let width = 0;
  element.redraw = () => width > 0 && replace(element, draw(width));
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    element.redraw();
  }).observe(element);
  return element;
}

const kRight = 16; // room for half of the last label

/// A frame for curves: x and y map values to pixels, xOf and yOf back.
export function plot({ width, height, xRange, yRange, label, left = 34, bottom = 22 }) {
  const x = (value) => left + ((value - xRange[0]) / (xRange[1] - xRange[0])) * (width - left - kRight);
  const y = (value) => height - bottom - ((value - yRange[0]) / (yRange[1] - yRange[0])) * (height - bottom - 8);
  const element = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "lab-plot", role: "img", "aria-label": label });
  for (const tick of ticks(...yRange)) {
    element.append(svg("line", { x1: left, x2: width - kRight, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 5, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  for (const tick of ticks(...xRange)) element.append(svg("text", { x: x(tick), y: height - 5, "text-anchor": "middle" }, short(tick)));
  return { element, x, y, xOf: (pixel) => xRange[0] + ((pixel - left) / (width - left - kRight)) * (xRange[1] - xRange[0]),
    yOf: (pixel) => yRange[0] + ((height - bottom - pixel) / (height - bottom - 8)) * (yRange[1] - yRange[0]) };
}

const short = (value) => String(Number(value.toPrecision(6))).replace("-", "−");

/// About five round numbers from low to high: 1, 2 or 5 times a power of ten apart.
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

/// The points attribute of a polyline.
export const polyline = (points) => points.map(([px, py]) => `${px.toFixed(2)},${py.toFixed(2)}`).join(" ");
