// The view "Translate": the text is translated while it is typed; an answer that is no longer wanted is cancelled.
import { inspect, isAbort, translate } from "/assets/api.js";
import { announce, el, icon, kIcons, replace } from "/assets/dom.js";
import { t } from "/assets/strings.js";

const kPause = 300; // milliseconds without a key before the text is sent
const kLargestFile = 1_000_000;

/// Pieces to words: [{text, pieces: [index]}]; a word begins with the space mark.
export function wordsOf(pieces) {
  const words = [];
  pieces.forEach((piece, i) => {
    if (piece === "</s>" || piece === "<s>") return;
    if (piece.startsWith("\u2581") || !words.length) words.push({ text: "", pieces: [] });
    words.at(-1).text += piece.replaceAll("\u2581", "");
    words.at(-1).pieces.push(i);
  });
  return words.filter((word) => word.text);
}

export class TranslateView {
  constructor(root, pair, onInside) {
    Object.assign(this, { root, pair, onInside, list: [] });
    this.build();
  }

  build() {
    const old = this.source?.value ?? "";
    this.from = el("select", { id: "from", on: { change: () => this.choose("source", this.from.value) } });
    this.to = el("select", { id: "to", on: { change: () => this.choose("target", this.to.value) } });
    this.swap = el("button", { class: "icon quiet", "aria-label": t("swap"), title: t("swap"), on: { click: () => this.swapSides() } }, icon(kIcons.swap));
    this.source = el("textarea", { id: "source", placeholder: t("translate.placeholder"), "aria-label": t("translate.source"), on: { input: () => this.later() } });
    this.source.value = old;
    this.output = el("div", { class: "output", id: "output", role: "region", "aria-live": "polite", "aria-label": t("translate.target") });
    this.count = el("span", { class: "count" });
    this.error = el("p", { class: "error", role: "alert" });
    this.file = el("input", { type: "file", accept: ".txt,text/plain", class: "hidden", tabindex: -1, "aria-hidden": "true", on: { change: () => this.readFile() } });
    this.copy = el("button", { on: { click: () => this.copyText() } }, t("translate.copy"));
    this.save = el("button", { on: { click: () => this.saveText() } }, t("translate.download"));
    this.inside = el("button", { on: { click: () => this.onInside(this.source.value.trim().split("\n")[0]) } }, t("translate.inside"));
    this.more = el("div", { class: "under" });
    replace(this.root,
      el("div", { class: "pair" },
        el("div", {}, el("label", { for: "from", class: "hidden" }, t("from.language")), this.from), this.swap,
        el("div", {}, el("label", { for: "to", class: "hidden" }, t("to.language")), this.to)),
      el("div", { class: "boxes" },
        el("div", { class: "box card" }, this.source, el("div", { class: "bar" },
          el("button", { on: { click: () => this.file.click() } }, t("translate.upload")), this.file,
          el("button", { on: { click: () => { this.source.value = ""; this.later(); this.source.focus(); } } }, t("translate.clear")), this.count)),
        el("div", { class: "box card" }, this.output, el("div", { class: "bar" }, this.copy, this.save, this.inside))),
      this.error, this.more);
    this.fillLanguages();
    this.paint();
  }

  setLanguages(list) {
    this.list = list;
    const first = list.find((language) => language.targets.some((code) => code !== language.code)) ?? list[0];
    this.pair.source ||= first?.code ?? "";
    this.pair.target ||= first?.targets.find((code) => code !== first.code) ?? "";
    this.fillLanguages();
  }

  fillLanguages() {
    const options = (codes, chosen) => codes.map((code) => el("option", { value: code, selected: code === chosen }, this.nameOf(code)));
    const sources = this.list.filter((language) => language.targets.some((code) => code !== language.code)).map((language) => language.code);
    const targets = (this.list.find((language) => language.code === this.pair.source)?.targets ?? []).filter((code) => code !== this.pair.source);
    replace(this.from, options(sources, this.pair.source));
    replace(this.to, options(targets, this.pair.target));
    this.swap.disabled = !this.list.find((language) => language.code === this.pair.target)?.targets.includes(this.pair.source);
  }

  nameOf(code) {
    const own = new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language", fallback: "none" });
    let name = null;
    try { name = own.of(code); } catch { /* no code of a language */ }
    return name ?? this.list.find((language) => language.code === code)?.name ?? code;
  }

  choose(side, code) {
    this.pair[side] = code;
    const targets = this.list.find((language) => language.code === this.pair.source)?.targets ?? [];
    if (!targets.includes(this.pair.target) || this.pair.target === this.pair.source) this.pair.target = targets.find((target) => target !== this.pair.source) ?? "";
    this.fillLanguages();
    this.run();
  }

  swapSides() {
    [this.pair.source, this.pair.target] = [this.pair.target, this.pair.source];
    if (this.result) this.source.value = this.result.translatedText;
    this.fillLanguages();
    this.run();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), kPause);
    this.count.textContent = t("translate.count", { count: [...this.source.value].length });
  }

  async run() {
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const text = this.source.value;
    this.error.textContent = "";
    if (!text.trim()) {
      this.result = null;
      return this.paint();
    }
    this.output.classList.add("waiting");
    try {
      this.result = { ...await translate({ ...this.pair, text, alternatives: 3 }, signal), text };
      this.aligned = null;
      this.paint();
      await this.align(signal);
    } catch (error) {
      if (isAbort(error)) return;
      this.fail(error.message);
    }
    this.output.classList.remove("waiting");
  }

  fail(message) {
    this.error.textContent = message;
    this.output.classList.remove("waiting");
  }

  // Alignments of one line come from the model's cross-attention; a text that is too long has none.
  async align(signal) {
    const result = this.result;
    const { text, translatedText } = result;
    if (text.trim().includes("\n")) return;
    let reply;
    try {
      const layers = await this.decoderLayers(signal);
      reply = await inspect({ ...this.pair, text, parts: [{ part: "weights", path: `decoder.layers.${layers - 1}.cross_attention` }] }, signal);
      if (reply.target.text.trim() !== translatedText.trim()) return; // not searched as one sentence
    } catch (error) {
      if (isAbort(error)) throw error;
      return;
    }
    if (this.result !== result) return; // an alternative was taken meanwhile
    this.aligned = reply;
    this.paint();
  }

  // Of the model of this pair; asked for once.
  async decoderLayers(signal) {
    const key = `${this.pair.source}:${this.pair.target}`;
    this.layers ??= new Map();
    if (!this.layers.has(key)) {
      const { model } = await inspect({ ...this.pair, text: "1", parts: [] }, signal);
      this.layers.set(key, model.decoder_layers);
    }
    return this.layers.get(key);
  }

  paint() {
    const result = this.result;
    this.output.classList.remove("waiting");
    this.count.textContent = t("translate.count", { count: [...this.source.value].length });
    for (const button of [this.copy, this.save, this.inside]) button.disabled = !result;
    replace(this.output, result?.translatedText ?? "");
    const alternatives = (result?.alternatives ?? []).filter((text) => text.trim() && text !== result.translatedText);
    replace(this.more,
      this.aligned && result ? this.alignment() : null,
      alternatives.length ? el("section", { class: "card" }, el("h2", {}, t("translate.alternatives")),
        el("ul", { class: "alternatives" }, alternatives.map((text) => el("li", {}, el("button", { on: { click: () => this.take(text) } }, text))))) : null);
  }

  // An alternative takes the place of the translation.
  take(text) {
    const { alternatives, translatedText } = this.result;
    this.result = { ...this.result, translatedText: text, alternatives: [translatedText, ...alternatives.filter((other) => other !== text)] };
    this.aligned = null;
    this.paint();
    announce(text);
  }

  alignment() {
    const { source, target, parts } = this.aligned;
    const { shape, values } = parts[0].attentions[0]; // [H, T, S]
    const sourceWords = wordsOf(source.pieces), targetWords = wordsOf(target.pieces);
    const weight = (target_word, source_word) => {
      let sum = 0;
      for (let head = 0; head < shape[0]; ++head) {
        for (const r of target_word.pieces) for (const c of source_word.pieces) sum += values[(head * shape[1] + r) * shape[2] + c];
      }
      return sum / shape[0] / target_word.pieces.length;
    };
    const light = (on, nodes, others, weights) => {
      nodes.forEach((node, i) => node.classList.toggle("on", i === on));
      const top = Math.max(...weights, 1e-9);
      others.forEach((node, i) => {
        node.classList.toggle("linked", on >= 0 && weights[i] > 0.1 * top);
        node.style.setProperty("--w", on >= 0 ? (weights[i] / top).toFixed(3) : 0);
      });
    };
    const make = (words, isTarget) => words.map((word, i) => {
      const show = () => {
        const [mine, others, list] = isTarget ? [targetNodes, sourceNodes, sourceWords] : [sourceNodes, targetNodes, targetWords];
        mine.forEach((node) => { node.classList.remove("linked"); });
        others.forEach((node) => { node.classList.remove("on"); });
        light(i, mine, others, list.map((other) => (isTarget ? weight(word, other) : weight(other, word))));
      };
      return el("span", { class: "word", tabindex: 0, on: { pointerenter: show, focus: show } }, word.text);
    });
    const sourceNodes = make(sourceWords, false), targetNodes = make(targetWords, true);
    const spaced = (nodes) => nodes.flatMap((node) => [node, " "]);
    replace(this.output, spaced(targetNodes));
    return el("section", { class: "card" }, el("h2", {}, t("translate.aligned")),
      el("p", { class: "aligned" }, spaced(sourceNodes)), el("p", { class: "note" }, t("translate.alignNote")));
  }

  async copyText() {
    try {
      await navigator.clipboard.writeText(this.result.translatedText);
    } catch { // browsers have no clipboard for addresses without TLS other than this machine's
      const field = el("textarea", { class: "hidden", "aria-hidden": "true" });
      field.value = this.result.translatedText;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    this.copy.textContent = t("translate.copied");
    announce(t("translate.copied"));
    setTimeout(() => { this.copy.textContent = t("translate.copy"); }, 1500);
  }

  saveText() {
    const address = URL.createObjectURL(new Blob([this.result.translatedText], { type: "text/plain" }));
    el("a", { href: address, download: `translation.${this.pair.target}.txt` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async readFile() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    if (file.size > kLargestFile) return this.fail(t("translate.fileTooLarge"));
    this.source.value = await file.text();
    this.run();
  }

  show() { /* stays as it was left */ }

  refresh() {
    const focus = document.activeElement === this.source;
    this.build();
    if (focus) this.source.focus();
  }
}
