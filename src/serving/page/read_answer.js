// The answers of an encoder as elements: bars for labels, coloured words, candidates for masks, how alike two texts are.
import { headColour, percent, show } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { said, t } from "/assets/strings.js";

const kMostLabels = 20;

// The type of a tag such as B-PER: PER. "O" and the like, which mark no span, have none.
export const typeOf = (tag) => (tag === "O" ? "" : tag.replace(/^[BIESLU]-/, ""));

/// The cosine of the angle between two vectors; 0 if one of them has no length.
export function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length > 0 ? dot(a, b) / length : 0;
}

/// A text in parts: {text} between words, {text, tag, probability} for a word. Places count characters, as code points.
export function taggedParts(text, words) {
  const characters = [...text], parts = [];
  let at = 0;
  for (const { tag, probability, start, end } of words) {
    if (start > at) parts.push({ text: characters.slice(at, start).join("") });
    parts.push({ text: characters.slice(start, end).join(""), tag, probability });
    at = end;
  }
  if (at < characters.length) parts.push({ text: characters.slice(at).join("") });
  return parts;
}

/// A line of bars: a name, its share as a bar and as a number.
export function bar(name, share, isChosen, node = null) {
  const chosen = isChosen ? " chosen" : "";
  return [el("span", { class: `piece${chosen}` }, node ?? name),
    el("span", { class: "track" }, el("span", { class: `fill${chosen}`, style: { width: `${(100 * share).toFixed(2)}%` } })),
    el("span", { class: "number" }, percent(share))];
}

const classify = {
  elements: ({ data }) => {
    const { labels } = data[0];
    return [el("div", { class: "bars shares" }, labels.slice(0, kMostLabels).map(({ label, probability }, i) => bar(label, probability, i === 0))),
      labels.length > kMostLabels ? el("p", { class: "note" }, t("read.moreLabels", { count: labels.length - kMostLabels })) : null];
  },
  spoken: ({ data }) => `${data[0].label}: ${percent(data[0].probability)}`,
};

const tag = {
  elements: ({ text, data }, { labels }) => {
    const types = [...new Set(labels.map(typeOf).filter(Boolean))];
    return [el("p", { class: "tagged", translate: "no" }, taggedParts(text, data[0].words).map((part) => {
      const type = part.tag && typeOf(part.tag);
      if (!type) return part.text;
      return el("span", { class: "tagged-word", style: { "--tone": headColour(types.indexOf(type)) } }, el("span", {}, part.text), el("small", {}, `${part.tag} ${percent(part.probability)}`));
    })), el("p", { class: "note", ...said("read.tagNote") })];
  },
  spoken: ({ data }) => data[0].words.filter((word) => typeOf(word.tag)).map((word) => `${word.word}: ${word.tag}`).join(", ") || t("read.noTags"),
};

const fill = {
  elements: ({ text, data }, { mask, onTake }) => {
    const { masks } = data[0], parts = text.split(mask);
    const whole = parts.flatMap((part, i) => [part, i < masks.length ? el("mark", {}, masks[i][0].piece) : i + 1 < parts.length ? mask : null]);
    return [el("p", { class: "quote", translate: "no" }, whole), masks.map((candidates, place) => el("section", {},
      masks.length > 1 ? el("h3", {}, t("read.place", { place: place + 1 })) : null,
      el("div", { class: "bars shares" }, candidates.map(({ piece, probability }, i) => bar(piece, probability, i === 0,
        el("button", { class: "candidate", translate: "no", title: t("read.take"), "aria-label": t("read.takeLabel", { piece, share: percent(probability) }), on: { click: () => onTake(place, piece) } }, piece || "␣")))))),
    el("p", { class: "note", ...said("read.fillNote") })];
  },
  spoken: ({ data }) => data[0].masks.map(([best]) => `${best.piece}: ${percent(best.probability)}`).join(", "),
};

const compare = {
  elements: ({ data }) => {
    const alike = cosine(data[0].embedding, data[1].embedding);
    return [el("p", { class: "likeness" }, el("b", { class: "number" }, show(alike)), " ", el("span", said("read.cosine"))),
      el("div", { class: "bars shares likeness-bar" }, el("span", { class: "track" }, el("span", { class: "fill chosen", style: { width: `${(100 * Math.max(0, alike)).toFixed(2)}%` } }))),
      el("p", { class: "note" }, t("read.cosineNote", { width: data[0].embedding.length }))];
  },
  spoken: ({ data }) => `${t("read.cosine")}: ${show(cosine(data[0].embedding, data[1].embedding))}`,
};

/// Of each task: `elements` of a result {text, second, data} for a model {labels, mask}, and what screen readers are told.
export const kAnswers = { classify, tag, fill, compare };
