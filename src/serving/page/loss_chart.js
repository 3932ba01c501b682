// Loss against step, training and validation in one frame, drawn as wide as there is room: its text keeps its size.
import { el, groupedNumber, replace, svg } from "/assets/dom.js";
import { said, t } from "/assets/strings.js";

const kLargestLoss = 10; // an untrained model's would flatten the rest
const kLeft = 44, kRight = 18, kTop = 12, kBottom = 30;
const kUsualWidth = 720; // before the page is laid out

/// About `target` round numbers in [low, high]; their distance is 1, 2 or 5 times a power of ten.
export function roundTicks(low, high, target) {
  if (!(high > low)) return [low];
  const rough = (high - low) / target, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor >= (rough / power) * 0.7);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function draw(width, { train, validation }) {
  const height = Math.round(Math.min(300, Math.max(190, 0.42 * width)));
  const points = [...train, ...validation];
  const lastStep = Math.max(...points.map((point) => point.step), 1), top = Math.min(Math.max(...points.map((point) => point.loss)), kLargestLoss);
  const x = (step) => kLeft + (step / lastStep) * (width - kLeft - kRight), y = (loss) => kTop + (1 - Math.min(loss, top) / top) * (height - kBottom - kTop);
  const line = (list) => list.map((point) => `${x(point.step).toFixed(1)},${y(point.loss).toFixed(1)}`).join(" ");
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img", "aria-label": t("card.loss") },
    roundTicks(0, top, 5).map((loss) => [svg("line", { x1: kLeft, x2: width - kRight, y1: y(loss), y2: y(loss), class: "grid" }),
      svg("text", { x: kLeft - 8, y: y(loss) + 4, "text-anchor": "end" }, String(loss))]),
    roundTicks(0, lastStep, width < 480 ? 3 : 6).map((step) => svg("text", { x: x(step), y: height - 10, "text-anchor": "middle" }, groupedNumber(step))),
    svg("polyline", { points: line(train), class: "train" }), svg("polyline", { points: line(validation), class: "valid" }),
    validation.map((point) => svg("circle", { cx: x(point.step), cy: y(point.loss), r: point.is_best ? 3.5 : 2, class: "dot" })));
}

/// A figure with both curves; a sentence if there are none.
export function lossChart(training) {
  const measured = (list) => list.filter((point) => point.loss !== null);
  const curves = { train: measured(training.train), validation: measured(training.validation) };
  if (!curves.train.length && !curves.validation.length) return el("p", { class: "note" }, t("card.noTraining"));
  const frame = el("div", {}, draw(kUsualWidth, curves));
  let drawn = kUsualWidth;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (width && width !== drawn) replace(frame, draw((drawn = width), curves));
  }).observe(frame);
  return el("figure", {}, frame, el("figcaption", { class: "keys" },
    el("span", said("card.train")), el("span", { class: "key-valid", ...said("card.valid") }), t("card.loss")));
}
