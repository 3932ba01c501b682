// What the story draws with: text, strips of numbers, arcs, on a canvas. Strips are pictures made once from a tensor,
// so that a frame only copies them.
import { headColour } from "/assets/colour.js";
import { thumbnail } from "/assets/heatmap.js";
import { kFont, kSmallFont } from "/assets/story_layout.js";

const kSans = 'system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';

/// A point of the curve that leaves and arrives horizontally, at a part of the way.
function onCurve(x1, y1, x2, y2, part) {
  const middle = (x1 + x2) / 2, a = 1 - part;
  const cubic = (p0, p1, p2, p3) => a * a * a * p0 + 3 * a * a * part * p1 + 3 * a * part * part * p2 + part * part * part * p3;
  return [cubic(x1, middle, middle, x2), cubic(y1, y1, y2, y2)];
}

export class Paint {
  constructor(context) {
    this.context = context;
    this.pictures = new Map();
    this.fitted = new Map();
    this.readColours();
  }

  /// Reads the theme; pictures are made again from then on.
  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colour = Object.fromEntries(["ink", "soft", "line", "card", "ground", "accent", "warm", "warm-soft", "feed", "norm", "embed"]
      .map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.heads = Array.from({ length: 8 }, (_, head) => headColour(head));
    this.pictures.clear();
    this.fitted.clear();
  }

  head(head) { return this.heads[head % 8]; }

  /// The picture of a tensor part {shape: [rows, columns], values}, a pixel a number.
  picture(part) {
    let picture = this.pictures.get(part);
    if (!picture) this.pictures.set(part, (picture = thumbnail({ values: part.values, nColumns: part.shape[1], kind: "signed" })));
    return picture;
  }

  /// Row `row` of a tensor as a strip; {from, to} are the parts of its columns that are shown. Null: only its outline.
  strip(part, row, x, y, width, height, { alpha = 1, from = 0, to = 1 } = {}) {
    if (alpha <= 0 || width <= 0) return;
    if (!part) return this.outline(x, y, width, height, this.colour.line, alpha);
    if (row >= part.shape[0]) return;
    const { context } = this, columns = part.shape[1];
    context.globalAlpha = alpha;
    context.drawImage(this.picture(part), from * columns, row, Math.max((to - from) * columns, 1), 1, x, y - height / 2, width, height);
    context.globalAlpha = 1;
  }

  outline(x, y, width, height, colour, alpha = 1) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(x, y - height / 2, width, height);
    context.globalAlpha = 1;
  }

  /// Text, cut with an ellipsis where it is wider than `width`: its end, or its beginning where the end is what grows.
  text(words, x, y, { colour = this.colour.ink, align = "left", width = Infinity, size = kFont, bold = false, alpha = 1, grows = false } = {}) {
    if (alpha <= 0.02 || !words) return;
    const { context } = this;
    const font = `${bold ? "600 " : ""}${Math.max(size, kSmallFont)}px ${kSans}`;
    if (context.font !== font) context.font = font;
    context.fillStyle = colour;
    context.textAlign = align;
    context.globalAlpha = alpha;
    context.fillText(this.fit(words, width, font, grows), x, y);
    context.globalAlpha = 1;
  }

  /// A letter with a raised one: W^Q.
  power(base, raised, x, y, options) {
    this.text(base, x, y + 2, options);
    this.text(raised, x + 12, y - 4, { ...options, size: kSmallFont });
  }

  fit(words, width, font, grows) {
    if (width === Infinity) return words;
    const key = `${width}|${font}|${words}`;
    let fitted = this.fitted.get(key);
    if (fitted === undefined) {
      const cut = (count) => (count === words.length ? words : grows ? `… ${words.slice(-count).trimStart()}` : `${words.slice(0, count).trimEnd()}…`);
      let count = words.length;
      while (count > 1 && this.context.measureText(cut(count)).width > width) --count;
      this.fitted.set(key, (fitted = cut(count)));
    }
    return fitted;
  }

  line(points, colour, width = 1, { alpha = 1, dash = [] } = {}) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  box(x, y, width, height, { fill, stroke, radius = 8, alpha = 1 } = {}) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    if (fill) { context.fillStyle = fill; context.fill(); }
    if (stroke) { context.strokeStyle = stroke; context.lineWidth = 1; context.stroke(); }
    context.globalAlpha = 1;
  }

  /// The value that travels: an arc grown from its start to `part` of the way, as wide as its weight says.
  arc(x1, y1, x2, y2, { weight, colour, part = 1, alpha = 0.85, most = 9 }) {
    if (part <= 0 || alpha <= 0) return;
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = 0.4 + most * weight;
    context.beginPath();
    context.moveTo(x1, y1);
    if (part >= 1) {
      context.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
    } else {
      for (let i = 1; i <= 12; ++i) context.lineTo(...onCurve(x1, y1, x2, y2, (part * i) / 12));
    }
    context.stroke();
    if (part < 1) this.dot(...onCurve(x1, y1, x2, y2, part), 1.5 + 4 * weight, colour);
    context.globalAlpha = 1;
  }

  dot(x, y, radius, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  /// The colours of the heads below a strip that holds them side by side.
  headMarks(x, y, width, heads, { alpha = 1, only = -1 } = {}) {
    const { context } = this;
    for (let head = 0; head < heads; ++head) {
      context.globalAlpha = alpha * (only < 0 || only === head ? 1 : 0.25);
      context.fillStyle = this.head(head);
      context.fillRect(x + (head * width) / heads, y, Math.max(width / heads - 1, 1), 2);
    }
    context.globalAlpha = 1;
  }
}
