// What stands below an empty page: what the model knows, and sentences that it can be tried with.
import { show } from "/assets/colour.js";
import { el, groupedNumber } from "/assets/dom.js";
import { inLanguage, languageName } from "/assets/languages.js";
import { t } from "/assets/strings.js";

function facts({ training, parameters }) {
  const best = training.validation.filter((point) => point.is_best).at(-1);
  const lastStep = Math.max(...[...training.train, ...training.validation].map((point) => point.step), 0);
  return [
    t("start.parameters", { count: groupedNumber(parameters.total) }),
    lastStep ? t("start.steps", { count: groupedNumber(lastStep) }) : null,
    Number.isFinite(best?.bleu) ? t("start.bleu", { bleu: show(best.bleu, 1) }) : null,
    Number.isFinite(best?.accuracy) ? t("read.startAccuracy", { accuracy: show(best.accuracy, 1) }) : null,
    Number.isFinite(best?.perplexity) && !Number.isFinite(best?.bleu) && !Number.isFinite(best?.accuracy) ? t("write.startLoss", { perplexity: show(best.perplexity, 2) }) : null,
  ].filter(Boolean).join(" · ");
}

// The other pairs of this server.
function pairsOf(list) {
  return list.flatMap((language) => language.targets.filter((code) => code !== language.code).map((code) => [language.code, code]));
}

/// @param onTake  called with the sentence that was chosen
export function firstScreen({ card, pair, list, onTake }) {
  const name = (code) => languageName(code, list);
  const pairs = pairsOf(list);
  return el("section", { class: "card start" },
    el("h2", {}, t("start.title", { source: name(pair.source), target: name(pair.target) })),
    el("p", { class: "note" }, facts(card)),
    pairs.length > 1 ? el("p", { class: "note" }, t("start.pairs", { pairs: pairs.map(([from, to]) => `${name(from)} → ${name(to)}`).join(", ") })) : null,
    card.examples.length ? [
      el("h3", {}, t("start.try")),
      el("ul", { class: "tries" }, card.examples.map((text) => el("li", {}, el("button", { ...inLanguage(pair.source), on: { click: () => onTake(text) } }, text)))),
      el("p", { class: "note" }, t("start.note")),
    ] : null);
}

/// The same for a language model: what it knows, and beginnings of texts. @param onTake  called with the one that was chosen
export function startOfWriting({ card, model, onTake }) {
  return el("section", { class: "card start" },
    el("h2", {}, t("write.startTitle", { model })), el("p", { class: "note" }, facts(card)),
    card.examples.length ? [
      el("h3", {}, t("write.startTry")),
      el("ul", { class: "tries" }, card.examples.map((text) => el("li", {}, el("button", { translate: "no", on: { click: () => onTake(text) } }, text)))),
    ] : null,
    el("p", { class: "note" }, t("write.startNote")));
}

/// The same for an encoder: what it knows, and its labels.
export function startOfReading({ card, model }) {
  const kMost = 24, names = card.labels ?? [];
  const shown = names.slice(0, kMost).join(t("list.comma")) + (names.length > kMost ? " …" : "");
  return el("section", { class: "card start" },
    el("h2", {}, t("read.startTitle", { model })), el("p", { class: "note" }, facts(card)),
    names.length ? el("p", { class: "note", translate: "no" }, t("read.startLabels", { count: names.length, labels: shown })) : null);
}
