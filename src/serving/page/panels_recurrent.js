// Below the study of a model without self-attention: the alignment of both sentences, the states that flow through a
// recurrent model, and the words that a state of a convolutional model has seen.
import { el, replace } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { attends, isConvolutional, isRecurrent, kDirections } from "/assets/model_facts.js";
import { signedLimit } from "/assets/colour.js";
import { t } from "/assets/strings.js";
import { reachMap } from "/assets/view_convolutional.js";
import { movementBars } from "/assets/view_recurrent.js";

function alignment(sentence, onChoose) {
  const paths = sentence.attentions("cross"), rows = sentence.targetLabels, columns = sentence.sourceLabels;
  return el("section", { class: "card panel wide" }, el("h2", {}, t("alignment.title")), el("p", { class: "note" }, t(paths.length > 1 ? "alignment.layers" : "alignment.note")),
    el("div", { class: paths.length > 1 ? "two even" : "" }, paths.map((path, layer) => el("div", {}, paths.length > 1 ? el("h3", {}, `${t("layer")} ${layer + 1}`) : null,
      heatmap({ rows, columns, values: sentence.mean(path), kind: "weights", maxCell: 40, maxHeight: 460, label: t("alignment.title"), onCell: (row) => onChoose(path, row) })))),
    legend("weights"));
}

// A part of /v1/inspect that is drawn when it is there.
function late(wanted, draw) {
  const room = el("div", { "aria-busy": "true" });
  wanted.then((part) => { replace(room, draw(part)); room.removeAttribute("aria-busy"); }, (error) => replace(room, el("p", { class: "error" }, error.message)));
  return room;
}

function states(sentence) {
  const { model } = sentence, layers = Array.from({ length: model.layers }, (_, layer) => layer), several = model.layers > 1;
  const one = (title, path, labels, letter) => el("div", {}, el("h3", {}, title), late(sentence.part({ part: "cell", path }), (cell) => [
    heatmap({ rows: labels, columns: null, values: cell.state.values, kind: "signed", largest: signedLimit(cell.state.values), label: title, rowHeight: 14 }), movementBars(cell, labels, { letter })]));
  const name = (key, layer) => `${t(key)}${several ? `, ${t("layer")} ${layer + 1}` : ""}`;
  return el("section", { class: "card panel wide" }, el("h2", {}, t("flow.title")), el("p", { class: "note" }, t("flow.note")),
    el("div", { class: "two even" },
      el("div", {}, layers.flatMap((layer) => kDirections.map((direction) => one(name(`flow.${direction}`, layer), `encoder.layers.${layer}.${direction}`, sentence.sourceLabels, "h")))),
      el("div", {}, layers.map((layer) => one(name("flow.decoder", layer), `decoder.layers.${layer}`, sentence.inputLabels, "s")))));
}

// Without attention the summary is all that the decoder has of the source.
function bottleneck(sentence) {
  return el("section", { class: "card panel wide" }, el("h2", {}, t("stage.bottleneck")), late(sentence.part({ part: "first_state", path: "decoder.layers.0" }), ({ summary }) => [
    el("p", { class: "finding" }, t("bottleneck.finding", { count: sentence.sourceLabels.length, width: summary.shape[1], numbers: sentence.sourceLabels.length * summary.shape[1] })),
    heatmap({ rows: ["[\u2192h, \u2190h]"], columns: null, values: summary.values, kind: "signed", label: t("stage.bottleneck"), rowHeight: 22 })]));
}

// One side: the state of a word in the last layer, and the words that it has seen. Another word can be chosen.
function reachOfSide({ model }, side, labels, layers, row) {
  const room = el("div", { class: "reach" });
  const draw = (chosen) => replace(room, el("h3", {}, t(`reach.${side}`)),
    el("div", { class: "word-picker", role: "group", "aria-label": t("reach.pick") }, labels.map((label, i) => el("button", { class: "token", "aria-pressed": String(i === chosen), on: { click: () => again(i) } }, label))),
    reachMap(model, { side, layers, row: chosen, labels, onRow: again }));
  const again = (chosen) => {
    const place = [...room.querySelectorAll("button, canvas")].indexOf(document.activeElement);
    draw(chosen);
    room.querySelectorAll("button, canvas")[place]?.focus({ preventScroll: true });
  };
  draw(row);
  return room;
}

function reaches(sentence) {
  const { model } = sentence;
  return el("section", { class: "card panel wide" }, el("h2", {}, t("reach.title")), el("p", { class: "note" }, t("reach.note")),
    el("div", { class: "two even" }, reachOfSide(sentence, "encoder", sentence.sourceLabels, model.encoder_layers, sentence.followed),
      reachOfSide(sentence, "decoder", sentence.inputLabels, model.decoder_layers, sentence.steps - 1)));
}

/// The panels.  @param onChoose(path, row): a row of an attention was chosen
export function panelsOf(sentence, onChoose) {
  return [attends(sentence.model) ? alignment(sentence, onChoose) : bottleneck(sentence), isRecurrent(sentence.model) ? states(sentence) : isConvolutional(sentence.model) ? reaches(sentence) : null];
}
