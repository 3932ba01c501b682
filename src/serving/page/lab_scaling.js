// Why scores are divided by sqrt(d_k): the variance of the scores, the soft-max and the gradient through it.
import { show } from "/assets/colour.js";
import { el, replace, svg } from "/assets/dom.js";
import { thumbnail } from "/assets/heatmap.js";
import { drawScores, scoreFacts, softmax, softmaxJacobian } from "/assets/lab_math.js";
import { fitted, panel, plot, slider } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";

const kNumbers = 400000; // random numbers a draw may take, so that the sliders stay quick

/// Counts of values in `bins` equal parts of [-limit, limit]; what is outside counts at the ends.
function histogram(values, limit, bins) {
  const counts = new Array(bins).fill(0);
  for (const value of values) ++counts[Math.min(bins - 1, Math.max(0, Math.floor(((value + limit) / (2 * limit)) * bins)))];
  return counts.map((count) => count / values.length);
}

export class Scaling {
  constructor() { Object.assign(this, { power: 6, keys: 8, seed: 1 }); }

  element(openDerivation) {
    const sliders = [
      slider("lab-dk", "d_k", { min: 0, max: 9, value: this.power, show: (power) => String(2 ** power) }, (power) => { this.power = power; this.update(); }),
      slider("lab-keys", t("lab.scaling.keys"), { min: 2, max: 32, value: this.keys }, (keys) => { this.keys = keys; this.update(); }),
    ];
    this.finding = el("p", { class: "finding", role: "status" });
    this.sides = el("div", { class: "lab-sides" });
    const element = panel("scaling", "\\mathrm{Var}(q \\cdot k) = \\sum_{i = 1}^{d_k} \\mathrm{Var}(q_i k_i) = d_k, \\quad \\frac{\\partial \\alpha_i}{\\partial s_j} = \\alpha_i (\\mathbb{1}[i = j] - \\alpha_j)", "scaled-dot-product", openDerivation,
      el("div", { class: "lab-controls" }, sliders.map((one) => one.element), el("button", { id: "lab-again", on: { click: () => { ++this.seed; this.update(); } } }, t("lab.scaling.again"))),
      this.finding, this.sides);
    this.update();
    return element;
  }

  update() {
    const d = 2 ** this.power;
    const count = Math.min(400, Math.max(16, Math.floor(kNumbers / (d * this.keys))));
    const raw = drawScores(d, this.keys, count, this.seed);
    const scaled = raw.map((row) => row.map((score) => score / Math.sqrt(d)));
    this.facts = { raw: scoreFacts(raw), scaled: scoreFacts(scaled) };
    const { raw: before, scaled: after } = this.facts;
    this.finding.textContent = t("lab.scaling.finding", { d, before: show(before.slope, 3), after: show(after.slope, 3), peak: show(100 * before.peak, 0), peak2: show(100 * after.peak, 0) });
    replace(this.sides, this.side("q · k", raw, before, d), this.side("q · k / √d_k", scaled, after, 1));
  }

  side(title, rows, facts, expected) {
    const weights = softmax(rows[0]);
    const picture = thumbnail({ values: softmaxJacobian(weights), nColumns: weights.length, kind: "signed", largest: 0.25, size: 128 });
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", t("lab.scaling.jacobian"));
    const limit = 4 * Math.sqrt(2 ** this.power);
    return el("section", { class: "lab-side" }, el("h3", {}, title),
      el("dl", { class: "facts" }, [["variance", facts.variance, expected], ["peak", facts.peak], ["slope", facts.slope]].flatMap(([name, value, theory]) => [
        el("dt", {}, t(`lab.scaling.${name}`)), el("dd", { "data-fact": name }, show(value, 3), theory === undefined ? "" : ` (${t("lab.scaling.theory", { value: theory })})`)])),
      fitted((width) => bars(width, histogram(rows.flat(), limit, 41), { xRange: [-limit, limit], label: t("lab.scaling.histogram") })),
      fitted((width) => bars(width, weights, { xRange: [0.5, weights.length + 0.5], yMax: 1, label: t("lab.scaling.weights") })),
      el("figure", { class: "lab-map" }, picture, el("figcaption", { class: "note" }, t("lab.scaling.jacobian"))));
  }
}

// Equal bars over xRange, with a note.
function bars(width, heights, { xRange, yMax = Math.max(...heights), label }) {
  const chart = plot({ width, height: 120, xRange, yRange: [0, yMax], label });
  const step = (xRange[1] - xRange[0]) / heights.length;
  heights.forEach((height, i) => {
    const left = chart.x(xRange[0] + i * step), right = chart.x(xRange[0] + (i + 1) * step);
    chart.element.append(svg("rect", { class: "stem-bar", x: left + 0.5, width: Math.max(right - left - 1, 0.5), y: chart.y(height), height: Math.max(chart.y(0) - chart.y(height), 0) }));
  });
  return [chart.element, el("p", { class: "note" }, label)];
}
