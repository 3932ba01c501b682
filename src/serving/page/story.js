// The story of one translation: the stage, its player, and under them a caption, a formula and the shapes of the scene.
import { percent, show } from "/assets/colour.js";
import { announce, el, replace } from "/assets/dom.js";
import { formula } from "/assets/formula.js";
import { prose } from "/assets/prose.js";
import { addsDistances, addsPositions, headWidth, keyWidth, scales, scoreText } from "/assets/model_facts.js";
import { alignedFacts, alignedFormula, alignedTable, alignedTitle, alignedValues, openingOf, stageOfAligned, studiedOfAligned, variantOf } from "/assets/story_aligned.js";
import { aloneFacts } from "/assets/story_alone.js";
import { loadFacts } from "/assets/story_facts.js";
import { hasPool, readFacts, readValues, stageOfReading, studiedOfReading } from "/assets/story_read.js";
import { StoryPlayer } from "/assets/story_player.js";
import { meanWeight } from "/assets/story_scenes_decoder.js";
import { StoryStage } from "/assets/story_stage.js";
import { makeTimeline, stageOfAlone, stageOfScene, stillOf } from "/assets/story_timeline.js";
import { shapesText } from "/assets/shapes.js";
import { labelOf } from "/assets/view_output.js";
import { t } from "/assets/strings.js";

// The stage of the study for what is under the pointer.
const kStudied = {
  word: () => ({ kind: "tokens", side: "encoder" }), strip: () => ({ kind: "embed", side: "encoder" }),
  roles: () => ({ kind: "qkv", side: "encoder", layer: 0 }), weights: () => ({ kind: "softmax", side: "encoder", layer: 0 }),
  context: () => ({ kind: "heads", side: "encoder", layer: 0 }), memory: () => ({ kind: "memory", side: "encoder" }),
  decoder: (step, layers) => ({ kind: "softmax", side: "decoder", step, layer: layers - 1, cross: true }),
  bars: (step) => ({ kind: "choose", side: "decoder", step }), target: (step) => ({ kind: "shift", side: "decoder", step }),
};

// The same for a language model, at a row of the text.
const kStudiedAlone = {
  word: () => ({ kind: "tokens", side: "prompt" }), strip: () => ({ kind: "embed", side: "prompt" }),
  roles: (step) => ({ kind: "qkv", side: "decoder", layer: 0, step }), weights: (step) => ({ kind: "softmax", side: "decoder", layer: 0, step }),
  context: (step) => ({ kind: "heads", side: "decoder", layer: 0, step }), memory: (step) => ({ kind: "cache", side: "decoder", layer: 0, step }),
  bars: (step) => ({ kind: "choose", side: "decoder", step }),
};

export class Story {
  /// @param onStudy(wanted, state): a stage of the study, {kind, side, ...}, and {row, head} to choose in it; without it
  ///   nothing leads to a study
  /// @param onPlace(name, word): the scene that is shown, for the address
  /// @param onAgain(): another sentence is wished; may be missing
  constructor({ onStudy = null, onPlace, onAgain = null }) {
    Object.assign(this, { onStudy, onPlace, onAgain });
    this.stage = new StoryStage(onStudy ? (hit) => this.choose(hit) : null);
    this.player = new StoryPlayer((index, time) => this.stage.draw(index, time), (index) => this.tell(index), (scene) => this.titleOf(scene));
    this.title = el("h2", {});
    this.shape = el("div", { class: "shape" });
    this.formula = el("div", { class: "formula-row" });
    this.caption = el("p", { class: "explain" });
    this.numbers = el("table", { class: "hidden" });
    this.study = onStudy ? el("button", { type: "button", on: { click: () => this.openStudy() } }) : null;
    this.turn = el("div", { class: "story-turn", hidden: true });
    this.element = el("section", { class: "story card" }, this.stage.element, this.player.element,
      el("div", { class: "story-words" }, el("div", { class: "story-head" }, this.title, this.study), this.caption, this.formula, this.shape, this.numbers, this.turn));
  }

  /// Fetches the numbers of a sentence and shows its beginning, or the scene that `place` {name, word} names.
  async load(sentence, row, place = null) {
    this.player.stop();
    this.element.setAttribute("aria-busy", "true");
    const turn = (this.turns = (this.turns ?? 0) + 1);
    let facts;
    try {
      facts = await (sentence.isAlone ? aloneFacts : sentence.isReader ? readFacts : sentence.looksAtItself ? loadFacts : alignedFacts)(sentence, row);
    } finally {
      if (turn === this.turns) this.element.removeAttribute("aria-busy");
    }
    if (turn !== this.turns) return;
    this.facts = facts;
    this.fillTurn();
    this.timeline = makeTimeline({ steps: facts.T, layers: facts.layers, first: sentence.firstStep, positions: addsPositions(sentence.model),
      ...(sentence.looksAtItself ? {} : { opening: openingOf(sentence.model) }),
      reading: sentence.isReader ? { pool: hasPool(sentence.model), answer: sentence.model.head !== "words" || sentence.answer !== null } : null });
    this.stage.show(facts, this.timeline);
    const found = place ? this.timeline.scenes.findIndex((scene) => scene.name === place.name && (place.word === undefined || scene.step === place.word - 1)) : -1;
    this.player.load(this.timeline, found > 0 ? stillOf(this.timeline.scenes[found]) : 0);
  }

  // The words beside the picture.
  tell(index) {
    const scene = this.timeline.scenes[index], { facts } = this, { model } = facts.sentence;
    const values = this.values(scene);
    this.title.textContent = this.titleOf(scene);
    replace(this.caption, prose(t(`story.caption.${scene.name}${this.variant(scene)}`, values)));
    replace(this.formula, formula(this.formulaName(scene), model, facts.sentence.isAlone || !facts.sentence.looksAtItself ? this.stageOf(scene) : null));
    replace(this.shape, shapesText(this.stageOf(scene), facts.sentence));
    this.stage.canvas.setAttribute("aria-label", `${this.title.textContent}. ${this.caption.textContent}`);
    replace(this.numbers, this.table(scene));
    this.turn.hidden = !["end", "answer"].includes(scene.name);
    if (!this.player.isPlaying) announce(`${this.title.textContent}. ${this.caption.textContent}`);
    this.onPlace(scene.name, scene.step === undefined || scene.name === "end" ? undefined : scene.step + 1);
  }

  // What the words of a scene depend on.
  variant(scene) {
    const { sentence } = this.facts, { norm_order: order, positions } = sentence.model;
    if (!sentence.looksAtItself) return variantOf(scene, sentence.model);
    if (scene.name === "around") return `.${order}`;
    if (scene.name === "positions" && positions === "learned") return ".learned";
    if (scene.name === "ask") return addsDistances(sentence.model) ? ".distance" : scales(sentence.model) ? "" : ".plain";
    if (sentence.isReader) return { layers: ".read", pool: `.${this.pooling()}`, answer: `.${sentence.model.head}` }[scene.name] ?? "";
    return sentence.isAlone && ["layers", "memory", "first", "word", "end"].includes(scene.name) ? ".alone" : "";
  }

  // What stands for the whole text that an encoder reads.
  pooling() {
    const { head, class_pooling, pooling } = this.facts.sentence.model;
    return head === "classes" ? class_pooling : pooling;
  }

  titleOf(scene) {
    if (scene.name === "answer") return t(`story.answer${this.variant(scene)}`, this.values(scene));
    if (!this.facts.sentence.looksAtItself) return alignedTitle(scene, this.facts.sentence.model, this.values(scene));
    const alone = this.facts.sentence.isAlone && ["memory", "first", "end"].includes(scene.name) ? ".alone" : "";
    return t(scene.name === "memory" && !alone ? "story.memory.title" : `story.${scene.name}${alone}`, this.values(scene));
  }

  stageOf(scene) {
    const { model, isAlone, firstStep } = this.facts.sentence;
    if (this.facts.sentence.isReader) return stageOfReading(scene, model);
    if (!this.facts.sentence.looksAtItself) return stageOfAligned(scene, model);
    if (isAlone) return stageOfAlone(scene, { layers: model.decoder_layers, first: firstStep });
    return stageOfScene(scene, { encoderLayers: model.encoder_layers, decoderLayers: model.decoder_layers });
  }

  formulaName(scene) {
    if (!this.facts.sentence.looksAtItself) return alignedFormula(scene, this.facts.sentence.model);
    if (this.facts.sentence.isAlone && ["memory", "end"].includes(scene.name)) return scene.name === "end" ? "written" : "cache";
    if (["pool", "answer"].includes(scene.name)) return this.stageOf(scene).kind;
    return { words: "embed", positions: "position", roles: "qkv", ask: "softmax", take: "context", join: "heads", around: "around", layers: "stack", memory: "memory",
      first: "chain", word: "chain", end: "beam" }[scene.name];
  }

  values(scene) {
    const { facts } = this, { sentence, ask } = facts, { model } = sentence;
    if (sentence.isReader) return readValues(facts);
    if (!sentence.looksAtItself) return alignedValues(facts, scene);
    const step = scene.step ?? sentence.firstStep, candidates = sentence.candidates.steps[step], inDecoder = sentence.isAlone;
    const d_k = keyWidth(model, inDecoder), looked = sentence.isAlone ? sentence.inputLabels.slice(0, step + 1) : sentence.sourceLabels;
    const most = looked.map((label, column) => [meanWeight(facts.crossWeights, step, column), label]).sort((a, b) => b[0] - a[0])[0];
    const best = ask.weights.indexOf(Math.max(...ask.weights));
    return {
      S: facts.S, T: facts.T, layers: facts.layers, h: facts.heads, d_k, d_model: model.d_model, d_ff: model.d_ff, V: model.target_vocab_size,
      root: show(Math.sqrt(d_k), 2), taken: scoreText(model), word: sentence.mainLabels[facts.row], head: facts.head + 1,
      best: sentence.sourceLabels[best], score: show(ask.scores[best], 2), scaled: show(ask.scaled[best], 2), weight: show(ask.weights[best], 2),
      kept: model.decoder_layers * (model.n_kv_heads || model.decoder_n_heads) * (d_k + headWidth(model, inDecoder)) * (step + 1), last: sentence.inputLabels[step], count: step + 1,
      step: step - sentence.firstStep + 1, chosen: sentence.targetLabels[step], share: percent(candidates.chosen_probability), source: most[1], mean: show(most[0], 2),
      text: sentence.target.text, total: facts.best || sentence.isAlone ? show(facts.best?.score ?? facts.score, 2) : "–",
    };
  }

  // The numbers of the scene, for those who cannot see the picture.
  table(scene) {
    const { facts } = this, { sentence, ask } = facts;
    const rows = (head, lines) => [el("caption", {}, t("story.numbers")), el("tr", {}, head.map((text) => el("th", { scope: "col" }, text))), lines.map((line) => el("tr", {}, line.map((cell) => el("td", {}, cell))))];
    if (!sentence.looksAtItself) {
      const { numbers: [head, ...lines], looked: [other, ...weights] } = alignedTable(facts, scene);
      return [...rows(head, lines), ...(other ? rows(other, weights).slice(1) : [])];
    }
    if (scene.name === "answer" && sentence.model.head === "tags") return rows([t("choose.token"), "p"], sentence.taggedWords().map(({ word, tag, probability }) => [`${word}: ${tag}`, percent(probability)]));
    if (scene.name === "answer") return rows([t("choose.token"), "p"], sentence.shares().slice(0, 5).map(({ name, share }) => [name, percent(share)]));
    if (scene.step === undefined) {
      return rows([t("choose.token"), "id", "q·k", scoreText(sentence.model, "√dₖ"), t("kind.softmax")],
        sentence.sourceLabels.map((label, r) => [label, sentence.source.ids[r], show(ask.scores[r], 2), show(ask.scaled[r], 2), show(ask.weights[r], 3)]));
    }
    const candidates = sentence.candidates.steps[scene.step];
    return [...rows([t("choose.token"), "p"], candidates.pieces.slice(0, 5).map((piece, i) => [labelOf(sentence)(piece), percent(candidates.probabilities[i])])),
      ...rows([t("choose.token"), t("kind.softmax")], (sentence.isAlone ? sentence.inputLabels.slice(0, scene.step + 1) : sentence.sourceLabels).map((label, column) => [label, show(meanWeight(facts.crossWeights, scene.step, column), 3)])).slice(1)];
  }

  openStudy() {
    if (!this.timeline) return;
    this.player.stop();
    this.onStudy(this.stageOf(this.player.scene), { row: this.facts.row, head: this.facts.head });
  }

  choose({ kind, row }) {
    const { facts } = this, { sentence } = facts, step = this.player.scene.step ?? sentence.firstStep;
    if (sentence.isReader) {
      this.player.stop();
      return this.onStudy(studiedOfReading({ kind, row }, sentence.model), { row, head: facts.head });
    }
    if (sentence.isAlone) {
      this.player.stop();
      return this.onStudy(kStudiedAlone[kind](kind === "bars" ? step : Math.min(Math.max(row, sentence.firstStep), sentence.steps - 1)), { row, head: facts.head });
    }
    const isTarget = kind === "decoder" || kind === "target";
    const wanted = !sentence.looksAtItself ? studiedOfAligned({ kind, row: isTarget ? Math.min(row, facts.T - 1) : row }, step, sentence.model) : kStudied[kind](isTarget ? Math.min(row, facts.T - 1) : step, facts.sentence.model.decoder_layers);
    this.player.stop();
    this.onStudy(wanted, { row: isTarget || kind === "bars" ? facts.row : row, head: facts.head });
  }

  /// After the language or the theme changed.
  refresh() {
    this.player.relabel();
    if (this.study) this.study.textContent = t("story.study");
    this.stage.element.setAttribute("aria-label", t("story.stage"));
    this.fillTurn();
    if (!this.timeline) return;
    this.stage.repaint();
    this.tell(this.player.index);
  }

  // What can be done at the end.
  fillTurn() {
    replace(this.turn, el("strong", {}, t("story.turn")), [["word", "story.changeWord", this.onAgain], ["again", "story.again", true], ["study", "story.study", this.onStudy], ["temperature", "story.temperature", this.onStudy && !this.facts?.sentence.isReader]]
      .filter(([, , isThere]) => isThere).map(([name, key]) => el("button", { type: "button", on: { click: () => this.yourTurn(name) } }, t(key))));
  }

  yourTurn(name) {
    if (name === "again") { this.player.go(0); this.player.play(); }
    else if (name === "word") this.onAgain();
    else if (name === "study") this.openStudy();
    else this.onStudy({ kind: "choose", side: "decoder", step: this.facts.sentence.firstStep }, {});
  }
}
