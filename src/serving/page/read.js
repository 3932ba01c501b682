// The view "Read": an encoder says what it finds in a text while it is typed: a label, a tag for each word, what may stand at
// a mask, or how alike two texts are. What a person typed survives a reload, the theme and the language of the page.
import { encode, isAbort, modelCard } from "/assets/api.js";
import { announce, el, replace, replaceText } from "/assets/dom.js";
import { keepReading, readReading } from "/assets/draft.js";
import { startOfReading } from "/assets/first_screen.js";
import { kAnswers } from "/assets/read_answer.js";
import { ReadAttention } from "/assets/read_attention.js";
import { said, t } from "/assets/strings.js";

const kPause = 300; // milliseconds without a key before the text is sent
const kFirstPause = 2, kLastPause = 30; // seconds between tries when no server answers
const kOfHead = { classes: "classify", tags: "tag", words: "fill" };

// What an encoder can be asked; two texts can be compared by any encoder.
const tasksOf = (model) => [kOfHead[model?.head], "compare"].filter(Boolean);

export class ReadView {
  /// @param onInside(text): a text is to be looked into
  constructor(root, { onInside }) {
    Object.assign(this, { root, onInside, models: [], tries: 0, failure: null, result: null, kept: readReading() });
    this.build();
    this.text.value = String(this.kept.text ?? "");
    this.second.value = String(this.kept.second ?? "");
    window.addEventListener("online", () => { if (this.failure?.isPassing) this.run(); });
    this.paint();
  }

  build() {
    this.model = el("select", { id: "read-model", on: { change: () => this.chooseModel() } });
    this.modelField = this.setting("write.model", this.model);
    this.task = el("select", { id: "read-task", on: { change: () => this.run() } });
    this.taskField = this.setting("read.task", this.task);
    this.error = el("p", { class: "error", role: "alert" });
    this.again = el("button", { ...said("error.again"), on: { click: () => this.run() } });
    this.start = el("div");
    this.attention = new ReadAttention();
    this.output = el("div", { class: "output read-answer", id: "read-answer", role: "region", ...said(null, { label: "read.answer" }) });
    replace(this.root,
      el("div", { class: "boxes" }, this.textBox(), el("div", { class: "box card" }, this.output)),
      el("div", { class: "messages" }, this.error, this.again),
      el("div", { class: "under" }, this.start), this.attention.element);
  }

  setting(key, field) {
    return el("div", { class: "setting" }, el("label", { for: field.id, ...said(key) }), field);
  }

  textBox() {
    const on = { input: (event) => this.later(event.isComposing), compositionend: () => this.later() };
    this.text = el("textarea", { id: "read-text", ...said(null, { placeholder: "translate.placeholder", label: "read.text" }), on });
    this.second = el("textarea", { id: "read-second", class: "second-text", ...said(null, { placeholder: "read.second.classify", label: "read.second" }), on });
    this.mask = el("button", { ...said("read.mask"), on: { click: () => this.insertMask() } });
    this.inside = el("button", { ...said("read.inside"), hidden: true, on: { click: () => this.onInside(this.text.value.trim()) } });
    this.count = el("span", { class: "count" });
    this.row = el("div", { class: "settings-row" }, this.modelField, this.taskField);
    return el("div", { class: "box card" }, this.text, this.second, this.row,
      el("div", { class: "bar" }, this.mask, el("button", { ...said("translate.clear"), on: { click: () => this.clear() } }), this.inside, this.count));
  }

  /// @param models  [{id, context, head, labels, mask}], those of the server
  setModels(models) {
    this.models = models;
    replace(this.model, models.map(({ id }) => el("option", { value: id, selected: id === this.kept.model }, id)));
    this.modelField.hidden = models.length < 2;
    this.fillTasks(this.kept.task);
    this.run();
  }

  /// The model that is chosen.
  subject() {
    const { head, mask, labels } = this.chosen() ?? {};
    return { model: this.model.value, head, mask, labels };
  }

  chosen() { return this.models.find(({ id }) => id === this.model.value); }

  chooseModel() {
    this.fillTasks();
    this.run();
  }

  fillTasks(wanted) {
    const tasks = tasksOf(this.chosen());
    replace(this.task, tasks.map((task) => el("option", { value: task, selected: task === wanted, ...said(`read.task.${task}`) })));
    this.taskField.hidden = tasks.length < 2;
    this.row.hidden = this.modelField.hidden && this.taskField.hidden;
  }

  keep() {
    keepReading({ model: this.model.value, task: this.task.value, text: this.text.value, second: this.second.value });
  }

  clear() {
    replaceText(this.text, "");
    replaceText(this.second, "");
    this.text.focus();
    this.run();
  }

  insertMask() {
    this.text.focus();
    if (!document.execCommand("insertText", false, this.chosen().mask)) this.text.value += this.chosen().mask;
    this.run();
  }

  // A candidate takes the place of a mask, counted from 0.
  takeCandidate(place, piece) {
    const parts = this.result.text.split(this.chosen().mask);
    const text = parts.slice(0, place + 1).join(this.chosen().mask) + piece + parts.slice(place + 1).join(this.chosen().mask);
    replaceText(this.text, text);
    this.text.focus();
    this.run();
  }

  later(isComposing = false) {
    clearTimeout(this.timer);
    this.keep();
    this.paintCount();
    this.paintFields();
    if (!isComposing) this.timer = setTimeout(() => this.run(), kPause);
  }

  isReady() {
    const model = this.chosen(), text = this.text.value;
    if (!model || !text.trim()) return false;
    if (this.task.value === "compare") return Boolean(this.second.value.trim());
    return this.task.value !== "fill" || text.includes(model.mask);
  }

  async run() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    if (!this.models.length) return;
    this.keep();
    this.paintFields();
    if (!this.isReady()) return this.settle({ result: null, failure: null });
    this.output.classList.add("waiting");
    const asked = { model: this.model.value, task: this.task.value, text: this.text.value, second: this.second.value };
    try {
      const { data } = await encode(...this.request(asked), signal);
      this.tries = 0;
      this.settle({ result: { ...asked, data }, failure: null });
      announce(kAnswers[asked.task].spoken(this.result));
      await this.look(asked, signal);
    } catch (error) {
      if (!isAbort(error)) this.fail(error);
    }
  }

  // Shows where the words look, for one line that is read alone. Texts that are too long are not looked into.
  async look({ model, task, text, second }, signal) {
    if (task === "compare" || (task === "classify" && second.trim()) || text.trim().includes("\n")) return;
    try {
      await this.attention.look({ model, text: text.trim() }, signal);
    } catch (error) {
      if (isAbort(error)) throw error; // otherwise the answer is as good without
    }
  }

  // The route and its body.
  request({ model, task, text, second }) {
    switch (task) {
      case "classify": return ["classify", { model, input: text, ...(second.trim() ? { second } : {}) }];
      case "tag": return ["tag", { model, input: text }];
      case "fill": return ["fill-mask", { model, input: text, top: 8 }];
      default: return ["embeddings", { model, input: [text, second] }];
    }
  }

  settle({ result, failure }) {
    Object.assign(this, { result, failure });
    this.attention.clear();
    this.paint();
  }

  /// An old answer never stands beside a new error. A passing error is tried again by itself.
  fail(error) {
    this.settle({ result: null, failure: error });
    if (!error.isPassing) return;
    const seconds = error.retryAfter ?? Math.min(kLastPause, kFirstPause * 2 ** this.tries++);
    this.timer = setTimeout(() => this.run(), 1000 * seconds);
  }

  paint() {
    this.output.classList.remove("waiting");
    this.paintFields();
    this.paintAnswer();
    this.paintCount();
    this.paintFailure();
    this.paintStart();
  }

  paintFields() {
    const task = this.task.value;
    this.second.hidden = !["classify", "compare"].includes(task);
    this.second.dataset.tPlaceholder = `read.second.${task === "compare" ? "compare" : "classify"}`;
    this.second.placeholder = t(this.second.dataset.tPlaceholder);
    this.mask.hidden = task !== "fill";
    this.inside.hidden = !this.text.value.trim() || this.text.value.trim().includes("\n");
  }

  paintAnswer() {
    const { result } = this;
    const hint = !this.failure && this.task.value === "fill" && this.text.value.trim() && !this.text.value.includes(this.chosen()?.mask)
      ? el("p", { class: "note" }, t("read.noMask", { mask: this.chosen()?.mask ?? "" })) : null;
    replace(this.output, result ? kAnswers[result.task].elements(result, { labels: this.chosen().labels, mask: this.chosen().mask, onTake: (place, piece) => this.takeCandidate(place, piece) }) : hint);
  }

  paintCount() {
    this.count.textContent = t("translate.count", { count: [...this.text.value].length });
  }

  paintFailure() {
    const text = this.failure?.message ?? "";
    if (this.error.textContent !== text) this.error.textContent = text;
    this.again.hidden = !this.failure?.isPassing;
  }

  // Below an empty page.
  async paintStart() {
    const model = this.model.value;
    const isWanted = () => !this.text.value.trim() && !this.result && this.model.value === model;
    replace(this.start);
    if (!model || !isWanted()) return;
    const card = await modelCard({ model }).catch(() => null); // without it the page is as useful
    if (!card || !isWanted()) return;
    replace(this.start, startOfReading({ card, model }));
  }

  /// Called when the view is shown, and when a key was given.
  show() {
    if (this.failure?.status === 401) this.run();
  }

  /// After the language changed; texts that carry a key have changed already.
  refresh() {
    this.paint();
    this.attention.paint();
  }

  /// After the theme changed: the colours of tags and weights are drawn anew.
  repaint() {
    this.paintAnswer();
    this.attention.paint();
  }
}
