// The stage of the story: a canvas on which source and translation stand from the first second to the last. What has
// been computed stays; the scene that plays draws what moves.
import { el } from "/assets/dom.js";
import { aloneHit, aloneLayout, cacheRows, kAloneScenes } from "/assets/story_alone.js";
import { spell } from "/assets/story_facts.js";
import { hitAt, makeLayout } from "/assets/story_layout.js";
import { Paint } from "/assets/story_paint.js";
import { kReadScenes, readHit, readLayout } from "/assets/story_read.js";
import { alignedStanding, kAlignedScenes } from "/assets/story_scenes_aligned.js";
import { kDecoderScenes, meanWeight } from "/assets/story_scenes_decoder.js";
import { kEncoderScenes, levelStrips, plates } from "/assets/story_scenes_encoder.js";
import { partAt, phase } from "/assets/story_timeline.js";
import { t } from "/assets/strings.js";

const kScenes = { ...kEncoderScenes, ...kDecoderScenes }, kOfAlone = { ...kEncoderScenes, ...kAloneScenes }, kOfReader = { ...kEncoderScenes, ...kReadScenes };
const kEncoderOrder = ["words", "positions", "roles", "ask", "take", "join", "around", "layers", "memory"];
const kOwnBase = ["words", "positions"]; // scenes that draw the first strips themselves

// The matrices that are drawn as strips.
function tensorsOf({ parts, levels, cross, last }) {
  const groups = [...Object.values(parts), cross ?? last, ...levels];
  return groups.filter(Boolean).flatMap((part) => (part.shape ? [part] : Object.values(part).filter((value) => value?.shape)));
}

export class StoryStage {
  /// @param onChoose({kind, row}): something on the stage was chosen; null if nothing can be
  constructor(onChoose) {
    this.canvas = el("canvas", { class: "story-canvas", role: "img", style: onChoose ? {} : { cursor: "default" } });
    this.element = el("div", { class: "story-stage", role: "group" }, this.canvas);
    this.paint = new Paint(this.canvas.getContext("2d"));
    if (onChoose) this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const sentence = this.facts?.sentence, at = sentence?.isAlone ? aloneHit : sentence?.isReader ? readHit : hitAt, hit = this.layout && at(this.layout, event.clientX - box.left, event.clientY - box.top);
      if (hit) onChoose(hit);
    });
    new ResizeObserver(() => { this.resize(); this.redraw(); }).observe(this.element);
  }

  show(facts, timeline) {
    Object.assign(this, { facts, timeline });
    this.paint.readColours();
    for (const part of tensorsOf(facts)) this.paint.picture(part); // now, so that no frame waits for them
    this.resize();
  }

  repaint() {
    this.paint.readColours();
    this.redraw();
  }

  resize() {
    const width = this.element.clientWidth, height = this.element.clientHeight;
    if (!this.facts || !width || !height) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.paint.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint.fitted.clear();
    Object.assign(this, { width, height, layouts: new Map() });
  }

  // The encoder has the larger part of the stage until the memory is full.
  layoutOf(scene, part) {
    if (this.facts.sentence.isAlone) return this.layoutAlone(scene);
    if (this.facts.sentence.isReader) return this.layoutOfReader();
    const focus = scene.step !== undefined ? 0 : scene.turns ? 1 - phase(part, 0, 0.4) : 1;
    const make = () => makeLayout(this.width, this.height, this.facts, focus);
    if (focus > 0 && focus < 1) return make();
    if (!this.layouts.has(focus)) this.layouts.set(focus, make());
    return this.layouts.get(focus);
  }

  // One stack, which keeps its place. `shown`: the rows that earlier scenes left.
  layoutAlone(scene) {
    if (!this.layouts.has("alone")) this.layouts.set("alone", aloneLayout(this.width, this.height, this.facts));
    const layout = this.layouts.get("alone"), { S, first, sentence } = this.facts;
    layout.source.shown = scene.step === undefined || scene.step === first ? S : scene.name === "end" ? sentence.steps : scene.step;
    return layout;
  }

  layoutOfReader() {
    if (!this.layouts.has("reader")) this.layouts.set("reader", readLayout(this.width, this.height, this.facts));
    return this.layouts.get("reader");
  }

  redraw() {
    if (this.index !== undefined) this.draw(this.index, this.time);
  }

  /// Draws the picture of a time, in scene number `index`.
  draw(index, time) {
    Object.assign(this, { index, time });
    if (!this.layouts) return;
    const { paint, facts, timeline } = this, scene = timeline.scenes[index], part = partAt(timeline, index, time);
    const layout = (this.layout = this.layoutOf(scene, part));
    const { context } = paint;
    context.clearRect(0, 0, layout.width, layout.height);
    context.textBaseline = "middle";
    context.imageSmoothingEnabled = true;
    const stage = { paint, layout, facts, scene, part };
    this.frames(stage);
    this.header(stage);
    if (facts.sentence.isAlone) return this.drawAlone(stage);
    if (facts.sentence.isReader) {
      this.sourceWords(stage);
      if (!kReadScenes[scene.name]) this.standing(stage);
      return kOfReader[scene.name](stage);
    }
    this.sourceWords(stage);
    this.targetWords(stage);
    if (!facts.sentence.looksAtItself) {
      alignedStanding(stage);
      return kAlignedScenes[scene.name](stage);
    }
    this.standing(stage);
    kScenes[scene.name](stage);
  }

  drawAlone(stage) {
    const { layout, facts, scene } = stage;
    this.piecesAlone(stage);
    if (scene.step === undefined) this.standing(stage);
    else {
      const isEnd = scene.name === "end", alpha = isEnd ? 0.1 : 0.15;
      for (let layer = 1; layer <= facts.layers; ++layer) levelStrips(stage, layer, layout.encoder.level(layer), alpha);
      for (let r = 0; r < layout.source.shown; ++r) stage.paint.strip(facts.parts.input.sum, r, layout.encoder.base, layout.source.y(r), layout.encoder.strip, layout.source.strip, { alpha });
      cacheRows(stage, layout.source.shown, isEnd ? 0.4 : 1);
    }
    kOfAlone[scene.name](stage);
  }

  // The pieces of the text, as far as it is written.
  piecesAlone({ paint, layout, facts, scene, part }) {
    const { labels, source, encoder } = layout, { S, row, sentence } = facts, pieces = [...sentence.inputLabels, sentence.targetLabels.at(-1)];
    const count = scene.step === undefined ? S : scene.step + 1 + (scene.name === "end" || part >= 1 ? 1 : 0);
    for (let r = 0; r < count; ++r) {
      const isAsking = scene.step === undefined ? r === row && !["words", "memory"].includes(scene.name) : r === scene.step && scene.name !== "end";
      if (r % source.every !== 0 && !isAsking) continue;
      paint.text(pieces[r], labels.right, source.y(r), { align: "right", width: labels.width, bold: isAsking, colour: isAsking ? paint.colour.accent : r >= S ? paint.colour.warm : paint.colour.ink });
    }
    if (["ask", "take", "join"].includes(scene.name)) paint.line([[encoder.left + 1, source.y(row) - source.height / 2], [encoder.left + 1, source.y(row) + source.height / 2]], paint.colour.accent, 3);
  }

  frames({ paint, layout, facts, scene }) {
    const { encoder, shelf, decoder, top, bottom, nameY } = layout, inDecoder = scene.step !== undefined;
    const name = (text, x, width) => paint.text(text, x, nameY, { size: 11, colour: paint.colour.soft, width });
    const frame = ({ left, right }, isOn, text) => {
      paint.box(left, top, right - left, bottom - top + 4, { fill: paint.colour.ground, stroke: isOn ? paint.colour.accent : paint.colour.line, radius: 10, alpha: isOn ? 1 : 0.75 });
      name(text, left + 4, right - left);
    };
    if (facts.sentence.isAlone) {
      frame(encoder, true, t("stack"));
      return name(t("story.cache"), shelf.left, shelf.width + 30);
    }
    if (facts.sentence.isReader) return frame(encoder, true, t("stack"));
    frame(encoder, !inDecoder, t("encoder"));
    frame(decoder, inDecoder, t("decoder"));
    name(t(facts.cross ? "story.memory" : "story.bottleneck"), shelf.left, decoder.left - shelf.left - 4);
  }

  // Both sentences as text, the second as far as it is written.
  header({ paint, layout, facts, scene, part }) {
    const { margin, width, header, isNarrow } = layout, { source, target } = facts.sentence;
    if (facts.sentence.isReader) return this.headerOfReader({ paint, layout, facts, scene, part });
    const { isAlone, firstStep } = facts.sentence, lines = (text) => (isAlone ? text.replaceAll("\n", " ⏎ ") : text);
    const written = scene.step === undefined ? firstStep : scene.name === "end" || part > 0.97 ? scene.step + 1 : scene.step;
    const options = { size: isNarrow ? 13 : 15, width: header.half };
    paint.text(lines(source.text), margin, 20, { ...options, grows: isAlone });
    const x = isNarrow ? margin : width / 2 + margin, y = isNarrow ? 44 : 20;
    const chosen = target.pieces.slice(firstStep, written), text = isAlone ? lines(facts.sentence.joined(chosen)) : spell(chosen);
    if (!text) return paint.text(t(isAlone ? "story.emptyAlone" : "story.empty"), x, y, { ...options, size: 12, colour: paint.colour.soft });
    paint.text(text, x, y, { ...options, colour: paint.colour.warm, grows: true });
    if (scene.name === "end" && (facts.best || isAlone)) this.score({ paint, layout, facts });
  }

  // The text that is read, and what was found.
  headerOfReader({ paint, layout: { margin, width, header, isNarrow }, facts, scene, part }) {
    const { sentence } = facts, options = { size: isNarrow ? 13 : 15, width: header.half }, [best] = sentence.shares();
    paint.text(sentence.source.text, margin, 20, options);
    const x = isNarrow ? margin : width / 2 + margin, y = isNarrow ? 44 : 20;
    if (scene.name !== "answer" || part < 0.6) return paint.text(t("story.emptyRead"), x, y, { ...options, size: 12, colour: paint.colour.soft });
    if (best) paint.text(sentence.model.head === "words" ? sentence.source.text.replace(sentence.request.mask, best.name) : best.name, x, y, { ...options, colour: paint.colour.warm });
  }

  score({ paint, layout, facts }) {
    const text = t("story.score", { score: (facts.best?.score ?? facts.score).toFixed(2), steps: facts.T });
    paint.text(text, layout.width - layout.margin, layout.nameY, { align: "right", size: 11, colour: paint.colour.soft });
  }

  sourceWords({ paint, layout, facts, scene, part }) {
    const { labels, source, encoder } = layout;
    const inEncoder = scene.step === undefined && scene.name !== "words";
    facts.sentence.sourceLabels.forEach((label, r) => {
      const isChosen = r === facts.row && inEncoder && scene.name !== "memory";
      const weight = scene.name === "first" || scene.name === "word" ? meanWeight(facts.crossWeights, scene.step, r) * phase(part, 0.38, 0.55) : 0;
      const isShown = r % source.every === 0 || isChosen || weight > 0.2;
      if (isShown) paint.text(label, labels.right, source.y(r), { align: "right", width: labels.width, bold: isChosen || weight > 0.2, colour: isChosen ? paint.colour.accent : paint.colour.ink });
    });
    if (inEncoder && ["ask", "take", "join"].includes(scene.name)) {
      paint.line([[encoder.left + 1, source.y(facts.row) - source.height / 2], [encoder.left + 1, source.y(facts.row) + source.height / 2]], paint.colour.accent, 3);
    }
  }

  // The decoder's input so far: the start, then what has been chosen.
  targetWords({ paint, layout, facts, scene, part }) {
    const { decoder, target } = layout, { inputLabels, targetLabels } = facts.sentence;
    const last = scene.step === undefined ? -1 : scene.name === "end" ? scene.step + 1 : scene.step + (part >= 1 ? 1 : 0);
    for (let r = 0; r <= Math.min(last, target.count - 1); ++r) {
      const label = r < inputLabels.length ? inputLabels[r] : targetLabels.at(-1), isLast = r === scene.step && scene.name !== "end";
      if (r % target.every !== 0 && !isLast) continue;
      paint.text(label === "<s>" ? "⟨s⟩" : label, decoder.words, target.y(r), { width: decoder.wordsWidth, bold: isLast, colour: isLast ? paint.colour.warm : paint.colour.ink });
    }
  }

  // What earlier scenes left.
  standing(stage) {
    const { paint, layout, facts, scene } = stage, place = scene.step === undefined ? kEncoderOrder.indexOf(scene.name) : kEncoderOrder.length;
    if (place < kEncoderOrder.indexOf("layers") && !kOwnBase.includes(scene.name)) this.firstStrips(stage, scene.name === "around" ? 0.35 : 1);
    if (place < kEncoderOrder.length) return;
    for (let layer = 1; layer <= facts.layers; ++layer) levelStrips(stage, layer, layout.encoder.level(layer), 0.15);
    this.firstStrips(stage, 0.15);
    for (let r = 0; r < layout.source.count; ++r) paint.strip(facts.parts.memory, r, layout.shelf.left, layout.source.y(r), layout.shelf.width, layout.source.strip, { alpha: scene.name === "end" ? 0.4 : 1 });
    plates(stage, scene.name === "end" ? 0.4 : 1);
    if (scene.name === "end") return;
    for (let step = 0; step < scene.step; ++step) paint.strip(facts.parts.input.sum, step, layout.decoder.at, layout.target.y(step), layout.decoder.strip, layout.target.strip, { alpha: 0.25 });
  }

  firstStrips({ paint, layout, facts }, alpha) {
    for (let r = 0; r < layout.source.count; ++r) paint.strip(facts.parts.embedding.sum, r, layout.encoder.base, layout.source.y(r), layout.encoder.strip, layout.source.strip, { alpha });
  }
}
