// The view "Training": a run while it trains, or again from its folder.
import { show } from "/assets/colour.js";
import { el, icon, kIcons, replace, svg } from "/assets/dom.js";
import { heatmap, legend } from "/assets/heatmap.js";
import { fitted, plot, polyline } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";
import { joinSets, knownWords, meanEntropy, setAt } from "/assets/watch_math.js";

const kPoll = 2000, kReplay = 700; // milliseconds
const kQuiet = 60; // seconds without news after which the page says so

const duration = (seconds) => (seconds >= 3600 ? `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min` : seconds >= 60 ? `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s` : `${Math.round(seconds)} s`);
const count = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export class WatchView {
  constructor(root) {
    this.root = root;
    this.forget();
  }

  forget() { Object.assign(this, { samples: [], attention: [], run: null, place: 0, follows: true }); }

  /// The steps of the validations, which the replay goes through.
  steps() { return this.run?.validation.map((point) => point.step) ?? []; }

  show() {
    this.build();
    this.poll();
  }

  async poll() {
    clearTimeout(this.timer);
    if (this.root.hidden || !this.bar) return;
    try {
      const after = Math.max(-1, ...this.samples.map((set) => set.step), ...this.attention.map((set) => set.step));
      const answer = await fetch(`/v1/run?after=${after}`);
      // The run has ended, and a server of its model answers at this address.
      if (answer.status === 404) return location.replace("/");
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      this.take(await answer.json());
      this.error.textContent = "";
    } catch (error) {
      this.error.textContent = t("watch.away", { error: error.message });
    }
    this.timer = setTimeout(() => this.poll(), kPoll);
  }

  take(run) {
    // A run that begins anew in the same folder is another run.
    const goesBack = this.run && (run.name !== this.run.name || run.step < this.run.step);
    if (goesBack && this.samples.some((set) => set.step > run.step)) this.forget();
    this.samples = joinSets(this.samples, run.samples);
    this.attention = joinSets(this.attention, run.attention);
    const news = JSON.stringify([run.step, run.event, run.validation.length, this.samples.length, this.attention.length]);
    this.run = run;
    if (this.follows) this.place = Math.max(0, this.steps().length - 1);
    this.state.textContent = this.sentence();
    if (news !== this.news) this.paint();
    this.news = news;
  }

  sentence() {
    const { run } = this;
    if (!run.train.length) return t("watch.waiting");
    const facts = { name: run.name, step: count(run.step), time: duration(run.seconds), loss: show(run.train.at(-1).loss, 3), idle: duration(run.idle_seconds ?? 0), text: run.event?.text ?? "" };
    if (run.event?.name === "finish") return t("watch.finished", facts);
    return t((run.idle_seconds ?? 0) > kQuiet ? "watch.quiet" : "watch.running", facts);
  }

  build() {
    this.state = el("p", { class: "quote watch-state", role: "status" });
    this.error = el("p", { class: "error", role: "alert" });
    this.play = el("button", { class: "icon primary", on: { click: () => (this.replaying ? this.stop() : this.start()) } });
    this.slider = el("input", { type: "range", min: 0, id: "watch-place", "aria-label": t("watch.place"), on: { input: () => { this.stop(); this.go(Number(this.slider.value)); } } });
    this.text = el("output", { class: "number", for: "watch-place" });
    this.bar = el("div", { class: "watch-bar card", role: "group", "aria-label": t("watch.replay") }, this.play, this.slider, this.text);
    this.curves = fitted((width) => this.drawCurves(width));
    this.lists = el("div", { class: "watch-lists" });
    replace(this.root, this.state, this.error, this.bar,
      el("section", { class: "card panel" }, el("h2", {}, t("watch.curves")), this.curves), this.lists);
    this.mark();
    if (this.run) { this.state.textContent = this.sentence(); this.paint(); }
  }

  // --- The replay goes from validation to validation.
  start() {
    const last = this.steps().length - 1;
    if (last < 1) return;
    this.go(this.place >= last ? 0 : this.place);
    this.replaying = setInterval(() => {
      if (this.place >= this.steps().length - 1 || this.root.hidden) this.stop();
      else this.go(this.place + 1);
    }, kReplay);
    this.mark();
  }
  stop() {
    clearInterval(this.replaying);
    this.replaying = null;
    this.mark();
  }
  mark() {
    replace(this.play, icon(this.replaying ? kIcons.pause : kIcons.play));
    this.play.setAttribute("aria-label", t(this.replaying ? "watch.pause" : "watch.replay"));
  }
  go(place) {
    this.place = place;
    this.follows = place === this.steps().length - 1;
    this.paint();
  }

  paint() {
    const steps = this.steps();
    this.slider.max = Math.max(0, steps.length - 1);
    this.slider.value = this.place;
    this.slider.disabled = this.play.disabled = steps.length < 2;
    const point = this.run.validation[this.place];
    const text = point ? t("watch.at", { step: count(point.step), loss: show(point.loss, 3), bleu: show(point.bleu, 1), time: duration(point.seconds) }) : t("watch.none");
    this.text.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.curves.redraw();
    replace(this.lists, point ? [this.sampleList(point.step), this.maps(point.step)] : null);
  }

  drawCurves(width) {
    if (!this.run?.train.length) return el("p", { class: "note" }, t("watch.waiting"));
    const { train, validation, step } = this.run;
    const now = validation[this.place]?.step ?? step;
    const chart = (points, name, range, label) => {
      const frame = plot({ width, height: 190, xRange: [0, Math.max(step, 1)], yRange: range, label });
      const line = (list, style) => frame.element.append(svg("polyline", { class: style, points: polyline(list.map(([x, y]) => [frame.x(x), frame.y(Math.min(y, range[1]))])) }));
      points.forEach(([list, style]) => { line(list, `${style} pale`); line(list.filter(([x]) => x <= now), style); });
      const at = points.at(-1)[0].find(([x]) => x === now);
      if (at) frame.element.append(svg("circle", { class: "answer", r: 5, cx: frame.x(at[0]), cy: frame.y(Math.min(at[1], range[1])) }));
      return [frame.element, el("p", { class: "note" }, label)];
    };
    const known = (list, key) => list.filter((point) => Number.isFinite(point[key])).map((point) => [point.step, point[key]]);
    const losses = [known(train, "loss"), known(validation, "loss")];
    const top = Math.min(10, Math.max(...losses.flat().map(([, y]) => y)));
    const bleu = known(validation, "bleu");
    return [chart([[losses[0], "train"], [losses[1], "fit"]], "loss", [0, top], t("watch.loss")),
      bleu.length > 1 ? chart([[bleu, "fit"]], "bleu", [0, Math.max(1, ...bleu.map(([, y]) => y))], t("watch.bleu")) : null];
  }

  sampleList(step) {
    const set = setAt(this.samples, step);
    if (!set) return null;
    return el("section", { class: "card panel watch-samples" }, el("h2", {}, t("watch.samples", { step: count(set.step) })), el("p", { class: "note" }, t("watch.samplesNote")),
      el("dl", {}, set.samples.map((sample) => [el("dt", { dir: "auto" }, sample.source),
        el("dd", { class: "hypothesis", dir: "auto" }, knownWords(sample.hypothesis, sample.reference).flatMap(({ word, known }) => [known ? el("b", {}, word) : word, " "])),
        el("dd", { class: "note", dir: "auto" }, sample.reference)])));
  }

  maps(step) {
    const set = setAt(this.attention, step);
    if (!set) return null;
    const first = this.attention[0];
    const entropy = (maps, i) => meanEntropy(maps[i].weights, maps[i].columns.length);
    return el("section", { class: "card panel" }, el("h2", {}, t("watch.attention", { step: count(set.step) })),
      el("div", { class: "pair-of-maps" }, set.maps.map((map, i) => el("section", { class: "matrix" }, el("h3", {}, t(map.title.startsWith("Encoder") ? "kind.encoder" : "kind.cross")),
        el("p", { class: "note watch-entropy" }, t("watch.entropy", { first: first.maps[i] ? show(entropy(first.maps, i), 2) : "–", now: show(entropy(set.maps, i), 2), first_step: count(first.step) })),
        heatmap({ rows: map.rows.map(plain), columns: map.columns.map(plain), values: map.weights, kind: "weights", maxCell: 26, label: map.title }), legend("weights")))));
  }

  /// After the language or the theme changed.
  refresh() {
    if (!this.root.hidden) this.show();
  }
}

const plain = (piece) => piece.replace(/^\u2581/, "") || "␣";
