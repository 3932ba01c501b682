// The stage of the story: a canvas on which source and translation stand from the first second to the last. What has
// been computed stays; the scene that plays draws what moves.
import { el } from "/assets/dom.js";
import { spell } from "/assets/story_facts.js";
import { hitAt, makeLayout } from "/assets/story_layout.js";
import { Paint } from "/assets/story_paint.js";
import { kDecoderScenes, meanWeight } from "/assets/story_scenes_decoder.js";
import { kEncoderScenes, levelStrips, plates } from "/assets/story_scenes_encoder.js";
import { partAt, phase } from "/assets/story_timeline.js";
import { t } from "/assets/strings.js";

const kScenes = { ...kEncoderScenes, ...kDecoderScenes };
const kEncoderOrder = ["words", "positions", "roles", "ask", "take", "join", "around", "layers", "memory"];
const kOwnBase = ["words", "positions"]; // scenes that draw the first strips themselves

export class StoryStage {
  /// @param onChoose({kind, row}): something on the stage was chosen
  constructor(onChoose) {
    this.canvas = el("canvas", { class: "story-canvas", role: "img" });
    this.element = el("div", { class: "story-stage", role: "group" }, this.canvas);
    this.paint = new Paint(this.canvas.getContext("2d"));
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const hit = this.layout && hitAt(this.layout, event.clientX - box.left, event.clientY - box.top);
      if (hit) onChoose(hit);
    });
    new ResizeObserver(() => { this.resize(); this.redraw(); }).observe(this.element);
  }

  show(facts, timeline) {
    Object.assign(this, { facts, timeline });
    this.paint.readColours();
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
    const focus = scene.step !== undefined ? 0 : scene.name === "memory" ? 1 - phase(part, 0, 0.4) : 1;
    const make = () => makeLayout(this.width, this.height, this.facts, focus);
    if (focus > 0 && focus < 1) return make();
    if (!this.layouts.has(focus)) this.layouts.set(focus, make());
    return this.layouts.get(focus);
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
    this.sourceWords(stage);
    this.targetWords(stage);
    this.standing(stage);
    kScenes[scene.name](stage);
  }

  frames({ paint, layout, scene }) {
    const { encoder, shelf, decoder, top, bottom, nameY } = layout, inDecoder = scene.step !== undefined;
    const name = (text, x, width) => paint.text(text, x, nameY, { size: 11, colour: paint.colour.soft, width });
    const frame = ({ left, right }, isOn, text) => {
      paint.box(left, top, right - left, bottom - top + 4, { fill: paint.colour.ground, stroke: isOn ? paint.colour.accent : paint.colour.line, radius: 10, alpha: isOn ? 1 : 0.75 });
      name(text, left + 4, right - left);
    };
    frame(encoder, !inDecoder, t("encoder"));
    frame(decoder, inDecoder, t("decoder"));
    name(t("story.memory"), shelf.left, decoder.left - shelf.left - 4);
  }

  // Both sentences as text, the second as far as it is written.
  header({ paint, layout, facts, scene, part }) {
    const { margin, width, header, isNarrow } = layout, { source, target } = facts.sentence;
    const written = scene.step === undefined ? 0 : scene.name === "end" || part > 0.97 ? scene.step + 1 : scene.step;
    const options = { size: isNarrow ? 13 : 15, width: header.half };
    paint.text(source.text, margin, 20, options);
    const x = isNarrow ? margin : width / 2 + margin, y = isNarrow ? 44 : 20;
    const text = spell(target.pieces.slice(0, written));
    if (!text) return paint.text(t("story.empty"), x, y, { ...options, size: 12, colour: paint.colour.soft });
    paint.text(text, x, y, { ...options, colour: paint.colour.warm, grows: true });
    if (scene.name === "end" && facts.best) this.score({ paint, layout, facts });
  }

  score({ paint, layout, facts }) {
    const text = t("story.score", { score: facts.best.score.toFixed(2), steps: facts.T });
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
