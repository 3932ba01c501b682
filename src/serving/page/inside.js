// The view "Look inside": a sentence, its story, the study of each step, and below them all heads at a glance.
import { isAbort, modelCard } from "/assets/api.js";
import { Comparison } from "/assets/compare.js";
import { el, isCalm, replace } from "/assets/dom.js";
import { kExamples } from "/assets/examples.js";
import { PageError } from "/assets/errors.js";
import { compare, fromWord, glance, strongestLink } from "/assets/glance.js";
import { panelsOf } from "/assets/panels_recurrent.js";
import { hashOfScene, parseHash } from "/assets/route.js";
import { Sentence } from "/assets/sentence.js";
import { Story } from "/assets/story.js";
import { t } from "/assets/strings.js";
import { Study } from "/assets/study.js";

const kBeams = [1, 2, 3, 4, 6, 8], kCounts = [4, 8, 16, 24, 48]; // and pieces that a language model writes

// What the model that is looked into does: it translates a pair of languages, writes, or reads.
const kindOf = (pair) => (!pair?.model ? "translate" : pair.head === undefined ? "write" : "read");

export class InsideView {
  constructor(root, pair) {
    Object.assign(this, { root, pair, mode: "story", panels: { kind: "encoder", layer: 0, head: 0, first: [0, 0], second: [0, 1], compareRow: 0 } });
    this.count = 16;
    this.story = new Story({ onStudy: (wanted, choice) => this.openStudy(wanted, choice), onPlace: (name, word) => this.place(hashOfScene(name, word), "story"), onAgain: () => this.input.select() });
    this.study = new Study({ onPlace: (hash, motion) => { this.place(hash, "study"); if (motion !== "cell") this.renderPanels(); }, onStory: () => this.openStory() });
    this.comparison = new Comparison();
    this.player = { stop: () => { this.story.player.stop(); this.study.player.stop(); } };
    document.addEventListener("keydown", (event) => this.key(event));
    this.build();
  }

  build() {
    const alone = this.isAlone(), reads = this.isReader();
    this.input = alone ? this.promptField() : el("input", { type: "text", id: "inside-text", maxlength: 600, autocomplete: "off", value: this.text ?? "" });
    const sizes = alone ? kCounts : kBeams, chosen = alone ? this.count : 4;
    this.beam = el("select", { id: "inside-beam", on: { change: () => { if (alone) this.count = Number(this.beam.value); } } }, sizes.map((size) => el("option", { value: size, selected: size === chosen }, size)));
    this.drawn = el("p", { class: "note" });
    this.error = el("p", { class: "error", role: "alert" });
    this.below = el("div", { class: "panels" });
    replace(this.root,
      el("form", { class: "ask", on: { submit: (event) => { event.preventDefault(); this.load(); } } },
        el("label", { for: "inside-text" }, t(alone ? "inside.prompt" : reads ? "inside.text" : "inside.sentence")), this.input,
        reads ? null : [el("label", { for: "inside-beam", class: "short" }, t(alone ? "inside.count" : "inside.beam")), this.beam],
        el("button", { class: "primary" }, t("inside.go"))),
      this.examples = el("div", { class: "examples" }), this.drawn,
      this.error, this.story.element, this.study.element, alone || reads ? null : this.comparison.build(this.root), this.below);
    this.fillExamples();
    this.paintDrawn();
    this.showMode();
    this.story.refresh();
    this.study.refresh();
  }

  isAlone() { return kindOf(this.pair) === "write"; }
  isReader() { return kindOf(this.pair) === "read"; }

  // The beginning of a text may have several lines.
  promptField() {
    const field = el("textarea", { id: "inside-text", rows: 1, maxlength: 600, autocomplete: "off", on: { input: () => { this.settings = null; this.paintDrawn(); } } });
    field.value = this.text ?? "";
    return field;
  }

  /// Looks into a text when this view is shown. @param settings  of a text of the view "Write": those that it was drawn
  ///   with, so that the same pieces are drawn again
  look(text, settings = null) {
    Object.assign(this, { text, settings, sentence: null, isAsked: true });
    this.input.value = text;
    this.paintDrawn();
  }

  // How the pieces are chosen that a language model writes.
  paintDrawn() {
    const { settings } = this;
    if (this.isReader()) this.drawn.textContent = this.pair.head === "words" && this.input.value.trim() && !this.input.value.includes(this.pair.mask) ? t("story.noMask", { mask: this.pair.mask }) : "";
    else this.drawn.textContent = !this.isAlone() ? "" : settings ? t("inside.drawn", settings) : t("inside.greedy");
  }

  request() {
    const text = this.input.value, size = Number(this.beam.value);
    if (this.isReader()) return { ...this.pair, text };
    if (!this.isAlone()) return { ...this.pair, text, beam_size: size };
    const { temperature, top_p, top_k, seed } = this.settings ?? { temperature: 0 };
    return { ...this.pair, text, max_tokens: Math.min(size, this.settings?.max_tokens ?? size), temperature, ...(seed === undefined ? {} : { top_p, top_k, seed }) };
  }

  // Sentences of the model's own validation text, and the paper's; without a card the paper's alone.
  async fillExamples() {
    const pair = this.pair;
    const own = pair ? await modelCard(pair).then((card) => card.examples, () => []) : [];
    if (pair !== this.pair) return;
    const texts = [...new Set([...own.slice(0, 3), ...kExamples[pair?.source?.split("-")[0]] ?? []])];
    if (this.pair?.model && !this.input.value && texts.length && !this.root.hidden) { // there is no sample sentence of the page
      this.input.value = texts[0];
      this.load(parseHash(location.hash));
    }
    replace(this.examples, texts.length ? el("span", { class: "note" }, t("inside.examples")) : null,
      texts.map((text) => el("button", { on: { click: () => { this.input.value = text; this.settings = null; this.paintDrawn(); this.load(); } } }, text)));
  }

  /// Called when the view is shown; the first time it looks into the sample sentence.
  show(pair) {
    const isOther = ["source", "target", "model"].some((name) => pair[name] !== this.pair?.[name]);
    const isOtherKind = kindOf(pair) !== kindOf(this.pair);
    this.pair = pair;
    if (isOtherKind) this.rebuild();
    else if (isOther) this.fillExamples();
    this.isAsked = false;
    if (!pair.model && this.comparison.show(pair)) return;
    this.input.value ||= kExamples[pair.source?.split("-")[0]]?.[0] ?? "";
    if ((!this.sentence || isOther) && this.input.value) this.load(parseHash(location.hash));
    else if (this.sentence && location.hash !== this.hash && location.hash !== "#inside") this.follow(parseHash(location.hash));
    else if (this.hash) this.place(this.hash, this.mode);
  }

  /// @param route  what to open, of parseHash; the story from its beginning if nothing is named
  async load(route = { mode: "story", place: null }) {
    this.player.stop();
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    this.error.textContent = "";
    this.root.setAttribute("aria-busy", "true");
    try {
      const sentence = await Sentence.load(this.request(), abort.signal);
      this.root.classList.remove("undrawn");
      this.text = this.input.value;
      this.sentence = sentence;
      this.paintDrawn();
      this.word = sentence.followed;
      const place = sentence.looksAtItself ? strongestLink(sentence, this.word).place : [0, 0];
      const other = place[0] === 0 && place[1] === 0 ? [0, Math.min(1, (sentence.isReader ? sentence.model.n_heads : sentence.model.decoder_n_heads) - 1)] : [0, 0];
      const kind = sentence.attentions(this.panels.kind).length ? this.panels.kind : sentence.mainKind;
      Object.assign(this.panels, { kind, layer: 0, head: 0, first: place, second: other, compareRow: this.word });
      this.study.load(sentence, { row: this.word, head: place[1] });
      await this.follow(route);
      this.renderPanels();
    } catch (error) {
      if (isAbort(error)) return;
      this.error.textContent = error.message;
      this.root.classList.toggle("undrawn", error instanceof PageError); // nothing of this model can be drawn, no comparison either
      this.sentence = null; // what would stand below is of another sentence
      this.showMode();
    } finally {
      if (abort === this.abort) this.root.removeAttribute("aria-busy");
    }
  }

  async follow(wanted) {
    this.mode = wanted.mode;
    this.showMode();
    if (wanted.mode === "story") return this.loadStory(wanted.place);
    return this.study.open(wanted.wanted, { head: wanted.head });
  }

  async loadStory(place = null) {
    this.toldOf = this.sentence;
    await this.story.load(this.sentence, this.word, place);
  }

  openStory() {
    this.study.player.stop();
    this.mode = "story";
    this.showMode();
    if (this.toldOf !== this.sentence) return this.loadStory();
    this.story.stage.redraw();
    this.story.tell(this.story.player.index);
  }

  openStudy(wanted, choice) {
    this.story.player.stop();
    this.mode = "study";
    this.showMode();
    this.study.open(wanted, choice);
    this.study.element.scrollIntoView({ block: "start", behavior: isCalm() ? "instant" : "smooth" });
  }

  showMode() {
    this.story.element.hidden = this.mode !== "story" || !this.sentence;
    this.study.element.hidden = this.mode !== "study" || !this.sentence;
    this.below.hidden = !this.sentence;
  }

  // Writes the address of what is shown, so that it can be kept and sent.
  place(hash, mode) {
    if (mode !== this.mode || this.root.hidden || (!this.pair?.model && this.comparison.isOpen())) return;
    this.hash = hash;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  key(event) {
    const isBusy = event.target.closest("input, select, textarea, [role=tab], .scroll, button, [role=button]") || event.ctrlKey || event.metaKey || event.altKey;
    if (isBusy || this.mode !== "story" || this.root.hidden || !this.sentence) return;
    if (this.story.player.key(event)) event.preventDefault();
  }

  openHead(kind, layer, head, row) {
    Object.assign(this.panels, { kind, layer, head });
    const stage = this.study.current(), step = kind === "encoder" ? undefined : stage.step ?? this.sentence.steps - 1;
    this.openStudy({ path: this.sentence.attentions(kind)[layer], kind: "softmax", step }, { row, head });
  }

  renderPanels() {
    if (!this.sentence) return;
    const change = (values) => { Object.assign(this.panels, values); this.renderPanels(); };
    const key = JSON.stringify([this.panels, this.word, document.documentElement.lang, document.documentElement.dataset.theme]);
    if (this.panelKey === key && this.panelSentence === this.sentence) return;
    [this.panelKey, this.panelSentence] = [key, this.sentence];
    const open = (...place) => this.openHead(...place);
    if (!this.sentence.looksAtItself) return replace(this.below, panelsOf(this.sentence, (path, row) => this.openStudy({ path, kind: "softmax", step: row }, { row })));
    replace(this.below,
      fromWord(this.sentence, this.word, (word) => { this.word = word; this.renderPanels(); }, open),
      glance(this.sentence, this.panels, change, open),
      compare(this.sentence, this.panels, change));
  }

  // For a model of the other kind: nothing of the one before stays.
  rebuild() {
    this.player.stop();
    if (!this.isAsked) Object.assign(this, { text: "", settings: null });
    Object.assign(this, { sentence: null, hash: null });
    this.build();
  }

  /// After the language or the theme changed.
  refresh() {
    this.panelKey = null;
    this.text = this.input.value;
    this.build();
    this.renderPanels();
  }
}
