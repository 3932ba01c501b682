// Attention as regression with a kernel: points that can be dragged, a query, and the weights it gives to the points.
import { show } from "/assets/colour.js";
import { el, isCalm, replace, svg } from "/assets/dom.js";
import { thumbnail } from "/assets/heatmap.js";
import { kernelWeights, kKernels, leaveOneOut, learnTheta, normals, thetaOf, uniforms, widthOf, dot } from "/assets/lab_math.js";
import { choice, fitted, panel, plot, polyline, slider } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";

const kEnd = 5, kLow = -1.5, kHigh = 3.5, kCount = 14, kQueries = 120, kSteps = 80, kRate = 1;

/// Noisy samples of a smooth function, in order of x.
function drawPoints(seed) {
  const uniform = uniforms(seed), normal = normals(seed + 1);
  const keys = Array.from({ length: kCount }, () => kEnd * uniform()).sort((a, b) => a - b);
  return { keys, values: keys.map((x) => Math.min(Math.max(Math.sin(2 * x) + 0.4 * x + 0.25 * normal(), kLow), kHigh)) };
}

export class Regression {
  constructor() {
    Object.assign(this, { ...drawPoints(3), kernel: "gaussian", width: 0.8, query: 2.2 });
  }

  element(openDerivation) {
    this.sliders = {
      width: slider("lab-width", t("lab.width"), { min: 0.05, max: 2, step: 0.01, value: this.width, show: (value) => show(value, 2) }, (width) => this.set({ width })),
      query: slider("lab-query", t("lab.query"), { min: 0, max: kEnd, step: 0.02, value: this.query, show: (value) => show(value, 2) }, (query) => this.set({ query })),
    };
    this.canvas = fitted((width) => this.draw(width));
    this.sum = el("p", { class: "lab-sum number" });
    this.finding = el("p", { class: "finding", role: "status" });
    this.map = el("div", { class: "lab-map" });
    this.kernels = el("div", {});
    this.pick();
    const element = panel("regression", "f(q) = \\sum_i \\underbrace{\\frac{K((q - x_i) / w)}{\\sum_j K((q - x_j) / w)}}_{\\alpha_i} \\, y_i", "nadaraya-watson", openDerivation,
      this.kernels, el("div", { class: "lab-controls" }, this.sliders.width.element, this.sliders.query.element,
        el("button", { class: "primary", id: "lab-learn", on: { click: () => this.learn() } }, t("lab.learn"))),
      this.finding, this.canvas, this.sum,
      el("figure", {}, this.map, el("figcaption", { class: "note" }, t("lab.regression.map"))));
    this.update();
    return element;
  }

  pick() {
    replace(this.kernels, choice(t("lab.kernel"), Object.keys(kKernels), this.kernel, (name) => t(`lab.kernel.${name}`), (kernel) => this.set({ kernel })));
  }

  set(change) {
    Object.assign(this, change);
    cancelAnimationFrame(this.frame);
    this.update();
  }

  weights(query) { return kernelWeights(this.kernel, this.width, query, this.keys); }

  draw(width) {
    const chart = plot({ width, height: 300, xRange: [0, kEnd], yRange: [kLow - 1, kHigh], label: t("lab.regression.plot") });
    this.chart = chart;
    this.stems = this.keys.map(() => svg("line", { class: "stem" }));
    this.curve = svg("polyline", { class: "fit" });
    this.line = svg("line", { class: "query" });
    this.dot = svg("circle", { class: "answer", r: 6 });
    this.points = this.keys.map((_, i) => this.point(i));
    chart.element.append(...this.stems, this.line, this.curve, ...this.points, this.dot);
    chart.element.setAttribute("role", "group");
    chart.element.addEventListener("pointermove", (event) => this.drag(event));
    chart.element.addEventListener("pointerup", () => { this.dragged = undefined; });
    this.paint();
    return chart.element;
  }

  point(i) {
    return svg("circle", { class: "sample", tabindex: 0, role: "slider", on: {
      pointerdown: (event) => { this.dragged = i; this.points[i].setPointerCapture?.(event.pointerId); event.preventDefault(); this.points[i].focus(); },
      pointermove: (event) => this.drag(event),
      keydown: (event) => {
        const move = { ArrowUp: [0, 0.1], ArrowDown: [0, -0.1], ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0] }[event.key];
        if (!move) return;
        event.preventDefault();
        event.stopPropagation();
        this.move(i, this.keys[i] + move[0], this.values[i] + move[1]);
      },
    } });
  }

  drag(event) {
    if (this.dragged === undefined || !event.buttons) return;
    const box = this.chart.element.getBoundingClientRect();
    this.move(this.dragged, this.chart.xOf(event.clientX - box.left), this.chart.yOf(event.clientY - box.top));
  }

  move(i, x, y) {
    this.keys[i] = Math.min(Math.max(x, 0), kEnd);
    this.values[i] = Math.min(Math.max(y, kLow), kHigh);
    this.set({});
  }

  // Gradient descent on the leave-one-out error; the curve follows it, unless less motion is wanted.
  learn() {
    this.set({ kernel: "gaussian" });
    this.pick();
    let theta = thetaOf(this.width), step = 0;
    const go = () => {
      const many = isCalm() ? kSteps : 2;
      for (let i = 0; i < many && step < kSteps; ++i, ++step) theta = learnTheta(theta, this.keys, this.values, kRate);
      this.width = Math.min(Math.max(widthOf(theta), 0.02), 4);
      this.sliders.width.set(this.width);
      this.update();
      if (step < kSteps && this.canvas.isConnected) this.frame = requestAnimationFrame(go);
    };
    go();
  }

  update() {
    this.paint();
    const weights = this.weights(this.query);
    const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]).slice(0, 3);
    const total = dot(weights, this.values);
    const seen = weights.some((weight) => weight > 0);
    this.sum.textContent = seen ? `f(${show(this.query, 2)}) = ${order.map((i) => `${show(weights[i], 2)} · ${show(this.values[i], 2)}`).join(" + ")} + … = ${show(total, 3)}`
      : t("lab.regression.blind");
    const error = this.kernel === "gaussian" ? leaveOneOut(thetaOf(this.width), this.keys, this.values).loss : null;
    this.finding.textContent = t(`lab.regression.${this.kernel}`, { seen: weights.filter((weight) => weight > 0.01).length, all: weights.length, width: show(this.width, 2), error: error === null ? "" : show(error, 4) });
    const queries = Array.from({ length: kQueries }, (_, i) => this.weights((kEnd * (i + 0.5)) / kQueries));
    const byPlace = this.keys.map((_, i) => i).sort((a, b) => this.keys[a] - this.keys[b]);
    const matrix = byPlace.flatMap((i) => queries.map((weights) => weights[i]));
    const picture = thumbnail({ values: matrix, nColumns: kQueries, kind: "weights", size: 4 * kQueries });
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", t("lab.regression.map"));
    replace(this.map, picture);
  }

  paint() {
    if (!this.points) return;
    const { x, y } = this.chart;
    const base = y(kLow - 1), weights = this.weights(this.query);
    this.keys.forEach((key, i) => {
      const label = t("lab.point", { number: i + 1, x: show(key, 2), y: show(this.values[i], 2), weight: show(weights[i], 2) });
      const at = { cx: x(key), cy: y(this.values[i]), r: 5 + 9 * Math.sqrt(weights[i]), "fill-opacity": 0.3 + 0.7 * Math.min(1, 2 * weights[i]), "aria-label": label,
        "aria-valuenow": this.values[i].toFixed(2), "aria-valuemin": kLow, "aria-valuemax": kHigh, "aria-valuetext": label };
      for (const [name, value] of Object.entries(at)) this.points[i].setAttribute(name, value);
      const stem = { x1: x(key), x2: x(key), y1: base, y2: base - 110 * weights[i] };
      for (const [name, value] of Object.entries(stem)) this.stems[i].setAttribute(name, value);
    });
    const fit = Array.from({ length: 161 }, (_, i) => (kEnd * i) / 160).map((query) => [query, this.weights(query)]).filter(([, row]) => row.some((weight) => weight > 0));
    this.curve.setAttribute("points", polyline(fit.map(([query, row]) => [x(query), y(dot(row, this.values))])));
    for (const [name, value] of Object.entries({ x1: x(this.query), x2: x(this.query), y1: y(kHigh), y2: base })) this.line.setAttribute(name, value);
    this.dot.setAttribute("cx", x(this.query));
    this.dot.setAttribute("cy", y(dot(weights, this.values)));
    this.dot.setAttribute("visibility", weights.some((weight) => weight > 0) ? "visible" : "hidden");
  }
}
