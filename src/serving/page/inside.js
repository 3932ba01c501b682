// The view "Look inside": a sentence, the machine, the stage that is shown, and the way to the next.
import { isAbort } from "/assets/api.js";
import { Comparison } from "/assets/compare.js";
import { announce, el, isCalm, replace } from "/assets/dom.js";
import { formula } from "/assets/formula.js";
import { compare, fromWord, glance, strongestLink } from "/assets/glance.js";
import { Machine } from "/assets/machine.js";
import { makePlayer } from "/assets/player.js";
import { Sentence } from "/assets/sentence.js";
import { blockOf, findStage, lettersOf, makeStages } from "/assets/stages.js";
import { t } from "/assets/strings.js";
import { contextView, qkvView, scoresView, softmaxView } from "/assets/view_attention.js";
import { feedView, normView } from "/assets/view_layers.js";
import { beamView, chooseView } from "/assets/view_output.js";
import { embedView, memoryView, positionView, shiftView, tokensView } from "/assets/view_words.js";

const kViews = {
  tokens: tokensView, embed: embedView, position: positionView, qkv: qkvView, scores: scoresView, scale: scoresView,
  mask: scoresView, softmax: softmaxView, context: contextView, norm: normView, feed: feedView, feedNorm: normView,
  memory: memoryView, shift: shiftView, choose: chooseView, beam: beamView,
};
// Rows of queries are written q and rows of keys k; which letters they are depends on the side.
const kShapes = {
  tokens: "[S]", embed: "[S, d_model]", position: "[S, d_model]", qkv: "Q [q, d_k], K, V [k, d_k]", scores: "[q, k]",
  scale: "[q, k]", mask: "[q, k]", softmax: "[q, k]", context: "[q, d_k]", norm: "[q, d_model]",
  feed: "[q, d_ff]", feedNorm: "[q, d_model]", memory: "[S, d_model]", shift: "[t, d_model]", choose: "[V]", beam: "[K, t]",
};
// By source language; the first is looked into at once.
const kExamples = {
  en: ["The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.", "Since it was so bulky, the clock broke the jug."],
  de: ["Das Tier überquerte die Straße nicht, weil es zu müde war.", "Zwei junge Hunde spielen im Schnee."],
  fr: ["L'animal n'a pas traversé la rue parce qu'il était trop fatigué.", "Deux jeunes chiens jouent dans la neige."],
  es: ["El animal no cruzó la calle porque estaba demasiado cansado.", "Dos perros jóvenes juegan en la nieve."],
  zh: ["这只动物没有过马路，因为它太累了。", "两只小狗在雪地里玩耍。"],
};

export class InsideView {
  constructor(root, pair) {
    this.root = root;
    this.pair = pair;
    this.state = { row: 0, column: 0, head: 0, temperature: 1, index: 0 };
    this.panels = { kind: "encoder", layer: 0, head: 0, first: [0, 0], second: [0, 1], compareRow: 0 };
    this.machine = new Machine((name) => this.openBlock(name));
    this.comparison = new Comparison();
    this.player = makePlayer(() => this.stages ?? [], (index) => this.go({ index }));
    this.build();
  }

  build() {
    this.input = el("input", { type: "text", id: "inside-text", maxlength: 600, autocomplete: "off", value: this.text ?? "" });
    this.beam = el("select", { id: "inside-beam" }, [1, 2, 3, 4, 6, 8].map((size) => el("option", { value: size, selected: size === 4 }, size)));
    this.error = el("p", { class: "error", role: "alert" });
    this.stage = el("article", { class: "stage card", "aria-label": t("stage.label") });
    this.below = el("div", { class: "panels" });
    this.body = el("div", { class: "workshop", hidden: true }, el("div", { class: "left" }, this.machine.element), el("div", { class: "right" }, this.player.element, this.stage));
    replace(this.root,
      el("form", { class: "ask", on: { submit: (event) => { event.preventDefault(); this.load(); } } },
        el("label", { for: "inside-text" }, t("inside.sentence")), this.input,
        el("label", { for: "inside-beam", class: "short" }, t("inside.beam")), this.beam,
        el("button", { class: "primary" }, t("inside.go"))),
      this.examples = el("div", { class: "examples" }),
      this.comparison.build(this.root), this.error, this.body, this.below);
    this.player.relabel();
    this.fillExamples();
  }

  fillExamples() {
    const texts = kExamples[this.pair?.source.split("-")[0]] ?? [];
    replace(this.examples, texts.length ? el("span", { class: "note" }, t("inside.examples")) : null,
      texts.map((text) => el("button", { on: { click: () => { this.input.value = text; this.load(); } } }, text)));
  }

  /// Called when the view is shown; the first time it looks into the sample sentence.
  show(pair) {
    const isOther = pair.source !== this.pair?.source || pair.target !== this.pair?.target;
    this.pair = pair;
    if (isOther) this.fillExamples();
    if (this.comparison.show(pair)) return;
    this.input.value ||= kExamples[pair.source.split("-")[0]]?.[0] ?? "";
    if ((!this.sentence || isOther) && this.input.value) this.load();
    else this.render();
  }

  async load() {
    this.player.stop();
    this.abort?.abort();
    this.abort = new AbortController();
    this.error.textContent = "";
    this.root.setAttribute("aria-busy", "true");
    try {
      const request = { ...this.pair, text: this.input.value, beam_size: Number(this.beam.value) };
      this.sentence = await Sentence.load(request, this.abort.signal);
      this.text = this.input.value;
      this.stages = makeStages(this.sentence);
      const pronoun = this.sentence.find(["it", "er", "sie", "es", "它"]);
      const row = pronoun >= 0 ? pronoun : Math.min(1, this.sentence.sourceLabels.length - 1);
      this.word = row;
      const { place } = strongestLink(this.sentence, row);
      Object.assign(this.state, { row, column: 0, head: place[1], index: 0 });
      const other = place[0] === 0 && place[1] === 0 ? [0, Math.min(1, this.sentence.model.n_heads - 1)] : [0, 0];
      Object.assign(this.panels, { layer: 0, head: 0, first: place, second: other, compareRow: row });
      this.body.hidden = false;
      this.render();
      const embeddings = ["encoder", "decoder"].map((side) => this.sentence.part({ part: "embedding", path: `${side}.embedding` }));
      Promise.all(embeddings).then(() => this.machine.update(this.sentence, this.current()), () => {}); // only a picture
    } catch (error) {
      if (!isAbort(error)) this.error.textContent = error.message;
    } finally {
      this.root.removeAttribute("aria-busy");
    }
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

  current() { return this.stages[this.state.index]; }

  async render(motion = "") {
    if (!this.sentence) return;
    const stage = this.current();
    if (this.shownStage && this.shownStage !== stage && stage.path !== this.shownStage.path) this.state.column = this.bestColumn(stage);
    this.shownStage = stage;
    this.machine.update(this.sentence, stage);
    this.player.update(this.state.index, this.place(stage));
    if (motion !== "cell") this.renderPanels();
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.stage.setAttribute("aria-busy", "true"); // what stands there is of another stage
    let view;
    try {
      view = await kViews[stage.kind]({ sentence: this.sentence, stage, state: this.state, go: (change) => this.go(change) });
    } catch (error) {
      view = el("p", { class: "error", role: "alert" }, error.message);
    }
    if (turn !== this.turn) return;
    if (["feed", "norm", "feedNorm", "embed", "position", "memory", "shift"].includes(stage.kind)) this.machine.update(this.sentence, stage);
    this.showStage(stage, view, motion);
    this.stage.removeAttribute("aria-busy");
  }

  // Where the row of a new attention looks most, so that the cell below it is worth a look.
  bestColumn(stage) {
    if (!this.sentence.weights.has(stage.path)) return 0;
    const { values, columns } = this.sentence.head(stage.path, Math.min(this.state.head, this.sentence.heads(stage.path) - 1));
    const row = stage.side === "decoder" ? stage.step : this.state.row;
    const weights = values.slice(row * columns.length, (row + 1) * columns.length);
    return weights.indexOf(Math.max(...weights));
  }

  showStage(stage, view, motion) {
    const key = stage.kind === "softmax" && stage.cross ? "cross" : stage.kind;
    const head = el("header", {},
      this.breadcrumb(stage),
      el("h2", {}, t(`stage.${key}`)),
      el("div", { class: "formula-row" }, formula(this.formulaName(stage)), el("span", { class: "shape" }, this.shape(stage))),
      el("p", { class: "explain" }, t(`explain.${key}${stage.kind === "norm" || stage.kind === "feedNorm" ? `.${this.sentence.model.norm_order}` : ""}`, this.numbers(stage))));
    const focused = this.stage.contains(document.activeElement) ? document.activeElement : null;
    const mark = focused && (focused.tagName + (focused.textContent || focused.getAttribute("aria-label")));
    const scroll = window.scrollY;
    replace(this.stage, head, el("div", { class: "stage-body" }, view));
    if (mark) [...this.stage.querySelectorAll("button, canvas, input, [tabindex]")].find((node) => node.tagName + (node.textContent || node.getAttribute("aria-label")) === mark)?.focus({ preventScroll: true });
    window.scrollTo({ top: scroll, behavior: "instant" });
    if (motion === "next" || motion === "back") announce(`${this.place(stage)}: ${t(`stage.${key}`)}`);
    if (!isCalm() && motion) this.animate(motion);
  }

  animate(motion) {
    const body = motion === "cell" ? this.stage.querySelector(".cell-zoom") : this.stage.querySelector(".stage-body");
    const from = { next: { opacity: 0, transform: "translateX(18px)" }, back: { opacity: 0, transform: "translateX(-18px)" }, cell: { opacity: 0, transform: "scale(0.85)" },
      zoom: { opacity: 0, transform: "scale(0.7)" } }[motion];
    body?.animate([from, { opacity: 1, transform: "none" }], { duration: motion === "cell" || motion === "zoom" ? 320 : 200, easing: "cubic-bezier(.2,.7,.3,1)" });
    if (motion === "cell") body?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  breadcrumb(stage) {
    const parts = [[t("crumb.whole"), () => { this.machine.follows = false; this.machine.move(); }]];
    parts.push([t(stage.side === "decoder" ? "decoder" : "encoder") + (stage.layer !== undefined ? ` ${t("crumb.layer", { layer: stage.layer + 1 })}` : ""), () => { this.machine.follows = true; this.machine.move(); }]);
    const isHead = ["qkv", "scores", "scale", "mask", "softmax", "context"].includes(stage.kind);
    if (isHead) parts.push([t(stage.cross ? "machine.cross" : stage.side === "decoder" ? "machine.masked" : "machine.self"), () => this.go({ index: findStage(this.stages, { path: stage.path, kind: "softmax", step: stage.step }) })]);
    if (isHead) parts.push([`${t("head")} ${Math.min(this.state.head, this.sentence.heads(stage.path) - 1) + 1}`, null]);
    return el("nav", { class: "crumbs", "aria-label": t("crumb.label") }, el("ol", {}, parts.map(([text, action]) => el("li", {}, action ? el("button", { class: "quiet", on: { click: action } }, text) : el("span", { "aria-current": "location" }, text)))));
  }

  place(stage) {
    const parts = [t(stage.side === "decoder" ? "decoder" : "encoder")];
    if (stage.step !== undefined && stage.kind !== "beam") parts.push(t("place.word", { step: stage.step + 1, all: this.sentence.steps }));
    if (stage.layer !== undefined) parts.push(t("place.layer", { layer: stage.layer + 1, all: this.sentence.model[stage.side === "decoder" ? "decoder_layers" : "encoder_layers"] }));
    return parts.join(" · ");
  }

  formulaName(stage) {
    const { model, beam } = this.sentence;
    const norm = model.norm_order === "pre" ? "normPre" : "normPost";
    return { norm, feedNorm: norm, choose: "logits", qkv: stage.cross ? "qkvCross" : "qkv", feed: model.activation === "relu" ? "feed" : "feedOther",
      position: model.positions === "sinusoidal" ? "position" : "learned", beam: beam.length_penalty === "gnmt" ? "beam" : "beamLength" }[stage.kind] ?? stage.kind;
  }

  // The letters of the shape and what they are here.
  shape(stage) {
    const n = this.numbers(stage);
    const [queries, keys] = lettersOf(stage);
    const shape = kShapes[stage.kind].replace(/\bq\b/, queries).replace(/\bk\b/, keys);
    const letters = new Set([...shape.matchAll(/\[([^\]]*)\]/g)].flatMap((found) => found[1].split(", ")));
    const values = { S: n.S, T: n.T, t: n.t, d_model: n.d_model, d_k: n.d_k, d_ff: n.d_ff, V: n.V, K: n.K };
    return `${shape}   ${Object.entries(values).filter(([name]) => letters.has(name)).map(([name, value]) => `${name} = ${value}`).join(", ")}`;
  }

  numbers(stage) {
    const { model, source, target, beam } = this.sentence;
    const inDecoder = stage.side === "decoder";
    const heads = inDecoder ? model.decoder_n_heads : model.n_heads;
    return { S: source.ids.length, T: target.ids.length, t: (stage.step ?? 0) + 1, d_model: model.d_model, d_k: model.d_model / heads, h: heads,
      root: Math.sqrt(model.d_model / heads).toFixed(2), d_ff: inDecoder ? model.decoder_d_ff : model.d_ff, V: model.target_vocab_size, K: beam.beam_size,
      word: inDecoder ? this.sentence.inputLabels[stage.step] : this.sentence.sourceLabels[this.state.row], next: this.sentence.targetLabels[stage.step ?? 0] };
  }

  openBlock(name) {
    const { stages, state } = this;
    const now = this.current();
    const wanted = stages.map((stage, i) => [stage, i]).filter(([stage]) => blockOf(stage) === name || (name === "d-position" && stage.kind === "shift"));
    if (!wanted.length) return;
    const near = wanted.filter(([stage]) => (now.step === undefined || stage.step === undefined || stage.step === now.step) && (now.layer === undefined || stage.layer === undefined || stage.layer === now.layer));
    const pool = near.length ? near : wanted;
    const found = pool.find(([stage]) => stage.kind === "softmax") ?? pool[0];
    this.machine.follows = true;
    state.index = found[1];
    this.render("zoom");
  }

  openHead(kind, layer, head, row) {
    const path = this.sentence.attentions(kind)[layer];
    const step = kind === "encoder" ? undefined : this.current().step ?? this.sentence.steps - 1;
    if (row !== undefined) this.state.row = row;
    Object.assign(this.panels, { kind, layer, head });
    this.state.head = head;
    this.state.index = findStage(this.stages, { path, kind: "softmax", step });
    this.stage.scrollIntoView({ block: "start", behavior: isCalm() ? "instant" : "smooth" });
    this.render("zoom");
  }

  renderPanels() {
    const change = (values) => { Object.assign(this.panels, values); this.renderPanels(); };
    const key = JSON.stringify([this.panels, this.word, document.documentElement.lang, document.documentElement.dataset.theme]);
    if (this.panelKey === key && this.panelSentence === this.sentence) return;
    [this.panelKey, this.panelSentence] = [key, this.sentence];
    const open = (...place) => this.openHead(...place);
    replace(this.below,
      fromWord(this.sentence, this.word, (word) => { this.word = word; this.renderPanels(); }, open),
      glance(this.sentence, this.panels, change, open),
      compare(this.sentence, this.panels, change));
  }

  /// After the language or the theme changed.
  refresh() {
    this.panelKey = null;
    const hidden = this.body.hidden, index = this.state.index;
    this.text = this.input.value;
    this.build();
    this.body.hidden = hidden;
    this.state.index = index;
    if (this.sentence && !this.root.hidden) this.render();
  }
}
