// The view "Translate": the text is translated while it is typed; an answer that is no longer wanted is cancelled. The
// view is built once. Languages, themes and errors change what it says, never what a person typed.
import { alignedTexts, unknownWords } from "/assets/alignment.js";
import { inspect, isAbort, modelCard, translate } from "/assets/api.js";
import { announce, copyText, download, el, icon, keepSelection, kIcons, replace, replaceText } from "/assets/dom.js";
import { keepDraft, readDraft } from "/assets/draft.js";
import { PageError } from "/assets/errors.js";
import { FileJob, textOfFile } from "/assets/file_job.js";
import { firstScreen } from "/assets/first_screen.js";
import { firstChoice, inLanguage, inOrder, languageName } from "/assets/languages.js";
import { kPartLength, LongText } from "/assets/long_text.js";
import { said, t } from "/assets/strings.js";

const kPause = 300; // milliseconds without a key before the text is sent
const kLongestInField = 20_000; // characters of a file; a longer one becomes a job of its own
const kLongestSpoken = 500; // characters of a translation that screen readers are given at once
const kCopiedShown = 4000; // milliseconds
const kFirstPause = 2, kLastPause = 30; // seconds between tries when no server answers

const targetsOf = (language) => (language?.targets ?? []).filter((code) => code !== language.code);

export class TranslateView {
  /// @param onInside  called with the sentence that shall be looked into
  /// @param onMissing  called when the languages are needed and have not been told
  constructor(root, pair, { onInside, onMissing }) {
    Object.assign(this, { root, pair, onInside, onMissing, list: [], tries: 0, limit: kPartLength });
    this.build();
    this.source.value = readDraft().text;
    window.addEventListener("online", () => { if (this.failure?.isPassing) this.run(); });
    this.paint();
  }

  build() {
    this.from = el("select", { id: "from", on: { change: () => this.choose("source", this.from.value) } });
    this.to = el("select", { id: "to", on: { change: () => this.choose("target", this.to.value) } });
    this.swap = el("button", { class: "icon quiet", ...said(null, { label: "swap", title: "swap" }), on: { click: () => this.swapSides() } }, icon(kIcons.swap));
    this.error = el("p", { class: "error", role: "alert" });
    this.again = el("button", { ...said("error.again"), on: { click: () => this.run() } });
    this.unknown = el("p", { class: "note warning", role: "status" });
    this.below = { jobs: el("div"), aligned: el("div"), others: el("div"), start: el("div") };
    replace(this.root,
      el("div", { class: "pair" },
        el("div", {}, el("label", { for: "from", class: "hidden", ...said("from.language") }), this.from), this.swap,
        el("div", {}, el("label", { for: "to", class: "hidden", ...said("to.language") }), this.to)),
      el("div", { class: "boxes" }, this.sourceBox(), this.outputBox()),
      el("div", { class: "messages" }, this.error, this.again, this.unknown),
      el("div", { class: "under" }, Object.values(this.below)));
  }

  sourceBox() {
    this.source = el("textarea", { id: "source", ...said(null, { placeholder: "translate.placeholder", label: "translate.source" }), on: {
      input: (event) => this.later(event.isComposing),
      compositionend: () => this.later(),
    } });
    this.count = el("span", { class: "count" });
    this.file = el("input", { type: "file", accept: ".txt,text/plain", class: "hidden", tabindex: -1, "aria-hidden": "true", on: { change: () => this.readFile() } });
    return el("div", { class: "box card" }, this.source, el("div", { class: "bar" },
      el("button", { ...said("translate.upload"), on: { click: () => this.file.click() } }), this.file,
      el("button", { ...said("translate.clear"), on: { click: () => this.takeText("") } }), this.count));
  }

  outputBox() {
    this.output = el("div", { class: "output", id: "output", role: "region", ...said(null, { label: "translate.target" }) });
    this.copy = el("button", { ...said("translate.copy"), on: { click: () => this.copyResult() } });
    this.save = el("button", { ...said("translate.download"), on: { click: () => download(`translation.${this.pair.target}.txt`, this.result.translatedText) } });
    this.inside = el("button", { ...said("translate.inside"), on: { click: () => this.onInside(this.source.value.trim().split("\n")[0]) } });
    this.place = el("span", { class: "count" });
    return el("div", { class: "box card" }, this.output, el("div", { class: "bar" }, this.copy, this.save, this.inside, this.place));
  }

  /// @param limit  the most characters that the server takes at once
  setLanguages(list, limit) {
    Object.assign(this, { list, limit, failure: null });
    const draft = readDraft();
    const isServed = (source, target) => list.some((language) => language.code === source && targetsOf(language).includes(target));
    const sources = list.filter((language) => targetsOf(language).length).map((language) => language.code);
    const source = firstChoice(sources, list) || (list[0]?.code ?? "");
    if (isServed(draft.source, draft.target)) Object.assign(this.pair, { source: draft.source, target: draft.target });
    else Object.assign(this.pair, { source, target: firstChoice(targetsOf(list.find((language) => language.code === source)), list, source) });
    this.fillLanguages();
    this.run();
  }

  fillLanguages() {
    const { source, target } = this.pair;
    const options = (codes, chosen) => inOrder(codes, this.list).map((code) => el("option", { value: code, selected: code === chosen }, languageName(code, this.list)));
    replace(this.from, options(this.list.filter((language) => targetsOf(language).length).map((language) => language.code), source));
    replace(this.to, options(targetsOf(this.list.find((language) => language.code === source)), target));
    this.swap.disabled = !targetsOf(this.list.find((language) => language.code === target)).includes(source);
    for (const [node, code] of [[this.source, source], [this.output, target]]) {
      for (const [name, value] of Object.entries(inLanguage(code))) node.setAttribute(name, value ?? "");
    }
  }

  choose(side, code) {
    this.pair[side] = code;
    const targets = targetsOf(this.list.find((language) => language.code === this.pair.source));
    if (!targets.includes(this.pair.target)) this.pair.target = targets[0] ?? "";
    this.fillLanguages();
    this.run();
  }

  // The translation becomes the source if it is one of the text that stands there.
  swapSides() {
    [this.pair.source, this.pair.target] = [this.pair.target, this.pair.source];
    if (this.result?.text === this.source.value) replaceText(this.source, this.result.translatedText);
    this.fillLanguages();
    this.run();
  }

  takeText(text) {
    replaceText(this.source, text);
    this.source.focus();
    this.run();
  }

  later(isComposing = false) {
    clearTimeout(this.timer);
    keepDraft(this.pair, this.source.value);
    this.paintCount();
    if (!isComposing) this.timer = setTimeout(() => this.run(), kPause);
  }

  async run() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort, text = this.source.value;
    if (!this.list.length) return this.onMissing();
    keepDraft(this.pair, text);
    if (!text.trim()) return this.settle({ result: null, failure: null });
    this.output.classList.add("waiting");
    try {
      const answer = await this.ask(text, signal);
      this.tries = 0;
      this.settle({ result: { ...answer, text }, failure: null });
      announce(answer.translatedText.length > kLongestSpoken ? t("translate.ready") : answer.translatedText);
      await this.look(signal);
    } catch (error) {
      if (!isAbort(error)) this.fail(error);
    }
  }

  // {translatedText, alternatives}; a long text has no alternatives, and is shown as far as it is translated.
  async ask(text, signal) {
    if (text.length <= Math.min(kPartLength, this.limit)) return translate({ ...this.pair, text, alternatives: 3 }, signal);
    const long = new LongText(text, this.limit);
    await long.translate(this.pair, signal, {
      onProgress: ({ translated, done, parts }) => {
        this.settle({ result: null, failure: null });
        replace(this.output, translated);
        this.output.classList.add("waiting");
        this.place.textContent = t("translate.progress", { done: done.length, all: parts.length });
      },
      onWait: (failure) => { this.failure = failure; this.paintFailure(); },
    });
    return { translatedText: long.translated, alternatives: [] };
  }

  // From now on this is what the view shows.
  settle({ result, failure }) {
    Object.assign(this, { result, failure, aligned: null, words: [] });
    this.paint();
  }

  /// An old translation never stands beside a new error. A passing error is tried again by itself.
  fail(error) {
    this.settle({ result: null, failure: error });
    if (!error.isPassing) return;
    const seconds = error.retryAfter ?? Math.min(kLastPause, kFirstPause * 2 ** this.tries++);
    this.timer = setTimeout(() => this.run(), 1000 * seconds);
  }

  // Looks into the sentence: words that the model does not know, and which word came from which. Texts of several lines
  // and texts that are too long are not looked into.
  async look(signal) {
    const { result } = this;
    const { text, translatedText } = result;
    if (text.trim().includes("\n") || text.length > kPartLength) return;
    let reply;
    try {
      const path = `decoder.layers.${(await this.decoderLayers(signal)) - 1}.cross_attention`;
      reply = await inspect({ ...this.pair, text, parts: [{ part: "weights", path }] }, signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      return; // without this the translation is as good
    }
    if (this.result?.text !== text) return;
    this.words = unknownWords(reply.source, text);
    this.paintUnknown();
    const isThis = reply.target.text.trim() === translatedText.trim() && this.result === result;
    if (isThis) this.paintAligned((this.aligned = reply));
  }

  // Of the model of this pair; asked for once.
  async decoderLayers(signal) {
    const key = `${this.pair.source}:${this.pair.target}`;
    this.layers ??= new Map();
    if (!this.layers.has(key)) this.layers.set(key, (await inspect({ ...this.pair, text: "1", parts: [] }, signal)).model.decoder_layers);
    return this.layers.get(key);
  }

  paint() {
    const { result } = this;
    this.output.classList.remove("waiting");
    this.place.textContent = "";
    for (const button of [this.copy, this.save, this.inside]) button.disabled = !result;
    const text = result?.translatedText ?? "";
    if (this.output.textContent !== text || this.output.childElementCount) replace(this.output, text);
    this.paintCount();
    this.paintFailure();
    this.paintUnknown();
    this.paintOthers();
    this.paintAligned(this.aligned);
    this.paintStart();
  }

  paintCount() {
    this.count.textContent = t("translate.count", { count: [...this.source.value].length });
  }

  paintFailure() {
    const text = this.failure?.message ?? "";
    if (this.error.textContent !== text) this.error.textContent = text;
    this.again.hidden = !this.failure?.isPassing;
  }

  paintUnknown() {
    this.unknown.textContent = this.words?.length ? t("translate.unknown", { words: this.words.map((word) => t("quoted", { word })).join(t("list.comma")) }) : "";
  }

  paintOthers() {
    const { result } = this;
    const others = (result?.alternatives ?? []).filter((text) => text.trim() && text !== result.translatedText);
    replace(this.below.others, others.length ? el("section", { class: "card" }, el("h2", said("translate.alternatives")),
      el("ul", { class: "alternatives" }, others.map((text, i) => el("li", {}, el("button", { ...inLanguage(this.pair.target), on: { click: () => this.take(text, i) } }, text))))) : null);
  }

  paintAligned(reply) {
    if (!reply || !this.result) return replace(this.below.aligned);
    const { source, target } = alignedTexts(reply, this.result.text, this.result.translatedText);
    keepSelection(this.output, () => replace(this.output, target));
    return replace(this.below.aligned, el("section", { class: "card" }, el("h2", said("translate.aligned")),
      el("p", { class: "aligned", ...inLanguage(this.pair.source) }, source), el("p", { class: "note", ...said("translate.alignNote") })));
  }

  // Below an empty page.
  async paintStart() {
    const { source, target } = this.pair;
    const isWanted = () => !this.source.value.trim() && this.pair.source === source && this.pair.target === target;
    replace(this.below.start);
    if (!this.list.length || !isWanted()) return;
    const card = await modelCard({ source, target }).catch(() => null); // without it the page is as useful
    if (!card || !isWanted()) return;
    replace(this.below.start, firstScreen({ card, pair: this.pair, list: this.list, onTake: (text) => this.takeText(text) }));
  }

  // An alternative and the translation change places.
  take(text, place) {
    const { words, result } = this;
    const alternatives = result.alternatives.map((other) => (other === text ? result.translatedText : other));
    this.settle({ result: { ...result, translatedText: text, alternatives }, failure: null });
    this.words = words;
    this.paintUnknown();
    this.below.others.querySelectorAll("button")[place]?.focus();
    announce(text);
  }

  async copyResult() {
    const isCopied = await copyText(this.result.translatedText);
    this.failure = isCopied ? null : new PageError("error.notCopied");
    this.paintFailure();
    if (!isCopied) return document.getSelection().selectAllChildren(this.output);
    this.copy.dataset.t = "translate.copied";
    this.copy.textContent = t("translate.copied");
    announce(t("translate.copied"));
    clearTimeout(this.copied);
    this.copied = setTimeout(() => {
      this.copy.dataset.t = "translate.copy";
      this.copy.textContent = t("translate.copy");
    }, kCopiedShown);
  }

  async readFile() {
    const [file] = this.file.files;
    if (!file) return;
    try {
      const text = await textOfFile(file);
      if (text.length <= kLongestInField) return this.takeText(text);
      this.job?.end();
      this.job = new FileJob({ name: file.name, text, pair: this.pair, limit: this.limit, onEnd: () => { this.job = null; } });
      this.below.jobs.append(this.job.element);
    } catch (error) {
      this.failure = error;
      this.paintFailure();
    } finally {
      this.file.value = "";
    }
  }

  /// Called when the view is shown, and when a key was given.
  show() {
    if (this.failure?.status === 403) this.run();
  }

  /// After the language changed; texts that carry a key have changed already.
  refresh() {
    this.fillLanguages();
    this.paintCount();
    this.paintFailure();
    this.paintUnknown();
    this.paintStart();
    this.job?.relabel();
  }

  /// After the theme changed: all colours are those of the style sheets.
  repaint() {}
}
