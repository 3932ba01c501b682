// The view "Model card": what the model is, how large, how it was trained and how well it does.
import { modelCard } from "/assets/api.js";
import { show } from "/assets/colour.js";
import { el, groupedNumber, replace } from "/assets/dom.js";
import { languageName } from "/assets/languages.js";
import { lossChart } from "/assets/loss_chart.js";
import { t, tOr } from "/assets/strings.js";

function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (!minutes) return t("time.seconds", { seconds: Math.round(seconds) });
  return minutes >= 60 ? t("time.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 }) : t("time.minutes", { minutes });
}

// What a key of the configuration means, and the key itself, by which files and flags name it.
function settingName(key) {
  const meaning = tOr(`setting.${key}`, "");
  const name = el("span", { class: "mono" }, key);
  return meaning === key ? meaning : meaning ? [meaning, " ", name] : name;
}

function settingText(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : tOr(`setting.value.${value}`, String(value));
}

function facts(entries) {
  return el("dl", { class: "facts" }, entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export class CardView {
  constructor(root, pair) {
    Object.assign(this, { root, pair });
  }

  setLanguages(list) { this.list = list; }

  async show(pair) {
    this.wanted = pair;
    try {
      const card = await modelCard(pair);
      if (this.wanted !== pair) return; // another pair was chosen meanwhile
      Object.assign(this, { card, failure: null, pair });
      this.paint(pair);
    } catch (error) {
      if (this.wanted === pair) this.fail(error);
    }
  }

  // An old card never stands beside a new error.
  fail(error) {
    Object.assign(this, { card: null, failure: error });
    replace(this.root, el("p", { class: "error", role: "alert" }, error.message));
  }

  paint(pair) {
    const { name, config, parameters, training, search } = this.card;
    const best = training.validation.filter((point) => point.is_best).at(-1);
    const largest = Math.max(...parameters.parts.map((part) => part.count));
    replace(this.root, el("h2", { class: "card-title" }, t("card.title", { name })), el("p", { class: "note" }, this.purpose(pair)),
      el("div", { class: "card-view" },
        el("div", {}, best ? this.scores(best) : null,
          el("section", { class: "card" }, el("h2", {}, t("card.training")), lossChart(training)),
          el("section", { class: "card" }, el("h2", {}, t("card.parameters")), el("p", { class: "note" }, t("card.total", { count: groupedNumber(parameters.total) })),
            el("div", { class: "part-bars" }, parameters.parts.map((part) => [el("span", { class: "mono" }, part.path),
              el("span", { class: "track" }, el("span", { class: "fill", style: { width: `${(100 * part.count) / largest}%` } })), el("span", { class: "number" }, groupedNumber(part.count))])))),
        el("section", { class: "card" }, el("h2", {}, t("card.architecture")), facts(Object.entries(config)
          .filter(([key, value]) => !(key.startsWith("decoder_") && value === 0)) // 0: as in the encoder
          .map(([key, value]) => [settingName(key), settingText(value)])),
        search ? [el("h2", { class: "second" }, t("card.search")), facts(Object.entries(search).map(([key, value]) => [settingName(key), settingText(value)]))] : null)));
  }

  purpose({ source, target, model }) {
    return model ? t(this.card.config.architecture === "encoder-only" ? "card.encoder" : "card.languageModel") : t("card.pair", { source: languageName(source, this.list), target: languageName(target, this.list) });
  }

  scores(best) {
    const values = [["BLEU", best.bleu, 2], ["chrF", best.chrf, 2], [t("card.accuracy"), best.accuracy, 1], [t("card.perplexity"), best.perplexity, 3]].filter(([, value]) => Number.isFinite(value));
    return el("section", { class: "card" }, el("h2", {}, t("card.scores")),
      el("div", { class: "scores" }, values.map(([label, value, digits]) => el("div", {}, el("b", {}, show(value, digits)), label))),
      el("p", { class: "note" }, t("card.step", { step: groupedNumber(best.step), time: duration(best.seconds) })));
  }

  /// After the language changed.
  refresh() {
    if (this.card) this.paint(this.pair);
    else if (this.failure) this.fail(this.failure);
  }

  /// After the theme changed: all colours are those of the style sheets.
  repaint() {}
}
