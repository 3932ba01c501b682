// The study: every stage of the computation in its order, with the machine of figure 1 beside it.
import { announce, el, isCalm, replace } from "/assets/dom.js";
import { showDerivation } from "/assets/derivation.js";
import { formula } from "/assets/formula.js";
import { derivationOf } from "/assets/lab_parts.js";
import { Machine } from "/assets/machine.js";
import { makePlayer } from "/assets/player.js";
import { prose } from "/assets/prose.js";
import { hashOfStage } from "/assets/route.js";
import { shapesText, sizesOf } from "/assets/shapes.js";
import { blockOf, findStage, kOfHead, makeStages } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { hasBias, hasNarrowKeys, isBatchNorm, isConvolutional, isRecurrent, isRms, stackOf } from "/assets/model_facts.js";
import { convolutionalKey, convolutionalNumbers } from "/assets/stages_convolutional.js";
import { recurrentKey } from "/assets/stages_recurrent.js";
import { contextView, headsView, qkvView, relativeView, scoresView, softmaxView } from "/assets/view_attention.js";
import { cacheView, turnView } from "/assets/view_cache.js";
import { addView, feedView, finalNormView, normView } from "/assets/view_layers.js";
import { kConvolutionalViews } from "/assets/view_convolutional.js";
import { beamView, chooseView } from "/assets/view_output.js";
import { embedNormView, filledView, labelsView, poolView, taggedView, vectorView } from "/assets/view_read.js";
import { kRecurrentViews } from "/assets/view_recurrent.js";
import { embedView, memoryView, positionView, shiftView, tokensView } from "/assets/view_words.js";

const kViews = {
  tokens: tokensView, embed: embedView, position: positionView, qkv: qkvView, scores: scoresView, scale: scoresView, relative: relativeView, mask: scoresView, softmax: softmaxView,
  context: contextView, heads: headsView, norm: normView, add: addView, feed: feedView, feedNorm: normView, feedAdd: addView, finalNorm: finalNormView,
  memory: memoryView, shift: shiftView, choose: chooseView, beam: beamView, turn: turnView, cache: cacheView,
  embedNorm: embedNormView, pool: poolView, labels: labelsView, tagged: taggedView, filled: filledView, vector: vectorView,
  ...kRecurrentViews,
};
// The section of docs/derivations.md about each kind of stage.
const kDerivations = {
  embed: "embedding", position: "positional-encoding", qkv: "multi-head", scores: "scaled-dot-product", scale: "scaled-dot-product", relative: "positional-encoding", mask: "masks", softmax: "softmax",
  context: "multi-head", heads: "multi-head", norm: "normalisation", feedNorm: "normalisation", finalNorm: "normalisation", embedNorm: "normalisation", add: "residuals", feedAdd: "residuals", feed: "feed-forward",
};
const kRowMargin = 12; // pixels around the chosen row of a tall matrix
const kByOrder = ["norm", "feedNorm"]; // whose words depend on the norm order
const kDrawnInMachine = ["feed", "norm", "add", "feedNorm", "feedAdd", "finalNorm", "embed", "position", "memory", "shift", "cache", "qkv", "embedNorm", "cellNew", "convIn", "glu", "convAdd"];
const kMotions = {
  next: { opacity: 0, transform: "translateX(18px)" }, back: { opacity: 0, transform: "translateX(-18px)" },
  cell: { opacity: 0, transform: "scale(0.85)" }, zoom: { opacity: 0, transform: "scale(0.7)" },
};

export class Study {
  /// @param onPlace(hash): the address of what is shown;  @param onStory(): the reader goes back to the story
  constructor({ onPlace, onStory }) {
    Object.assign(this, { onPlace, onStory, state: { row: 0, column: 0, head: 0, temperature: 1, index: 0 } });
    this.machine = new Machine((name) => this.openBlock(name));
    this.player = makePlayer(() => this.stages ?? [], (index) => this.go({ index }));
    this.stage = el("article", { class: "stage card" });
    this.toStory = el("button", { type: "button", class: "to-story", on: { click: () => this.onStory() } });
    const narrow = window.matchMedia("(max-width: 62rem)");
    this.figure = el("details", { class: "left", open: !narrow.matches }, el("summary", {}), this.machine.element);
    narrow.addEventListener?.("change", () => { this.figure.open = !narrow.matches; });
    this.element = el("div", { class: "workshop", hidden: true }, this.figure, el("div", { class: "right" }, this.toStory, this.player.element, this.stage));
  }

  load(sentence, state) {
    this.sentence = sentence;
    this.stages = makeStages(sentence);
    Object.assign(this.state, { column: 0, index: 0 }, state);
    const sides = sentence.isAlone ? ["decoder"] : sentence.isReader ? ["encoder"] : ["encoder", "decoder"];
    const embeddings = sides.map((side) => sentence.part({ part: "embedding", path: `${stackOf(sentence.model, side)}embedding` }));
    Promise.all(embeddings).then(() => this.sentence === sentence && this.machine.update(sentence, this.current()), () => {}); // only a picture
  }

  current() { return this.stages[this.state.index]; }

  /// Opens the stage with these properties; where there is none, the first.
  open(wanted, { row, head } = {}, motion = "zoom") {
    if (row !== undefined) this.state.row = row;
    if (head !== undefined) this.state.head = head;
    if (wanted.step !== undefined) wanted = { ...wanted, step: Math.max(wanted.step, this.sentence.firstStep) };
    this.state.index = Math.max(findStage(this.stages, wanted), 0);
    return this.render(motion);
  }

  /// Changes what is shown. {index}: the stage; {row, column, head}: the choice in it; {cell}: go into a cell.
  go(change) {
    const moves = change.index !== undefined && change.index !== this.state.index;
    const forward = (change.index ?? 0) >= this.state.index;
    const { cell, ...rest } = change;
    if (this.current().side === "decoder") delete rest.row; // there the row is the word being made
    Object.assign(this.state, rest);
    this.render(moves ? (forward ? "next" : "back") : cell ? "cell" : "");
  }

  async render(motion = "") {
    if (!this.sentence || this.element.hidden) return;
    const stage = this.current();
    if (this.shownStage && this.shownStage !== stage && stage.path !== this.shownStage.path) this.state.column = this.bestColumn(stage);
    this.shownStage = stage;
    this.machine.update(this.sentence, stage);
    this.player.update(this.state.index, this.place(stage));
    this.onPlace(hashOfStage(stage, this.state.head), motion);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.stage.setAttribute("aria-busy", "true"); // what stands there is of another stage
    let view;
    try {
      view = await this.viewOf(stage)({ sentence: this.sentence, stage, state: this.state, go: (change) => this.go(change) });
    } catch (error) {
      view = el("p", { class: "error", role: "alert" }, error.message);
    }
    if (turn !== this.turn) return;
    if (kDrawnInMachine.includes(stage.kind)) this.machine.update(this.sentence, stage);
    this.showStage(stage, view, motion);
    this.stage.removeAttribute("aria-busy");
  }

  viewOf({ kind }) { return (isConvolutional(this.sentence.model) && kConvolutionalViews[kind]) || kViews[kind]; }

  // Where the row of a new attention looks most, so that the cell below it is worth a look.
  bestColumn(stage) {
    if (!this.sentence.weights.has(stage.path)) return 0;
    const { values, columns } = this.sentence.head(stage.path, Math.min(this.state.head, this.sentence.heads(stage.path) - 1));
    const row = stage.side === "decoder" ? stage.step : this.state.row;
    const weights = values.slice(row * columns.length, (row + 1) * columns.length);
    return weights.indexOf(Math.max(...weights));
  }

  // The key of a stage's title and words. What another model does otherwise has words of its own.
  key(stage) {
    const { model, isAlone } = this.sentence, own = isRecurrent(model) ? recurrentKey(stage, model) : isConvolutional(model) && convolutionalKey(stage);
    if (own) return own;
    if (stage.kind === "embed" && model.scale_embedding === false) return "embedPlain";
    if (stage.kind === "position" && model.positions === "learned") return "positionLearned";
    const isNorm = ["norm", "feedNorm", "finalNorm"].includes(stage.kind);
    if (isNorm && (isRms(model) || isBatchNorm(model, stage))) return `${stage.kind}.${isRms(model) ? "rms" : "batch"}`;
    if (this.sentence.isReader && stage.kind === "tokens") return "tokensRead";
    if (isAlone && ["shift", "choose", "tokens"].includes(stage.kind)) return `${stage.kind}Alone`;
    if (isAlone && stage.kind === "cache" && stage.step === this.sentence.firstStep) return "cacheFirst";
    if (stage.kind === "qkv" && hasNarrowKeys(model)) return "qkvNarrow";
    if (stage.kind === "qkv" && !hasBias(model, "input")) return "qkvPlain";
    if (kByOrder.includes(stage.kind)) return `${stage.kind}.${this.sentence.model.norm_order}`;
    if (stage.kind !== "softmax") return stage.kind;
    return stage.cross ? "cross" : stage.side === "decoder" ? "masked" : "softmax";
  }

  showStage(stage, view, motion) {
    const key = this.key(stage), { model } = this.sentence;
    const head = el("header", {},
      this.breadcrumb(stage),
      el("h2", {}, prose(t(`stage.${key}`))),
      el("div", { class: "formula-row" }, formula(this.formulaName(stage), model, stage)),
      el("div", { class: "shape" }, shapesText(stage, this.sentence)),
      el("p", { class: "explain" }, prose(t(`explain.${key}`, this.numbers(stage)))));
    const anchor = this.sentence.looksAtItself ? kDerivations[stage.kind] : null;
    const focused = this.stage.contains(document.activeElement) ? document.activeElement : null;
    const mark = focused && (focused.tagName + (focused.textContent || focused.getAttribute("aria-label")));
    const scroll = window.scrollY;
    replace(this.stage, head, el("div", { class: "stage-body" }, view), anchor ? derivationOf(anchor, showDerivation) : []);
    if (mark) [...this.stage.querySelectorAll("button, canvas, input, [tabindex]")].find((node) => node.tagName + (node.textContent || node.getAttribute("aria-label")) === mark)?.focus({ preventScroll: true });
    window.scrollTo({ top: scroll, behavior: "instant" });
    if (motion) requestAnimationFrame(() => requestAnimationFrame(() => this.keepRowInView())); // a matrix is drawn in the first frame
    if (motion === "next" || motion === "back") announce(`${this.place(stage)}: ${t(`stage.${key}`)}`);
    if (!isCalm() && motion) this.animate(motion);
  }

  // The chosen row of a matrix taller than the window stays between the player and the lower edge.
  keepRowInView() {
    const row = this.stage.querySelector(".heatmap")?.chosenRow?.();
    if (!row) return;
    const top = this.player.element.getBoundingClientRect().bottom + kRowMargin, bottom = window.innerHeight - kRowMargin;
    const by = row.bottom > bottom ? row.bottom - bottom : row.top < top ? row.top - top : 0;
    if (by !== 0) window.scrollBy({ top: by, behavior: "instant" });
  }

  animate(motion) {
    const body = motion === "cell" ? this.stage.querySelector(".cell-zoom") : this.stage.querySelector(".stage-body");
    body?.animate([kMotions[motion], { opacity: 1, transform: "none" }], { duration: motion === "cell" || motion === "zoom" ? 320 : 200, easing: "cubic-bezier(.2,.7,.3,1)" });
    if (motion === "cell") body?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  breadcrumb(stage) {
    const parts = [[t("crumb.whole"), () => { this.machine.follows = false; this.machine.move(); }]];
    parts.push([this.sideName(stage) + (stage.layer !== undefined ? ` ${t("crumb.layer", { layer: stage.layer + 1 })}` : ""), () => { this.machine.follows = true; this.machine.move(); }]);
    const isHead = kOfHead.includes(stage.kind);
    if (isHead) parts.push([t(stage.cross ? "machine.cross" : stage.side === "decoder" ? "machine.masked" : "machine.self"), () => this.go({ index: findStage(this.stages, { path: stage.path, kind: "softmax", step: stage.step }) })]);
    if (isHead && this.sentence.heads(stage.path) > 1) parts.push([`${t("head")} ${Math.min(this.state.head, this.sentence.heads(stage.path) - 1) + 1}`, null]);
    return el("nav", { class: "crumbs", "aria-label": t("crumb.label") }, el("ol", {}, parts.map(([text, action]) => el("li", {}, action ? el("button", { class: "quiet", on: { click: action } }, text) : el("span", { "aria-current": "location" }, text)))));
  }

  place(stage) {
    const parts = [this.sideName(stage)];
    if (stage.step !== undefined && stage.kind !== "beam") parts.push(t("place.piece", { step: stage.step - this.sentence.firstStep + 1, all: this.sentence.written }));
    if (stage.layer !== undefined) parts.push(t("place.layer", { layer: stage.layer + 1, all: this.sentence.model[stage.side === "decoder" ? "decoder_layers" : "encoder_layers"] }) + this.wayName(stage));
    return parts.join(" · ");
  }

  // The way of a layer of a bidirectional encoder.
  wayName(stage) { return stage.direction ? ` ${t(`way.${stage.direction}`)}` : ""; }

  sideName(stage) { return t(stage.side === "prompt" ? "prompt" : this.sentence.isAlone || this.sentence.isReader ? "stack" : stage.side === "decoder" ? "decoder" : "encoder"); }

  formulaName(stage) {
    return stage.kind === "beam" && this.sentence.beam?.length_penalty !== "gnmt" ? "beamLength" : stage.kind;
  }

  numbers(stage) {
    const sizes = sizesOf(stage, this.sentence), inDecoder = stage.side === "decoder";
    return { ...sizes, ...(isConvolutional(this.sentence.model) ? convolutionalNumbers(stage, this.sentence) : {}), root: Math.sqrt(sizes.d_k).toFixed(2), buckets: this.sentence.model.relative_buckets, reach: this.sentence.model.relative_distance, word: inDecoder ? this.sentence.inputLabels[stage.step] : this.sentence.sourceLabels[this.state.row],
      activation: stage.kind === "pool" ? this.sentence.model.pooler : this.sentence.model.activation, activation2: this.sentence.model.activation, first: this.sentence.sourceLabels[0], count: (stage.step ?? 0) + 1, before: stage.step ?? 0,
      kept: this.sentence.model.decoder_layers * (this.sentence.model.n_kv_heads || sizes.h) * (sizes.d_k + sizes.d_v) * ((stage.step ?? 0) + 1), next: this.sentence.targetLabels[stage.step ?? 0] };
  }

  openBlock(name) {
    const { stages, state } = this;
    const now = this.current();
    const wanted = stages.map((stage, i) => [stage, i]).filter(([stage]) => blockOf(stage) === name || (["d-position", "d-embed"].includes(name) && stage.kind === "shift"));
    if (!wanted.length) return;
    const near = wanted.filter(([stage]) => (now.step === undefined || stage.step === undefined || stage.step === now.step) && (now.layer === undefined || stage.layer === undefined || stage.layer === now.layer));
    const pool = near.length ? near : wanted;
    this.machine.follows = true;
    state.index = (pool.find(([stage]) => stage.kind === "softmax") ?? pool[0])[1];
    this.render("zoom");
  }

  /// After the language or the theme changed.
  refresh() {
    this.player.relabel();
    this.stage.setAttribute("aria-label", t("stage.label"));
    this.toStory.textContent = t("study.toStory");
    this.figure.querySelector("summary").textContent = t("study.figure");
    this.render();
  }
}
