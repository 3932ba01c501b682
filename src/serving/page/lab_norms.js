// Which numbers a norm averages, on a cube of sentences, words and features, and what padding does to each norm.
import { colourOf, cssColour, inkOn, show } from "/assets/colour.js";
import { el, replace, svg } from "/assets/dom.js";
import { kNorms, mean, normals, normalise, normDependence, normSets, variance } from "/assets/lab_math.js";
import { choice, fitted, panel, slider } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";

const kShape = { sentences: 3, words: 4, features: 6 };
const kLengths = [4, 2, 3];
const kSize = kShape.sentences * kShape.words * kShape.features;
const kPaddingCounts = ["counted", "skipped"];

const placeOf = (at) => ({ b: Math.floor(at / (kShape.words * kShape.features)), w: Math.floor(at / kShape.features) % kShape.words, c: at % kShape.features });
const isPadding = (at) => placeOf(at).w >= kLengths[placeOf(at).b];

export class Norms {
  constructor() {
    const normal = normals(8);
    this.start = Array.from({ length: kSize }, (_, at) => (isPadding(at) ? 0 : Number((1 + 1.5 * normal()).toFixed(2))));
    Object.assign(this, { values: [...this.start], norm: "layer", padding: "counted", cell: kShape.words * kShape.features }); // in the sentence with most padding
  }

  element(openDerivation) {
    this.finding = el("p", { class: "finding", role: "status" });
    this.slider = slider("lab-value", t("lab.norms.value"), { min: -6, max: 6, step: 0.1, value: this.values[this.cell], show: (value) => show(value, 2) }, (value) => {
      this.values[this.cell] = value;
      this.update();
    });
    this.input = fitted((width) => this.cube(width, this.values, "input"));
    this.output = fitted((width) => this.cube(width, this.result, "output"));
    this.table = el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("lab.norms.table") });
    const element = panel("norms", "y = \\frac{x - \\mu_S}{\\sqrt{\\sigma_S^2 + \\epsilon}}, \\quad \\mu_S = \\frac{1}{|S|} \\sum_{x \\in S} x, \\quad \\sigma_S^2 = \\frac{1}{|S|} \\sum_{x \\in S} (x - \\mu_S)^2", "normalisation", openDerivation,
      choice(t("lab.norms.norm"), kNorms, this.norm, (norm) => t(`lab.norms.${norm}`), (norm) => { this.norm = norm; this.update(); }),
      choice(t("lab.norms.padding"), kPaddingCounts, this.padding, (padding) => t(`lab.norms.${padding}`), (padding) => { this.padding = padding; this.update(); }),
      this.finding,
      el("div", { class: "lab-sides" },
        el("section", { class: "lab-side" }, el("h3", {}, "x ", el("small", { class: "shape" }, "[B, T, C] = [3, 4, 6]")), this.input),
        el("section", { class: "lab-side" }, el("h3", {}, "y"), this.output)),
      el("div", { class: "lab-controls" }, this.slider.element, el("button", { id: "lab-undo", on: { click: () => { this.values = [...this.start]; this.choose(this.cell); } } }, t("lab.norms.undo"))),
      this.table);
    this.update();
    return element;
  }

  sets(lengths = this.padding === "skipped" ? kLengths : null) { return normSets(this.norm, kShape, lengths); }

  update() {
    const sets = this.sets();
    this.set = sets.find((set) => set.includes(this.cell)) ?? [];
    this.result = normalise(this.values, sets);
    const before = normalise(this.start, sets);
    this.changed = new Set(this.result.flatMap((value, at) => (Math.abs(value - before[at]) > 1e-9 ? [at] : [])));
    const cells = this.set.map((at) => this.values[at]);
    this.slider.input.disabled = isPadding(this.cell);
    this.finding.textContent = this.set.length ? t("lab.norms.finding", { norm: t(`lab.norms.${this.norm}`), count: this.set.length, padding: this.set.filter(isPadding).length,
      mean: show(mean(cells), 3), variance: show(variance(cells), 3), what: t(`lab.norms.${this.norm}.over`) }) : t("lab.norms.none");
    this.input.redraw();
    this.output.redraw();
    this.fillTable();
  }

  choose(cell) {
    this.cell = cell;
    this.slider.set(this.values[cell]);
    this.update();
  }

  // Three slabs, one a sentence, each behind the one before; rows are words, columns features.
  cube(width, values, name) {
    const { sentences, words, features } = kShape;
    const gap = 16, rise = 12;
    const cell = Math.min(34, (width - gap * (sentences - 1) - 4) / (sentences * features));
    const slab = cell * features, height = words * cell + rise * (sentences - 1) + 24;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "lab-cube", tabindex: 0, role: "img", "aria-label": `${t(`lab.norms.${name}`)}. ${t("map.keys")}`, on: {
      keydown: (event) => this.walk(event, name),
      click: (event) => { const at = event.target.dataset?.at; if (at !== undefined) this.choose(Number(at)); },
    } });
    for (let b = sentences - 1; b >= 0; --b) {
      const left = 2 + b * (slab + gap), top = (sentences - 1 - b) * rise + 2;
      if (b < sentences - 1) picture.append(svg("path", { class: "edge", d: `M${left + slab} ${top}l${gap} ${-rise}M${left + slab} ${top + words * cell}l${gap} ${-rise}` }));
      for (let w = 0; w < words; ++w) {
        for (let c = 0; c < features; ++c) picture.append(this.cellOf((b * words + w) * features + c, left + c * cell, top + w * cell, cell, values));
      }
      picture.append(svg("text", { x: left, y: height - 4 }, t("lab.norms.sentence", { number: b + 1 })));
    }
    return [picture, el("p", { class: "readout number", "aria-live": name === "input" ? "polite" : null }, this.readout(values))];
  }

  cellOf(at, x, y, size, values) {
    const colour = colourOf("signed", values[at], 3);
    const kind = [this.set.includes(at) ? "in" : "", at === this.cell ? "on" : "", isPadding(at) ? "pad" : "", values === this.result && this.changed.has(at) ? "moved" : ""].filter(Boolean).join(" ");
    const square = svg("rect", { x: x + 1, y: y + 1, width: size - 2, height: size - 2, fill: cssColour(colour), class: `cell ${kind}`, "data-at": at });
    if (size < 28) return square;
    return svg("g", {}, square, svg("text", { x: x + size / 2, y: y + size / 2 + 4, "text-anchor": "middle", class: "digits", fill: inkOn(colour) }, show(values[at], 1)));
  }

  readout(values) {
    const { b, w, c } = placeOf(this.cell);
    return t(isPadding(this.cell) ? "lab.norms.atPadding" : "lab.norms.at", { sentence: b + 1, word: w + 1, feature: c + 1, value: show(values[this.cell], 3) });
  }

  walk(event, name) {
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -kShape.features, ArrowDown: kShape.features }[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(Math.min(Math.max(this.cell + move, 0), kSize - 1));
    this[name].querySelector("svg")?.focus({ preventScroll: true });
  }

  // What each norm depends on, computed for the sentence of the chosen cell.
  fillTable() {
    const sentence = placeOf(this.cell).b;
    const columns = ["padding", "others", "later"];
    replace(this.table, el("table", { class: "ranking lab-table" },
      el("caption", {}, t("lab.norms.caption", { sentence: sentence + 1 })),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("lab.norms.norm")), columns.map((name) => el("th", { scope: "col" }, t(`lab.norms.by.${name}`))))),
      el("tbody", {}, kNorms.map((norm) => {
        const facts = normDependence(norm, this.values, kShape, kLengths, sentence);
        return el("tr", { class: norm === this.norm ? "chosen" : null }, el("th", { scope: "row" }, t(`lab.norms.${norm}`)),
          columns.map((name) => el("td", { class: `number${facts[name] > 1e-9 ? " changes" : ""}` }, facts[name] > 1e-9 ? show(facts[name], 3) : "0")));
      }))));
  }
}
