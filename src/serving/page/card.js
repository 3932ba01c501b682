// The view "Model card": what the model is, how large, how it was trained and how well it does.
import { modelCard } from "/assets/api.js";
import { el, replace, svg } from "/assets/dom.js";
import { show } from "/assets/colour.js";
import { t } from "/assets/strings.js";

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  return minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : minutes ? `${minutes} min` : `${Math.round(seconds)} s`;
}

function facts(entries) {
  return el("dl", { class: "facts" }, entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

// Loss against step, both curves in one frame.
function chart({ train, validation }) {
  const w = 720, h = 300, left = 44, bottom = 30;
  const points = [...train, ...validation].filter((point) => point.loss !== null);
  if (!points.length) return el("p", { class: "note" }, t("card.noTraining"));
  const lastStep = Math.max(...points.map((point) => point.step)), top = Math.min(Math.max(...points.map((point) => point.loss)), 10);
  const x = (step) => left + (step / lastStep) * (w - left - 14), y = (loss) => 12 + (1 - Math.min(loss, top) / top) * (h - bottom - 12);
  const line = (list) => list.filter((point) => point.loss !== null).map((point) => `${x(point.step).toFixed(1)},${y(point.loss).toFixed(1)}`).join(" ");
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return el("figure", {},
    svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "chart", role: "img", "aria-label": t("card.loss") },
      ticks.map((part) => [svg("line", { x1: left, x2: w - 14, y1: y(part * top), y2: y(part * top), class: "grid" }),
        svg("text", { x: left - 8, y: y(part * top) + 4, "text-anchor": "end" }, (part * top).toFixed(1)),
        svg("text", { x: x(part * lastStep), y: h - 10, "text-anchor": part === 1 ? "end" : "middle" }, count(Math.round(part * lastStep)))]),
      svg("polyline", { points: line(train), class: "train" }), svg("polyline", { points: line(validation), class: "valid" }),
      validation.map((point) => svg("circle", { cx: x(point.step), cy: y(point.loss), r: point.is_best ? 3.5 : 2, class: "dot" }))),
    el("figcaption", { class: "keys" }, el("span", {}, t("card.train")), el("span", { class: "key-valid" }, t("card.valid")), t("card.loss")));
}

export class CardView {
  constructor(root, pair) {
    Object.assign(this, { root, pair });
  }

  setLanguages(list) { this.list = list; }

  async show(pair) {
    const key = `${pair.source}:${pair.target}`;
    if (this.key !== key) {
      try {
        this.card = await modelCard(pair.source, pair.target);
        this.key = key;
      } catch (error) {
        return replace(this.root, el("p", { class: "error", role: "alert" }, error.message));
      }
    }
    this.paint(pair);
  }

  paint(pair) {
    const { name, config, parameters, training, search } = this.card;
    const best = training.validation.filter((point) => point.is_best).at(-1);
    const largest = Math.max(...parameters.parts.map((part) => part.count));
    replace(this.root, el("h2", { class: "card-title" }, t("card.title", { name })), el("p", { class: "note" }, `${t("card.languages")}: ${pair.source} → ${pair.target}`),
      el("div", { class: "card-view" },
        el("div", {}, best ? this.scores(best) : null,
          el("section", { class: "card" }, el("h2", {}, t("card.training")), chart(training)),
          el("section", { class: "card" }, el("h2", {}, t("card.parameters")), el("p", { class: "note" }, t("card.total", { count: count(parameters.total) })),
            el("div", { class: "part-bars" }, parameters.parts.map((part) => [el("span", { class: "mono" }, part.path),
              el("span", { class: "track" }, el("span", { class: "fill", style: { width: `${(100 * part.count) / largest}%` } })), el("span", { class: "number" }, count(part.count))])))),
        el("section", { class: "card" }, el("h2", {}, t("card.architecture")), facts(Object.entries(config)
          .filter(([key, value]) => !(key.startsWith("decoder_") && value === 0)) // 0: as in the encoder
          .map(([key, value]) => [key, typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value)])),
        el("h2", { class: "second" }, t("card.search")), facts(Object.entries(search).map(([key, value]) => [key, String(value)])))));
  }

  scores(best) {
    const values = [["BLEU", best.bleu, 2], ["chrF", best.chrf, 2], [t("card.perplexity"), best.perplexity, 3]];
    return el("section", { class: "card" }, el("h2", {}, t("card.scores")),
      el("div", { class: "scores" }, values.map(([label, value, digits]) => el("div", {}, el("b", {}, show(value, digits)), label))),
      el("p", { class: "note" }, t("card.step", { step: count(best.step), time: duration(best.seconds) })));
  }

  refresh() {
    if (this.card) this.paint(this.pair);
  }
}
