// Two sentences in "Look inside": what differs in every head, and what the difference says.
import { isAbort } from "/assets/api.js";
import { show } from "/assets/colour.js";
import { align, firstDifference, movement, weightsOfSlots, weightsOfWords, wordsOfPieces } from "/assets/compare_math.js";
import { distances, farthest, statesOf, statesPanel } from "/assets/compare_states.js";
import { el, replace } from "/assets/dom.js";
import { kPairs } from "/assets/examples.js";
import { heatmap, legend, thumbnail } from "/assets/heatmap.js";
import { Sentence } from "/assets/sentence.js";
import { t } from "/assets/strings.js";

const kKinds = ["cross", "encoder", "decoder"];
const kHash = "#compare";
const kWeak = 0.1; // a movement below this is not called a finding

/// Two sentences side by side: their words, the slots that pair them, and the weights of each head on these slots.
export class Pair {
  constructor(left, right) {
    this.sides = [left, right];
    this.words = this.sides.map((sentence) => ({ source: wordsOfPieces(sentence.source.pieces), target: wordsOfPieces(sentence.target.input_pieces) }));
    const texts = (kind) => this.words.map((words) => words[kind].map((word) => word.text));
    this.slots = { source: align(...texts("source")), target: align(...texts("target")) };
    // The step at which the translations part; the decoder has read the same until there.
    this.step = firstDifference(left.target.ids, right.target.ids);
  }

  kindOf(path, axis) { return path.startsWith("encoder") || (axis === "columns" && !path.endsWith("self_attention")) ? "source" : "target"; }
  /// The kinds of attention that the model has.
  get kinds() { return kKinds.filter((kind) => this.sides[0].attentions(kind).length); }
  texts(kind, side = 0) { return this.words[side][kind].map((word) => word.text || "␣"); }
  /// The texts of slots: "tired", or "tired | wide" where the sentences differ.
  slotTexts(kind) {
    const join = (places, side) => places.map((place) => this.texts(kind, side)[place]).join(" ") || "∅";
    return this.slots[kind].map((slot) => (slot.equal ? join(slot.left, 0) : `${join(slot.left, 0)} | ${join(slot.right, 1)}`));
  }

  /// [rows, columns] weights of the words of one side.
  head(side, path, head) {
    const { values, columns } = this.sides[side].head(path, head);
    const words = this.words[side];
    return weightsOfWords(values, columns.length, words[this.kindOf(path, "rows")], words[this.kindOf(path, "columns")]);
  }

  /// [slots, slots] weights of one side.
  slotHead(side, path, head) {
    const rows = this.kindOf(path, "rows"), columns = this.kindOf(path, "columns");
    return weightsOfSlots(this.head(side, path, head), this.words[side][columns].length, this.slots[rows], this.slots[columns], side ? "right" : "left");
  }

  difference(path, head) {
    const right = this.slotHead(1, path, head);
    return this.slotHead(0, path, head).map((value, i) => value - right[i]);
  }

  /// The weights of source words in the row of one step of the decoder, or of one slot of the encoder, on both sides.
  rowOf(kind, path, head, row) {
    if (kind === "encoder") {
      const n = this.slots.source.length;
      return [0, 1].map((side) => this.slotHead(side, path, head).slice(row * n, (row + 1) * n));
    }
    return [0, 1].map((side) => {
      const { values, columns } = this.sides[side].head(path, head);
      const ofStep = weightsOfWords(values, columns.length, [{ pieces: [row] }], this.words[side].source);
      return weightsOfSlots(ofStep, ofStep.length, [{ left: [0], right: [0] }], this.slots.source, side ? "right" : "left");
    });
  }

  /// Fetches the states of both encoders, where words do not look at each other.
  async fetchStates() {
    if (this.sides[0].looksAtItself) return;
    this.states = [await statesOf(this.sides[0]), await statesOf(this.sides[1])];
    this.apart = distances(this.states, this.words.map((words) => words.source), this.slots.source);
  }

  /// All movements, strongest first: of cross-attention at the step where the translations part, and of every word of
  /// the encoder that both sentences have.
  movements() {
    const [left] = this.sides, found = [];
    for (const kind of ["cross", "encoder"]) {
      const rows = kind === "encoder" ? this.slots.source.flatMap((slot, i) => (slot.equal && /\p{L}/u.test(this.texts("source")[slot.left[0]].replace(/^<.*>$/, "")) ? [i] : [])) : this.step >= 0 ? [this.step] : [];
      left.attentions(kind).forEach((path, layer) => {
        for (let head = 0; head < left.heads(path); ++head) {
          for (const row of rows) {
            const weights = this.rowOf(kind, path, head, row);
            found.push({ kind, path, layer, head, row, weights, ...movement(...weights, this.slots.source, this.texts("source")) });
          }
        }
      });
    }
    return found.filter((one) => one.strength > 0).sort((a, b) => b.strength - a.strength);
  }
}

export class Comparison {
  constructor() { this.choice = { kind: "cross", layer: 0, head: 0 }; }

  /// The elements of the view: the way in, and the comparison itself.
  build(root) {
    this.root = root;
    this.bar = el("p", { class: "compare-bar" }, el("button", { on: { click: () => { location.hash = this.isOpen() ? "inside" : kHash; } } }, t(this.isOpen() ? "two.close" : "two.open")));
    this.inputs = [0, 1].map((side) => el("input", { type: "text", id: `compare-${side}`, maxlength: 600, autocomplete: "off", value: this.inputs?.[side].value ?? "" }));
    this.error = el("p", { class: "error", role: "alert" });
    this.body = el("div", { class: "compare-body" });
    this.section = el("section", { class: "compare", "aria-label": t("two.title") },
      el("form", { class: "compare-ask", on: { submit: (event) => { event.preventDefault(); this.load(); } } },
        [0, 1].map((side) => [el("label", { for: `compare-${side}` }, t(side ? "two.second" : "two.first")), this.inputs[side]]), el("button", { class: "primary" }, t("two.go"))),
      this.error, this.body);
    if (this.pair && this.isOpen()) this.render();
    return [this.bar, this.section];
  }

  isOpen() { return location.hash === kHash; }

  /// Opens or closes the comparison, as the address says. Returns true if it is open.
  show(languages) {
    const open = this.isOpen();
    this.root.classList.toggle("comparing", open);
    this.bar.firstChild.textContent = t(open ? "two.close" : "two.open");
    const isOther = languages.source !== this.languages?.source || languages.target !== this.languages?.target;
    this.languages = languages;
    if (!open) return false;
    const sample = kPairs[languages.source.split("-")[0]] ?? ["", ""];
    this.inputs.forEach((input, side) => { input.value ||= sample[side]; });
    if ((!this.pair || isOther) && this.inputs.every((input) => input.value)) this.load();
    else if (this.pair) this.render();
    return true;
  }

  async load() {
    this.abort?.abort();
    this.abort = new AbortController();
    this.error.textContent = "";
    this.section.setAttribute("aria-busy", "true");
    replace(this.body);
    this.pair = null;
    try {
      const both = await Promise.all(this.inputs.map((input) => Sentence.load({ ...this.languages, text: input.value }, this.abort.signal)));
      const pair = new Pair(...both);
      await pair.fetchStates();
      this.pair = pair;
      this.found = this.pair.movements();
      const [best] = this.found;
      this.choice = best ? { kind: best.kind, layer: best.layer, head: best.head } : { kind: "cross", layer: 0, head: 0 };
      this.render();
    } catch (error) {
      if (!isAbort(error)) this.error.textContent = error.message;
    } finally {
      this.section.removeAttribute("aria-busy");
    }
  }

  render() {
    const { pair } = this;
    replace(this.body,
      el("article", { class: "card panel" }, this.translations(), this.findings(), this.ranking()),
      pair.states ? statesPanel(pair.sides[0].model, pair.states, pair.apart, pair.slotTexts("source")) : null,
      !pair.kinds.length ? null : el("article", { class: "card panel" }, el("h2", {}, t("two.heads")), el("p", { class: "note" }, t("two.headsNote")),
        pair.kinds.length < 2 ? null : el("div", { class: "heads", role: "group", "aria-label": t("glance.kind") }, pair.kinds.map((kind) => el("button", { "aria-pressed": String(kind === this.choice.kind), on: { click: () => this.choose({ kind, layer: 0, head: 0 }) } }, t(`kind.${kind}`)))),
        this.thumbs(), legend("signed", 1), this.closeUp()));
  }

  choose(choice) {
    this.choice = choice;
    const label = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent;
    this.render();
    [...this.body.querySelectorAll("button")].find((button) => (button.getAttribute("aria-label") ?? button.textContent) === label)?.focus({ preventScroll: true });
  }

  // Both sentences with their translations; what differs is marked.
  translations() {
    const line = (kind, side) => this.pair.slots[kind].flatMap((slot) => {
      const words = slot[side ? "right" : "left"].map((place) => this.pair.texts(kind, side)[place]).filter((word) => !/^<.*>$/.test(word)).join(" ");
      return words ? [/^\p{P}/u.test(words) || /^\p{Script=Han}/u.test(words) ? "" : " ", slot.equal ? words : el("mark", {}, words)] : [];
    });
    return el("div", { class: "two even" }, [0, 1].map((side) => el("div", { class: "side" }, el("p", { class: "quote" }, line("source", side)), el("p", { class: "quote compare-target" }, "→ ", line("target", side)))));
  }

  describe(one) {
    const texts = this.pair.slotTexts("source");
    const numbers = (slot) => one.weights.map((row) => show(row[slot], 2));
    const [gainLeft, gainRight] = numbers(one.gain), [lossLeft, lossRight] = numbers(one.loss);
    return { kind: t(`kind.${one.kind}`), layer: one.layer + 1, head: one.head + 1, word: texts[one.row], gain: texts[one.gain], loss: texts[one.loss], gainLeft, gainRight, lossLeft, lossRight };
  }

  findings() {
    const { pair, found } = this;
    const cross = found.find((one) => one.kind === "cross"), encoder = found.find((one) => one.kind === "encoder");
    const parts = pair.step < 0 ? [t("two.same")] : [t("two.part", { left: pair.sides[0].targetLabels[pair.step] ?? "∅", right: pair.sides[1].targetLabels[pair.step] ?? "∅" })];
    if (cross?.strength >= kWeak) parts.push(t("two.cross", this.describe(cross)));
    else if (pair.step >= 0 && pair.kinds.length) parts.push(t("two.crossWeak", { limit: kWeak }));
    const moved = pair.states && farthest(pair.apart, pair.slotTexts("source"));
    if (moved) parts.push(t("two.state", moved));
    if (encoder?.strength >= kWeak) parts.push(t("two.encoder", this.describe(encoder)));
    return el("p", { class: "finding compare-finding", role: "status" }, parts.join(" "));
  }

  // The strongest movement of each head, strongest first.
  ranking() {
    const heads = new Map();
    for (const one of this.found) {
      const key = `${one.path} ${one.head}`;
      if (!heads.has(key)) heads.set(key, one);
    }
    const rows = [...heads.values()].slice(0, 6);
    if (!rows.length) return null;
    return el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("two.ranking") }, el("table", { class: "ranking compare-ranking" },
      el("caption", {}, t("two.ranking")),
      el("thead", {}, el("tr", {}, ["head", "row", "gain", "loss"].map((name) => el("th", { scope: "col" }, t(`two.column.${name}`))))),
      el("tbody", {}, rows.map((one) => {
        const facts = this.describe(one);
        return el("tr", {}, el("td", {}, el("button", { class: "quiet", on: { click: () => this.choose({ kind: one.kind, layer: one.layer, head: one.head }) } }, t("two.head", facts))),
          el("td", {}, one.kind === "cross" ? this.pair.sides.map((side) => side.targetLabels[one.row]).join(" | ") : facts.word),
          el("td", { class: "number" }, `${facts.gain}: ${facts.gainLeft} | ${facts.gainRight}`), el("td", { class: "number" }, `${facts.loss}: ${facts.lossLeft} | ${facts.lossRight}`));
      }))));
  }

  thumbs() {
    const { pair, choice } = this;
    const [left] = pair.sides;
    const paths = left.attentions(choice.kind);
    const columns = pair.slots[pair.kindOf(paths[0], "columns")].length;
    const picture = (path, head) => {
      const canvas = thumbnail({ values: pair.difference(path, head), nColumns: columns, kind: "signed", largest: 1, size: 88 });
      canvas.setAttribute("aria-hidden", "true");
      return canvas;
    };
    return el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("two.heads") }, el("table", { class: "small-multiples" },
      el("tr", {}, el("td", {}), Array.from({ length: left.heads(paths[0]) }, (_, head) => el("th", { scope: "col" }, `${t("head")} ${head + 1}`))),
      paths.map((path, layer) => el("tr", {}, el("th", { scope: "row" }, `${t("layer")} ${layer + 1}`), Array.from({ length: left.heads(path) }, (_, head) => el("td", {}, el("button", {
        class: "thumb", "aria-pressed": String(layer === choice.layer && head === choice.head), "aria-label": t("glance.open", { layer: layer + 1, head: head + 1 }),
        on: { click: () => this.choose({ kind: choice.kind, layer, head }) } }, picture(path, head))))))));
  }

  // The chosen head of both sentences, and the difference.
  closeUp() {
    const { pair, choice } = this;
    const path = pair.sides[0].attentions(choice.kind)[choice.layer];
    const [rows, columns] = [pair.kindOf(path, "rows"), pair.kindOf(path, "columns")];
    const place = t("two.head", { kind: t(`kind.${choice.kind}`), layer: choice.layer + 1, head: choice.head + 1 });
    const map = (title, kind, values, rowTexts, columnTexts) => el("section", { class: "matrix" }, el("h3", {}, title),
      heatmap({ rows: rowTexts, columns: columnTexts, values, kind, largest: 1, maxCell: 30, label: `${place}: ${title}` }));
    const side = (which) => map(t(which ? "two.second" : "two.first"), "weights", pair.head(which, path, choice.head), pair.texts(rows, which), pair.texts(columns, which));
    return el("div", {}, el("h3", {}, place), el("div", { class: "compare-maps" }, side(0), side(1),
      map(t("two.difference"), "signed", pair.difference(path, choice.head), pair.slotTexts(rows), pair.slotTexts(columns))), el("p", { class: "note" }, t("two.rows")));
  }
}
