// Positional encoding: the table, and that the inner product of two positions depends on their distance alone.
import { show } from "/assets/colour.js";
import { el, replace, svg } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { dot, innerOfDistance, positions } from "/assets/lab_math.js";
import { fitted, panel, plot, polyline, slider } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";
import { tex } from "/assets/tex.js";

const kRows = 48;

export class Positions {
  constructor() { Object.assign(this, { d: 32, first: 5, distance: 4 }); }

  element(openDerivation) {
    const bar = (id, name, range) => slider(`lab-${id}`, t(`lab.positions.${name}`), { ...range, value: this[name] }, (value) => { this[name] = value; this.update(); }).element;
    this.finding = el("p", { class: "finding", role: "status" });
    this.curve = fitted((width) => this.draw(width));
    this.maps = el("div", { class: "pair-of-maps" });
    const element = panel("positions", "\\begin{aligned} PE_{(pos, 2i)} &= \\sin(pos / 10000^{2i / d}) & PE_{(pos, 2i + 1)} &= \\cos(pos / 10000^{2i / d}) \\\\ PE_p \\cdot PE_{p + k} &= \\sum_{i = 0}^{d / 2 - 1} \\cos(k / 10000^{2i / d}) \\end{aligned}", "positional-encoding", openDerivation,
      el("div", { class: "lab-controls" }, bar("size", "d", { min: 4, max: 64, step: 4 }), bar("first", "first", { min: 0, max: 20 }), bar("distance", "distance", { min: 0, max: 20 })),
      this.finding, this.curve, this.maps);
    this.update();
    return element;
  }

  row(position) { return this.table.slice(position * this.d, (position + 1) * this.d); }

  update() {
    const { d, first, distance } = this;
    this.table = positions(kRows, d);
    const pair = (p) => t("lab.positions.pair", { p, q: p + distance, value: show(dot(this.row(p), this.row(p + distance)), 3) });
    this.finding.textContent = t("lab.positions.finding", { pairs: [first, first + 1, first + 7].map(pair).join(", "), distance });
    this.curve.redraw();
    const rows = Array.from({ length: kRows }, (_, i) => (i % 4 ? "" : String(i)));
    const products = rows.flatMap((_, p) => rows.map((_, q) => dot(this.row(p), this.row(q))));
    replace(this.maps,
      el("section", { class: "matrix" }, el("h3", {}, "PE ", el("small", { class: "shape" }, `[${kRows}, ${d}]`)),
        heatmap({ rows, columns: null, values: this.table, kind: "signed", largest: 1, label: "PE", row: first, rowHeight: 9, describe: (p, c, value) => `PE(${p}, ${c}) = ${show(value, 4)}` }), legend("signed", 1)),
      el("section", { class: "matrix" }, el("h3", {}, tex("PE \\cdot PE^T", false), " ", el("small", { class: "shape" }, `[${kRows}, ${kRows}]`)),
        heatmap({ rows, columns: null, values: products, kind: "signed", largest: d / 2, label: t("lab.positions.products"), row: first, rowHeight: 9,
          describe: (p, q, value) => t("lab.positions.pair", { p, q, value: show(value, 3) }) }), legend("signed", d / 2)));
  }

  draw(width) {
    const { d, distance } = this;
    const chart = plot({ width, height: 170, xRange: [0, 30], yRange: [Math.min(0, -d / 8), d / 2], label: t("lab.positions.curve") });
    const points = Array.from({ length: 121 }, (_, i) => i / 4).map((k) => [chart.x(k), chart.y(innerOfDistance(k, d))]);
    chart.element.append(svg("polyline", { class: "fit", points: polyline(points) }),
      svg("circle", { class: "answer", r: 6, cx: chart.x(distance), cy: chart.y(innerOfDistance(distance, d)) }));
    return [chart.element, el("p", { class: "note" }, t("lab.positions.curve"))];
  }
}
