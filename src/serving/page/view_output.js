// The soft-max over the vocabulary, with the temperature acting on all of the step's real logits, and the beam tree.
import { percent, show } from "/assets/colour.js";
import { el, svg } from "/assets/dom.js";
import { product, transposed } from "/assets/product.js";
import { pieceLabel, rowOf } from "/assets/sentence.js";
import { spell } from "/assets/story_facts.js";
import { t } from "/assets/strings.js";
import { precisionNote } from "/assets/view_attention.js";
import { lawful, tablePath } from "/assets/view_words.js";
import { visible } from "/assets/written_text.js";

/// How a piece of the output is written alone.
export const labelOf = (sentence) => (sentence.isAlone ? visible : pieceLabel);

/// log(sum(exp(z / temperature))) over all logits.
export function logSumExp(logits, temperature) {
  const largest = logits.reduce((best, value) => Math.max(best, value), -Infinity) / temperature;
  return largest + Math.log(logits.reduce((sum, value) => sum + Math.exp(value / temperature - largest), 0));
}

export async function chooseView(context) {
  const { sentence, stage, state } = context;
  const candidates = sentence.candidates.steps[stage.step];
  const part = await sentence.part({ part: "logits", step: stage.step });
  const logits = part.logits.values;
  const bars = el("div", { class: "bars candidates" });
  const facts = el("p", { class: "note number" });
  const label = el("output", { class: "number", for: "temperature" });

  function draw(temperature) {
    const normaliser = logSumExp(logits, temperature);
    let entropy = 0;
    for (const value of logits) {
      const log = value / temperature - normaliser;
      entropy -= Math.exp(log) * log;
    }
    bars.replaceChildren(...candidates.ids.flatMap((id, i) => {
      const probability = Math.exp(candidates.logits[i] / temperature - normaliser);
      return [
        el("span", { class: id === candidates.chosen_id ? "piece chosen" : "piece" }, labelOf(sentence)(candidates.pieces[i])),
        el("span", { class: "track" }, el("span", { class: id === candidates.chosen_id ? "fill chosen" : "fill", style: { width: `${(100 * probability).toFixed(2)}%` } })),
        el("span", { class: "number" }, percent(probability)),
        el("span", { class: "number note" }, show(candidates.logits[i], 2)),
      ];
    }));
    label.textContent = temperature.toFixed(2);
    facts.textContent = t("choose.facts", { entropy: show(entropy, 2), size: sentence.candidates.vocab_size, sum: show(normaliser, 3) });
  }
  const slider = el("input", { type: "range", id: "temperature", min: 0.1, max: 3, step: 0.05, value: state.temperature,
    on: { input: () => { state.temperature = Number(slider.value); draw(state.temperature); } } });
  draw(state.temperature);
  return el("div", {},
    el("p", { class: "quote" }, sentence.isAlone ? sentence.joined(sentence.target.input_pieces.slice(0, stage.step + 1)) : [spell(sentence.target.pieces.slice(0, stage.step)), " "],
      el("mark", {}, sentence.targetLabels[stage.step])),
    el("div", { class: "temperature" }, el("label", { for: "temperature" }, t("choose.temperature")), slider, label,
      el("button", { on: { click: () => { slider.value = 1; state.temperature = 1; draw(1); } } }, "τ = 1")),
    el("div", { class: "bars candidates heads-row note", "aria-hidden": "true" }, el("span", {}, t("choose.token")), el("span", {}), el("span", {}, "p"), el("span", {}, "z")),
    lawful(bars, "probabilities", { logits: logits, candidates: candidates, log_sum_exp: part.log_sum_exp }), facts,
    await logitsProduct(sentence, stage, candidates), precisionNote(sentence));
}

// The logits of the likeliest pieces: the last vector times their rows of the output matrix.
async function logitsProduct(sentence, stage, candidates) {
  const { model } = sentence, path = model.tying === "none" ? "output.weight" : tablePath(model, true);
  const { output } = await sentence.part({ part: "output", path: "decoder" });
  const rows = (await sentence.part({ part: "parameter", path, rows: candidates.ids })).parameter;
  const whole = model.output_bias ? (await sentence.part({ part: "parameter", path: "output.bias" })).parameter : null;
  const width = output.shape[1], symbol = model.tying === "none" ? "W out" : model.tying === "all" ? "E" : "E target";
  return product({ law: "linear", rows: [sentence.inputLabels[stage.step]], columns: candidates.pieces.map(labelOf(sentence)),
    left: { symbol: "h", shape: [1, width], values: rowOf(output, stage.step) }, right: { symbol: `${symbol}^T`, ...transposed(rows) },
    bias: whole ? { symbol: "b", values: candidates.ids.map((id) => whole.values[id]) } : null,
    result: { symbol: "z", shape: [1, candidates.ids.length], values: candidates.logits } });
}

const kColumn = 112, kLine = 34;

/// The tree of all hypotheses that the beam search kept; what was dropped ends in a short stroke.
export function beamView({ sentence }) {
  const { nodes, finished, beam_size: beamSize } = sentence.beam;
  const leaves = new Map(finished.map((leaf, rank) => [leaf.node, { ...leaf, rank }]));
  const best = new Set();
  for (let node = finished[0]?.node ?? -1; node >= 0; node = nodes[node].parent) best.add(node);
  const rankInStep = [];
  const places = nodes.map((node) => {
    rankInStep[node.step] = (rankInStep[node.step] ?? 0) + 1;
    return { x: 78 + node.step * kColumn, y: 26 + (rankInStep[node.step] - 1) * kLine };
  });
  const hasChild = new Set(nodes.map((node) => node.parent));
  const width = 78 + rankInStep.length * kColumn + 60, height = 30 + kLine * Math.max(...rankInStep, 1) + 10;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "beam", "aria-label": t("beam.label", { count: nodes.length }) });
  nodes.forEach((node, i) => {
    const from = node.parent < 0 ? { x: 20, y: 26 } : places[node.parent], to = places[i];
    const start = from.x + (node.parent < 0 ? 20 : 74);
    drawing.append(svg("path", {
      d: `M${start} ${from.y}C${start + 20} ${from.y} ${to.x - 22} ${to.y} ${to.x - 2} ${to.y}`,
      class: best.has(i) ? "edge best" : "edge", "stroke-width": (0.8 + 4 * Math.exp(node.log_prob)).toFixed(2),
    }));
  });
  drawing.append(svg("text", { x: 20, y: 30, class: "start" }, "⟨s⟩"));
  nodes.forEach((node, i) => {
    const { x, y } = places[i];
    const leaf = leaves.get(i);
    const state = best.has(i) ? "best" : leaf ? "leaf" : hasChild.has(i) ? "alive" : "dropped";
    const piece = pieceLabel(node.piece);
    drawing.append(svg("g", { class: `node ${state}` },
      svg("title", {}, t("beam.node", { piece, p: show(Math.exp(node.log_prob), 3), score: show(node.score, 3) })),
      svg("rect", { x, y: y - 12, width: 74, height: 24, rx: leaf ? 12 : 5 }),
      svg("text", { x: x + 6, y: y + 4 }, piece.length > 7 ? `${piece.slice(0, 6)}…` : piece),
      svg("text", { x: x + 70, y: y + 4, "text-anchor": "end", class: "number p" }, show(Math.exp(node.log_prob), 2).replace("0.", "."))));
    if (leaf) drawing.append(svg("text", { x: x + 78, y: y + 4, class: "rank" }, `#${leaf.rank + 1}`));
  });
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("beam.scroll") }, drawing);
  requestAnimationFrame(() => { scroll.scrollLeft = Math.max(branching(nodes, best) * kColumn - 40, 0); }); // once it has its width
  return el("div", {},
    scroll,
    el("p", { class: "beam-keys note" }, ["best", "alive", "leaf", "dropped"].map((name) => el("span", { class: `key ${name}` }, t(`beam.${name}`)))),
    el("table", { class: "ranking" },
      el("caption", { class: "hidden" }, t("beam.table")),
      el("thead", {}, el("tr", {}, [t("beam.rank"), t("beam.text"), "log P", "log P / lp"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, finished.map((leaf, rank) => el("tr", {}, el("td", { class: "number" }, rank + 1),
        el("td", {}, textOf(nodes, leaf.node) || "∅"), el("td", { class: "number" }, show(leaf.score)), el("td", { class: "number" }, show(leaf.normalised_score)))))),
    el("p", { class: "note" }, t("beam.note", { beam: beamSize, alpha: sentence.beam.alpha })));
}

// The last step at which a hypothesis beside the best lived on: there the choice was made.
function branching(nodes, best) {
  const parents = new Set(nodes.map((node) => node.parent));
  return nodes.reduce((last, node, i) => (!best.has(i) && parents.has(i) ? Math.max(last, node.step - 1) : last), 0);
}

function textOf(nodes, leaf) {
  const pieces = [];
  for (let node = leaf; node >= 0; node = nodes[node].parent) pieces.unshift(nodes[node].piece);
  return pieces.filter((piece) => piece !== "</s>").join("").replaceAll("\u2581", " ").trim();
}
