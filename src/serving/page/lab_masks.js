// Masks: what padding takes if its scores become 0, and why they become minus infinity; the causal mask.
import { show } from "/assets/colour.js";
import { el, replace } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { kPaddings, maskScores, normals, scaledScores } from "/assets/lab_math.js";
import { choice, panel, slider } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";

const kN = 6, kD = 4;
const kWords = { en: ["the", "cat", "sat", "on", "my", "mat"], zh: ["猫", "坐", "在", "我", "的", "垫子上"] };

export class Masks {
  constructor() {
    const normal = normals(12);
    const draw = () => Array.from({ length: kN * kD }, normal);
    Object.assign(this, { scores: scaledScores(draw(), draw(), kD), length: 4, padding: "zero", causal: "all", row: 0 });
  }

  element(openDerivation) {
    this.finding = el("p", { class: "finding", role: "status" });
    this.maps = el("div", { class: "pair-of-maps" });
    const element = panel("masks", "\\alpha_{t j} = \\frac{e^{s_{t j} + m_{t j}}}{\\sum_k e^{s_{t k} + m_{t k}}}, \\quad m_{t j} = \\begin{cases} 0 & \\text{if } t \\text{ may see } j \\\\ -\\infty & \\text{otherwise} \\end{cases}", "masks", openDerivation,
      choice(t("lab.masks.padding"), kPaddings, this.padding, (padding) => t(`lab.masks.${padding}`), (padding) => { this.padding = padding; this.update(); }),
      choice(t("lab.masks.order"), ["all", "causal"], this.causal, (causal) => t(`lab.masks.${causal}`), (causal) => { this.causal = causal; this.update(); }),
      el("div", { class: "lab-controls" }, slider("lab-length", t("lab.masks.length"), { min: 1, max: kN, value: this.length }, (length) => { this.length = length; this.update(); }).element),
      this.finding, this.maps);
    this.update();
    return element;
  }

  update() {
    const words = kWords[document.documentElement.lang.startsWith("zh") ? "zh" : "en"].map((word, i) => (i < this.length ? word : "⟨pad⟩"));
    const row = this.row = Math.min(this.row, this.length - 1);
    const { scores, weights } = maskScores(this.scores, kN, this.length, this.padding, this.causal === "causal");
    const ofRow = weights.slice(row * kN, (row + 1) * kN);
    const lost = ofRow.slice(this.length).reduce((total, weight) => total + weight, 0);
    const kept = ofRow.slice(0, this.length).reduce((total, weight) => total + weight, 0);
    const right = maskScores(this.scores, kN, this.length, "infinity", this.causal === "causal").weights.slice(row * kN, (row + 1) * kN);
    const off = Math.max(...ofRow.map((weight, i) => (i < this.length ? Math.abs(weight - right[i]) : 0)));
    this.finding.textContent = t(this.length === kN ? "lab.masks.whole" : `lab.masks.finding.${this.padding}`, { word: words[row], lost: show(100 * lost, 1), sum: show(kept, 3), off: show(off, 3) });
    const finite = scores.filter(Number.isFinite).map(Math.abs);
    const map = (title, kind, values, largest) => el("section", { class: "matrix" }, el("h3", {}, title),
      heatmap({ rows: words, columns: words, values: values.map((value) => (Number.isFinite(value) ? value : 0)), kind, largest, label: title, row, maxCell: 52, hidden: (r, c) => scores[r * kN + c] === -Infinity,
        later: (r) => r >= this.length, onRow: (chosen) => { this.row = chosen; this.update(); } }), legend(kind, largest));
    replace(this.maps, map(t("lab.masks.scores"), "signed", scores, Math.max(...finite, 0.1)), map(t("lab.masks.weights"), "weights", weights, 1));
  }
}
