// Figure 1 of the paper, drawn with this model's sizes and this sentence's values; every block leads to its stage. A model
// without an encoder has the right half alone, and its cache beside it.
// The window of the drawing moves smoothly to the block that is worked in, and back to the whole.
import { el, icon, isCalm, kIcons, replace, svg } from "/assets/dom.js";
import { thumbnail } from "/assets/heatmap.js";
import { addsPositions, isAlone, isConvolutional, isReader, isRecurrent, stackOf } from "/assets/model_facts.js";
import { blockOf } from "/assets/stages.js";
import { convolutionalColumns, convolutionalRows, convolutionalStrip } from "/assets/stages_convolutional.js";
import { recurrentColumns, recurrentStrip } from "/assets/stages_recurrent.js";
import { show } from "/assets/colour.js";
import { t } from "/assets/strings.js";
import { visible } from "/assets/written_text.js";

const kWidth = 470, kHeight = 800;
const kLeft = 56, kRight = 270, kBlock = 160;
const kGap = 13, kFloor = 712; // between blocks, where a wire is seen; the lower edge of the embeddings

// The blocks of each side from below upwards, as the model computes them: [name, height, type, text]. `in` and `out`
// are where the way around a sub-layer begins and where it is added.
const kSubLayer = {
  post: (prefix, sub, height, type, text) => [[`${prefix}-${sub}`, height, type, text], [`${prefix}-${sub}-norm`, 28, "norm", "machine.norm"]],
  pre: (prefix, sub, height, type, text) => [[`${prefix}-${sub}-norm`, 28, "norm", "machine.normFirst"], [`${prefix}-${sub}`, height, type, text], [`${prefix}-${sub}-add`, 22, "norm", "machine.add"]],
};

function columnsOf({ norm_order: order, ...model }) {
  const alone = isAlone(model), position = (prefix) => (addsPositions(model) ? [[`${prefix}-position`, 30, "embed", "machine.position"]] : []);
  const sub = kSubLayer[order] ?? kSubLayer.post, final = (prefix) => (order === "pre" ? [[`${prefix}-final`, 28, "norm", "machine.finalNorm"]] : []);
  if (isReader(model)) return { encoder: readerColumn({ norm_order: order, ...model }, sub, final), decoder: [] };
  return {
    encoder: alone ? [] : [["e-embed", 32, "embed", "machine.embed"], ...position("e"), ...sub("e", "self", 76, "attention", "machine.self"),
      ...sub("e", "feed", 46, "feed", "machine.feed"), ...final("e"), ["e-memory", 30, "norm", "machine.memory"]],
    decoder: [["d-embed", 32, "embed", alone ? "machine.embed" : "machine.shift"], ...position("d"), ...sub("d", "self", 76, "attention", "machine.masked"),
      ...(alone ? [] : sub("d", "cross", 76, "attention", "machine.cross")), ...sub("d", "feed", 46, "feed", "machine.feed"), ...final("d"), ["d-softmax", 92, "out", "machine.softmax"], ["d-output", 40, "out", null]],
  };
}

// The blocks of an encoder: a head stands in the place of the decoder.
function readerColumn(model, sub, final) {
  return [["e-embed", 32, "embed", "machine.embed"], ...(addsPositions(model) ? [["e-position", 30, "embed", "machine.position"]] : []),
    ...(model.segments > 0 || model.embedding_norm ? [["e-embed-norm", 28, "norm", "machine.embedNorm"]] : []), ...sub("e", "self", 76, "attention", "machine.self"), ...sub("e", "feed", 46, "feed", "machine.feed"), ...final("e"),
    ...(model.head === "classes" && model.class_pooling === "pooler" ? [["e-pool", 30, "norm", "machine.pool"]] : []), ["e-answer", 92, "out", "machine.head"]];
}

/// The blocks with their places, {name: {x, y, h, type, name}}, of a model.
export function blocksOf(model) {
  const alone = isAlone(model), blocks = alone ? {} : { "e-input": { x: kLeft, y: 750, h: 40, type: "text" } };
  const { encoder, decoder } = isRecurrent(model) ? recurrentColumns(model) : isConvolutional(model) ? convolutionalColumns() : columnsOf(model);
  [[encoder, kLeft], [decoder, alone ? kLeft : kRight]].forEach(([column, x]) => {
    if (!column.length) return;
    const height = column.reduce((sum, [, h]) => sum + h, 0), gap = Math.min(kGap, (kFloor - 8 - height) / (column.length - 1));
    let y = kFloor;
    for (const [name, h, type, text] of column) {
      y -= h;
      blocks[name] = { x, y, h, type, name: text };
      y -= gap;
    }
  });
  if (alone) blocks["d-cache"] = { x: kRight, y: blocks["d-self"].y, h: 76, type: "attention", name: "machine.cache" };
  return blocks;
}

// Where the window goes for a stage when it follows.
function windowOf(box, follows) {
  if (!follows || !box) return [0, 0, kWidth, kHeight];
  const { x, y, h } = box;
  const width = 300, height = (width * kHeight) / kWidth;
  const top = Math.min(Math.max(y + h / 2 - height / 2, 0), kHeight - height);
  return [Math.min(Math.max(x - 80, 0), kWidth - width), top, width, height];
}

const middle = (block) => block.x + kBlock / 2;

// What a thin block is drawn with once its numbers have been fetched: the part and its matrix.
function stripOf(name, layer, model) {
  const isPre = model.norm_order === "pre", stack = stackOf(model, name.startsWith("e-") ? "encoder" : "decoder");
  const residual = (module, value) => [{ part: "residual", path: `${stack}layers.${layer}.${module}` }, value];
  return {
    "e-embed": [{ part: "embedding", path: `${stack}embedding` }, "words"],
    "e-embed-norm": [{ part: "embedding", path: `${stack}embedding` }, "result"],
    "e-position": [{ part: "embedding", path: `${stack}embedding` }, "sum"],
    "e-self-norm": residual("self_attention", isPre ? "read" : "result"), "e-self-add": residual("self_attention", "result"),
    "e-feed-norm": residual("feed_forward", isPre ? "read" : "result"), "e-feed-add": residual("feed_forward", "result"),
    "e-memory": [{ part: "output", path: "encoder" }, "output"], "e-final": [{ part: "output", path: "encoder" }, "output"],
    "d-embed": [{ part: "embedding", path: `${stack}embedding` }, "words"],
    "d-position": [{ part: "embedding", path: `${stack}embedding` }, "sum"],
    "d-self-norm": residual("self_attention", isPre ? "read" : "result"), "d-self-add": residual("self_attention", "result"),
    "d-cross-norm": residual("cross_attention", isPre ? "read" : "result"), "d-cross-add": residual("cross_attention", "result"),
    "d-feed-norm": residual("feed_forward", isPre ? "read" : "result"), "d-feed-add": residual("feed_forward", "result"),
    "d-final": [{ part: "output", path: "decoder" }, "output"],
  }[name];
}

// The words that pieces spell so far.
function spelled(pieces) {
  return pieces.join("").replaceAll("\u2581", " ").replace("<s>", "⟨s⟩ ").replace("</s>", "").trim().split(/\s+/);
}

// How a piece of the output is written.
const labelOf = (sentence) => (sentence.isAlone ? visible : (piece) => piece.replace("\u2581", "") || "␣");

function wire(points, className = "wire") {
  return svg("path", { d: `M${points.map((p) => p.join(" ")).join("L")}`, class: className, "marker-end": "url(#arrow)" });
}

// The frame of a stack: from its first block to the last one inside it.
function frame(blocks, [first, last], layers, current, name) {
  const { x } = blocks[first], top = blocks[last].y - 12, bottom = blocks[first].y + blocks[first].h + 12;
  return svg("g", {},
    svg("rect", { x: x - 12, y: top, width: kBlock + 24, height: bottom - top, rx: 14, class: "stack" }),
    svg("text", { x: x < 200 ? x - 20 : x + kBlock + 20, y: (top + bottom) / 2 - 8 * layers - 6, class: "layers", "text-anchor": "middle" }, `${layers}×`),
    Array.from({ length: Math.min(layers, 24) }, (_, layer) => svg("circle", {
      cx: x < 200 ? x - 20 : x + kBlock + 20, cy: (top + bottom) / 2 + 8 * layers - layer * 16, r: layer === current ? 5 : 3.4,
      class: layer === current ? "layer on" : "layer",
    }, svg("title", {}, `${name} ${layer + 1}`))));
}

export class Machine {
  /// @param onBlock(name): a block was chosen
  constructor(onBlock) {
    this.onBlock = onBlock;
    this.follows = false;
    this.window = [0, 0, kWidth, kHeight];
    this.canvas = svg("svg", { viewBox: this.window.join(" "), class: "machine", role: "group" });
    this.whole = el("button", { class: "icon quiet whole", on: { click: () => this.toggle() } }, icon(kIcons.whole));
    this.element = el("div", { class: "machine-box card" }, this.whole, this.canvas);
  }

  toggle() {
    this.follows = !this.follows;
    this.move();
  }

  /// Draws the machine at a stage.
  update(sentence, stage) {
    this.stage = stage;
    const block = blockOf(stage), order = sentence.model.norm_order, last = order === "pre" ? "add" : "norm", first = (prefix) => `${prefix}-self${order === "pre" ? "-norm" : ""}`;
    this.blocks = blocksOf(sentence.model);
    const stacks = isRecurrent(sentence.model) ? { e: ["e-forward", "e-backward"], d: ["d-cell", "d-cell"] } : isConvolutional(sentence.model) ? { e: ["e-conv", "e-conv-add"], d: ["d-conv", "d-conv-add"] }
      : { e: [first("e"), `e-feed-${last}`], d: [first("d"), `d-feed-${last}`] };
    const layerOf = (side) => (stage.side === side && stage.layer !== undefined ? stage.layer : -1);
    replace(this.canvas,
      svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
        svg("path", { d: "M0 0L8 4L0 8Z", class: "arrow" }))),
      sentence.isAlone ? null : frame(this.blocks, stacks.e, sentence.model.encoder_layers, layerOf("encoder"), t(sentence.isReader ? "stack" : "encoder")),
      sentence.isReader ? null : frame(this.blocks, stacks.d, sentence.model.decoder_layers, layerOf("decoder"), t(sentence.isAlone ? "stack" : "decoder")),
      this.wires(sentence.model),
      Object.keys(this.blocks).map((name) => this.block(name, sentence, stage, name === block)));
    this.canvas.setAttribute("aria-label", t(isRecurrent(sentence.model) ? "machine.cells" : isConvolutional(sentence.model) ? "machine.convolutions" : "machine.label"));
    this.whole.setAttribute("aria-label", t("machine.zoom"));
    this.whole.title = t("machine.zoom");
    this.move();
  }

  wires(model) {
    const { blocks } = this, isPre = model.norm_order === "pre", alone = isAlone(model), reads = isReader(model);
    const columns = (alone ? [["d-", kLeft]] : reads ? [["e-", kLeft]] : [["e-", kLeft], ["d-", kRight]]).map(([prefix, x]) => {
      const boxes = Object.entries(blocks).filter(([name]) => name.startsWith(prefix) && name !== "e-input" && name !== "d-cache").map(([, box]) => box).sort((a, b) => b.y - a.y);
      const middleX = x + kBlock / 2;
      return [wire([[middleX, 750], [middleX, boxes[0].y + boxes[0].h + 2]]), boxes.slice(1).map((box, i) => wire([[middleX, boxes[i].y], [middleX, box.y + box.h + 2]]))];
    });
    // Each way around a sub-layer begins below its first block and ends where it is added.
    const ends = (prefix, sub) => blocks[`${prefix}-${sub}-add`] ?? blocks[`${prefix}-${sub}-norm`];
    const around = [["e", "self"], ["e", "feed"], ["e", "conv"], ["d", "self"], ["d", "cross"], ["d", "feed"], ["d", "conv"]].filter(([prefix, sub]) => ends(prefix, sub)).map(([prefix, sub]) => {
      const from = blocks[`${prefix}-${sub}${isPre ? "-norm" : ""}`], to = ends(prefix, sub);
      const below = from.y + from.h + 5, beside = to.y + to.h / 2, x = from.x - 7;
      return wire([[middle(from), below], [x, below], [x, beside], [to.x - 1, beside]], "wire thin");
    });
    if (alone) {
      const self = blocks["d-self"], cache = blocks["d-cache"];
      return svg("g", {}, columns, around, wire([[self.x + kBlock, self.y + 26], [cache.x - 2, cache.y + 26]], "wire strong"), wire([[cache.x, cache.y + 52], [self.x + kBlock + 2, self.y + 52]], "wire strong"));
    }
    if (reads) return svg("g", {}, columns, around);
    const memory = blocks["e-memory"] ?? blocks["e-summary"], cross = blocks["d-cross"] ?? blocks["d-cell"];
    return svg("g", {}, columns, around,
      wire([[memory.x + kBlock, memory.y + memory.h / 2], [240, memory.y + memory.h / 2], [240, cross.y + 38], [cross.x - 2, cross.y + 38]], "wire strong"));
  }

  block(name, sentence, stage, isCurrent) {
    const box = this.blocks[name];
    const text = box.name ? t(box.name) : "";
    const group = svg("g", {
      class: `block ${box.type}${isCurrent ? " on" : ""}`, tabindex: 0, role: "button",
      "aria-label": text || t(name === "e-input" ? "machine.input" : "machine.output"), "aria-current": isCurrent ? "step" : null,
      on: {
        click: () => this.onBlock(name),
        keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.onBlock(name); } },
      },
    }, svg("rect", { x: box.x, y: box.y, width: kBlock, height: box.h, rx: 8 }));
    if (text) {
      group.append(svg("text", { x: middle(box), y: box.h > 40 ? box.y + 15 : box.h < 26 ? box.y + box.h / 2 + 5 : box.y + box.h / 2 + 2, "text-anchor": "middle" }, text));
    }
    this.fill(group, name, box, sentence, stage);
    return group;
  }

  // The live values inside a block.
  fill(group, name, box, sentence, stage) {
    const layer = stage.layer ?? 0;
    const step = stage.step ?? 0;
    const picture = (canvas, x, y, w, h) => group.append(svg("image", {
      href: canvas.toDataURL(), x, y, width: w, height: h, preserveAspectRatio: "none", class: "pixels",
    }));
    const attention = (path, options) => {
      const { columns, rows } = sentence.head(path, 0);
      const values = sentence.mean(path);
      const w = Math.min(kBlock - 16, 52 * Math.max(1, Math.min(2.4, columns.length / rows.length)));
      picture(thumbnail({ values, nColumns: columns.length, kind: "weights", largest: 0.6, ...options }), middle(box) - w / 2, box.y + 21, w, 50);
    };
    const inDecoder = stage.side === "decoder";
    const begun = (r) => !inDecoder || r > step;
    if (name === "e-self") attention(`${stackOf(sentence.model, "encoder")}layers.${stage.side === "encoder" ? layer : sentence.model.encoder_layers - 1}.self_attention`, {});
    if (name === "e-answer" && sentence.shares().length) this.shares(group, box, sentence.shares());
    if (name === "d-self" && inDecoder) attention(`${stackOf(sentence.model, "decoder")}layers.${layer}.self_attention`, { later: begun, hidden: (r, c) => c > r });
    if (name === "d-cross" && inDecoder) attention(sentence.attentions("cross")[Math.min(layer, sentence.attentions("cross").length - 1)], { later: begun });
    if (name === "e-input") this.words(group, box, sentence.source.text.split(/\s+/));
    if (name === "d-embed") {
      const read = sentence.target.input_pieces.slice(0, inDecoder ? step + 1 : sentence.firstStep + 1);
      this.words(group, { ...box, y: 750, h: 40 }, sentence.isAlone ? sentence.joined(read).split(/\s+/) : spelled(read));
    }
    if (name === "d-cache" && inDecoder) this.cache(picture, box, sentence, layer, step);
    const ends = inDecoder && stage.kind !== "choose" && stage.kind !== "beam" ? step : step + 1; // words chosen so far
    if (name === "d-output") {
      const chosen = sentence.target.pieces.slice(sentence.firstStep, ends);
      this.words(group, box, !inDecoder ? [] : sentence.isAlone ? sentence.joined(chosen).split(/\s+/) : spelled(chosen));
    }
    if (name === "d-softmax" && inDecoder && ends > sentence.firstStep) this.bars(group, box, sentence.candidates.steps[ends - 1], labelOf(sentence));
    this.strip(name, box, picture, sentence, stage);
    const rows = sentence.ready(convolutionalRows(name, Math.min(layer, sentence.model.encoder_layers - 1)))?.gated;
    if (rows) picture(thumbnail({ values: rows.values, nColumns: rows.shape[1], kind: "signed", later: name === "d-conv" ? begun : undefined }), box.x + 8, box.y + 21, kBlock - 16, 48);
    const states = sentence.ready(recurrentStrip(name, Math.min(layer, sentence.model.layers - 1)))?.state;
    if (states) picture(thumbnail({ values: states.values, nColumns: states.shape[1], kind: "signed", later: name === "d-cell" ? begun : undefined }), box.x + 8, box.y + 21, kBlock - 16, 48);
    const strip = { "e-feed": "encoder", "d-feed": "decoder" }[name];
    const hidden = strip && sentence.ready({ part: "feed_forward", path: `${stackOf(sentence.model, strip)}layers.${layer}.feed_forward` });
    if (hidden) picture(thumbnail({ values: hidden.active.values, nColumns: hidden.active.shape[1], kind: "signed" }), box.x + 8, box.y + 21, kBlock - 16, 17);
  }

  // The keys and values of a layer that the cache holds, once they have been fetched: it fills from above.
  cache(picture, box, sentence, layer, step) {
    const part = sentence.ready({ part: "attention", path: `layers.${layer}.self_attention` }) ?? sentence.ready({ part: "head", path: `layers.${layer}.self_attention`, head: 0 });
    if (!part) return;
    ["key", "value"].forEach((name, i) => {
      const { shape, values } = part[name], w = (kBlock - 24) / 2;
      picture(thumbnail({ values, nColumns: shape[1], kind: "signed", later: (r) => r > step }), box.x + 8 + i * (w + 8), box.y + 22, w, 48);
    });
  }

  // The rows of a thin block, as a line of colours along its lower edge.
  strip(name, box, picture, sentence, stage) {
    const isDecoder = name.startsWith("d-");
    if (isDecoder && stage.side !== "decoder") return;
    const layer = isDecoder || stage.side === "encoder" ? stage.layer ?? 0 : sentence.model.encoder_layers - 1;
    if (box.h < 26) return;
    const wanted = (isConvolutional(sentence.model) && convolutionalStrip(name, layer)) || stripOf(name, layer, sentence.model);
    const part = wanted && sentence.ready(wanted[0])?.[wanted[1]];
    if (!part) return;
    const width = part.shape[1];
    const row = isDecoder ? stage.step : -1;
    const values = row < 0 ? part.values : part.values.slice(row * width, (row + 1) * width);
    picture(thumbnail({ values, nColumns: width, kind: "signed" }), box.x + 8, box.y + box.h - 6, kBlock - 16, 4);
  }

  words(group, box, words) {
    const lines = [""];
    for (const word of words) {
      if (lines.at(-1).length + word.length > 19) lines.push("");
      lines[lines.length - 1] += `${word} `;
    }
    const shown = lines.length > 2 ? [`… ${lines.at(-2)}`, lines.at(-1)] : lines;
    shown.forEach((line, i) => group.append(svg("text", {
      x: middle(box), y: box.y + box.h / 2 + 4 + (i - (shown.length - 1) / 2) * 14, "text-anchor": "middle", class: "words",
    }, line.trim())));
  }

  bars(group, box, candidates, label) {
    candidates.pieces.slice(0, 4).forEach((piece, i) => {
      const y = box.y + 24 + i * 16, width = Math.max(1, candidates.probabilities[i] * 40);
      group.append(
        svg("text", { x: box.x + 74, y: y + 9, "text-anchor": "end", class: "words" }, label(piece).slice(0, 8)),
        svg("rect", { x: box.x + 78, y, width, height: 10, rx: 2, class: candidates.ids[i] === candidates.chosen_id ? "bar on" : "bar" }),
        svg("text", { x: box.x + 82 + width, y: y + 9, class: "words number" }, show(candidates.probabilities[i], 2)));
    });
  }

  // What the head of an encoder finds likely.
  shares(group, box, shares) {
    this.bars(group, box, { ids: shares.map((_, i) => i), chosen_id: 0, pieces: shares.map(({ name }) => name), probabilities: shares.map(({ share }) => share) }, (name) => name);
  }

  // Moves the window over 500 ms, or at once for those who want less motion.
  move() {
    const to = windowOf(this.stage && this.blocks?.[blockOf(this.stage)], this.follows);
    const from = this.window;
    this.whole.setAttribute("aria-pressed", String(!this.follows));
    cancelAnimationFrame(this.frame);
    const begin = performance.now(), time = isCalm() ? 0 : 500;
    const tick = (now) => {
      const part = time ? Math.min((now - begin) / time, 1) : 1;
      const eased = part < 0.5 ? 4 * part ** 3 : 1 - (-2 * part + 2) ** 3 / 2;
      this.window = from.map((value, i) => value + (to[i] - value) * eased);
      this.canvas.setAttribute("viewBox", this.window.join(" "));
      if (part < 1) this.frame = requestAnimationFrame(tick);
    };
    tick(begin);
  }
}
