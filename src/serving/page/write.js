// The view "Write": a language model continues a text, piece by piece as it is drawn. What a person typed, chose and got
// survives a reload, the theme and the language of the page.
import { complete, isAbort, modelCard } from "/assets/api.js";
import { announce, copyText, download, el, replace, replaceText } from "/assets/dom.js";
import { keepWriting, readWriting } from "/assets/draft.js";
import { PageError } from "/assets/errors.js";
import { startOfWriting } from "/assets/first_screen.js";
import { said, t } from "/assets/strings.js";
import { readSettings, SettingFields, settingsOfLink, linkOf } from "/assets/write_settings.js";
import { WrittenText } from "/assets/written_text.js";

const kAlternatives = 8; // that are told of each piece
const kFirstPause = 2, kLastPause = 30; // seconds between tries when no server answers
const kLongestSpoken = 500; // characters of a text that screen readers are given at once
const kCopiedShown = 4000; // milliseconds
const kSeeds = 2 ** 31;

export class WriteView {
  /// @param onInside  called with a prompt that shall be looked into, and the settings of its text
  constructor(root, { onInside }) {
    Object.assign(this, { root, onInside, models: [], tries: 0, isWriting: false, failure: null, result: null });
    this.build();
    const kept = readWriting();
    this.prompt.value = String(kept.prompt ?? "");
    this.fields.fill(kept.settings ?? {});
    this.kept = kept;
    window.addEventListener("online", () => { if (this.failure?.isPassing) this.run(); });
    this.paint();
  }

  build() {
    this.fields = new SettingFields(() => this.keep());
    this.model = el("select", { id: "write-model", on: { change: () => { this.keep(); this.paintStart(); } } });
    this.modelField = el("div", { class: "setting" }, el("label", { for: "write-model", ...said("write.model") }), this.model);
    this.go = el("button", { class: "primary", ...said("write.go"), on: { click: () => this.run() } });
    this.stop = el("button", { ...said("write.stop"), on: { click: () => this.halt() } });
    this.error = el("p", { class: "error", role: "alert" });
    this.again = el("button", { ...said("error.again"), on: { click: () => this.run() } });
    this.text = new WrittenText();
    this.start = el("div");
    replace(this.root,
      el("div", { class: "boxes" }, this.promptBox(), this.outputBox()),
      el("div", { class: "messages" }, this.error, this.again),
      this.text.panel,
      el("div", { class: "under" }, this.start));
  }

  promptBox() {
    this.prompt = el("textarea", { id: "prompt", ...said(null, { placeholder: "write.placeholder", label: "write.prompt" }), on: {
      input: () => { this.keep(); this.paintCount(); this.paintStart(); },
      keydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.run(); },
    } });
    this.count = el("span", { class: "count" });
    return el("div", { class: "box card" }, this.prompt,
      el("div", { class: "settings-row" }, this.modelField, this.fields.elements),
      el("div", { class: "bar" }, this.go, this.stop, el("button", { ...said("translate.clear"), on: { click: () => this.takePrompt("") } }), this.count));
  }

  outputBox() {
    this.copy = el("button", { ...said("translate.copy"), on: { click: () => this.copyResult() } });
    this.save = el("button", { ...said("translate.download"), on: { click: () => download("text.txt", this.whole()) } });
    this.more = el("button", { ...said("write.more"), on: { click: () => { this.takePrompt(this.whole()); this.run(); } } });
    this.inside = el("button", { ...said("write.inside"), on: { click: () => this.lookInside() } });
    this.place = el("span", { class: "count" });
    return el("div", { class: "box card" }, this.text.element, el("div", { class: "bar" }, this.copy, this.save, this.more, this.inside, this.place));
  }

  /// @param models  [{id, context}], those of the server
  setModels(models) {
    this.models = models;
    const { model } = this.kept.settings ?? {};
    replace(this.model, models.map(({ id }) => el("option", { value: id, selected: id === model }, id)));
    this.modelField.hidden = models.length < 2;
    this.paintStart();
  }

  /// The model that is chosen.
  subject() { return { model: this.model.value }; }

  whole() { return this.result.prompt + this.text.text; }

  keep() {
    const settings = { ...this.fields.typed(), model: this.model.value };
    const result = this.result && { ...this.result, tokens: this.text.tokens, text: this.text.text };
    keepWriting({ prompt: this.prompt.value, settings, result: this.isWriting ? null : result, hash: this.hash });
  }

  takePrompt(text) {
    replaceText(this.prompt, text);
    this.prompt.focus();
    this.keep();
    this.paintCount();
    this.paintStart();
  }

  // The request as it is sent. The page draws the seed, so that it can say which text this was.
  request() {
    const { seed, ...settings } = readSettings(this.fields);
    return { model: this.model.value, prompt: this.prompt.value, ...settings, seed: seed ?? Math.floor(Math.random() * kSeeds) };
  }

  async run() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    try {
      const asked = this.request();
      this.begin(asked);
      await complete({ ...asked, logprobs: kAlternatives, stream_options: { include_usage: true } }, signal, (event) => this.take(event));
      this.tries = 0;
      this.end(this.result.finish);
    } catch (error) {
      if (!isAbort(error)) this.fail(error);
    }
  }

  begin(asked) {
    const { prompt, ...settings } = asked;
    this.result = { prompt, settings, finish: null, usage: null, began: performance.now() };
    this.failure = null;
    this.isWriting = true;
    this.hash = linkOf(asked);
    if (location.hash !== this.hash) history.replaceState(null, "", this.hash);
    this.text.begin(prompt);
    this.paint();
  }

  take({ choices, usage }) {
    const [choice] = choices;
    if (choice?.text) this.text.add(choice.text, choice.logprobs);
    if (choice?.finish_reason) this.result.finish = choice.finish_reason;
    if (usage) this.result.usage = usage;
    this.paintPlace();
  }

  end(finish) {
    this.isWriting = false;
    Object.assign(this.result, { finish, seconds: (performance.now() - this.result.began) / 1000 });
    this.keep();
    this.paint();
    announce(this.text.text.length > kLongestSpoken ? t("write.ready") : this.text.text);
  }

  halt() {
    this.abort.abort();
    this.end("stopped");
    this.go.focus();
  }

  /// A text that had begun stays as far as it is written; an old one never stands beside a new error. Where nothing has
  /// come, a passing error is tried again by itself.
  fail(error) {
    const hasBegun = this.isWriting && this.text.text !== "";
    this.isWriting = false;
    this.failure = error;
    if (!hasBegun) {
      this.result = null;
      this.text.clear();
    }
    this.keep();
    this.paint();
    if (!error.isPassing || hasBegun) return;
    const seconds = error.retryAfter ?? Math.min(kLastPause, kFirstPause * 2 ** this.tries++);
    this.timer = setTimeout(() => this.run(), 1000 * seconds);
  }

  lookInside() {
    const { prompt, settings } = this.result;
    this.model.value = settings.model;
    this.onInside(prompt, settings);
  }

  async copyResult() {
    const isCopied = await copyText(this.whole());
    this.failure = isCopied ? null : new PageError("error.textNotCopied");
    this.paintFailure();
    if (!isCopied) return document.getSelection().selectAllChildren(this.text.element);
    this.copy.dataset.t = "translate.copied";
    this.copy.textContent = t("translate.copied");
    announce(t("translate.copied"));
    clearTimeout(this.copied);
    this.copied = setTimeout(() => {
      this.copy.dataset.t = "translate.copy";
      this.copy.textContent = t("translate.copy");
    }, kCopiedShown);
  }

  paint() {
    const hasText = Boolean(this.result) && !this.isWriting;
    for (const button of [this.copy, this.save, this.more, this.inside]) button.disabled = !hasText;
    this.stop.disabled = !this.isWriting;
    this.text.element.setAttribute("aria-busy", String(this.isWriting));
    this.paintCount();
    this.paintPlace();
    this.paintFailure();
    this.paintStart();
  }

  paintCount() {
    this.count.textContent = t("translate.count", { count: [...this.prompt.value].length });
  }

  paintPlace() {
    const { result } = this;
    if (!result) return void (this.place.textContent = "");
    const tokens = result.usage?.completion_tokens ?? this.text.tokens.length;
    const key = this.isWriting ? "write.writing" : `write.end.${result.finish}`;
    this.place.textContent = t(key, { tokens, seed: result.settings.seed, seconds: (result.seconds ?? 0).toFixed(1) });
  }

  paintFailure() {
    const text = this.failure?.message ?? "";
    if (this.error.textContent !== text) this.error.textContent = text;
    this.again.hidden = !this.failure?.isPassing;
  }

  // Below an empty page.
  async paintStart() {
    const model = this.model.value;
    const isWanted = () => !this.prompt.value && !this.result && this.model.value === model;
    replace(this.start);
    if (!model || !isWanted()) return;
    const card = await modelCard({ model }).catch(() => null); // without it the page is as useful
    if (!card || !isWanted()) return;
    replace(this.start, startOfWriting({ card, model, onTake: (text) => { this.takePrompt(text); this.run(); } }));
  }

  /// Called when the view is shown, and when a key was given. A link of a text writes that text.
  show() {
    if (this.failure?.status === 401) return this.run();
    if (!this.models.length) return;
    const link = settingsOfLink(location.hash);
    if (link && location.hash !== (this.hash ?? this.kept.hash)) return this.open(link);
    if (!this.result && this.kept.result) this.restore(this.kept.result);
    if (this.hash && location.hash !== this.hash) history.replaceState(null, "", this.hash);
  }

  open({ prompt, model, ...settings }) {
    this.hash = location.hash;
    this.prompt.value = prompt ?? "";
    if (this.models.some(({ id }) => id === model)) this.model.value = model;
    this.fields.fill(settings);
    this.keep();
    this.paint();
    if (settings.seed) this.run();
  }

  restore({ text, tokens, ...result }) {
    this.kept.result = null;
    this.hash = this.kept.hash;
    this.result = result;
    this.text.begin(result.prompt);
    this.text.restore(text, tokens);
    this.paint();
  }

  /// After the language changed; texts that carry a key have changed already.
  refresh() {
    this.text.relabel();
    this.paintCount();
    this.paintPlace();
    this.paintFailure();
    this.paintStart();
  }

  /// After the theme changed: all colours are those of the style sheets.
  repaint() {}
}
