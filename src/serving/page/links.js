// Words on two sides and the weights between them as arcs: left looks at right. The chosen word's arcs are strong,
// the others faint.
import { colourOf, cssColour, show } from "/assets/colour.js";
import { el, svg } from "/assets/dom.js";
import { t } from "/assets/strings.js";

const kRow = 26, kLeastRow = 13, kTallest = 620; // pixels; many words stand closer

// Of more words than fit, a part is seen, and the others by scrolling.
function scrolling(element, height, row, rowHeight) {
  if (height <= kTallest) return element;
  const box = el("div", { class: "links-box", tabindex: 0, style: { "max-height": `${kTallest}px` } }, element);
  requestAnimationFrame(() => { box.scrollTop = (row + 0.5) * rowHeight - kTallest / 2; });
  return box;
}

/// @param options left, right: words; weights: [left][right] row-major; row: chosen on the left; visible: rows of the
///   left that are there already; onRow(r); label
export function links(options) {
  const { left, right, weights } = options;
  const count = Math.max(left.length, right.length), rowHeight = Math.max(Math.min(kRow, kTallest / count), kLeastRow);
  const height = count * rowHeight;
  const width = 220;
  const arcs = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true", class: "arcs" });
  arcs.style.setProperty("height", `${height}px`);
  const visible = options.visible ?? left.length;
  let row = Math.min(options.row, visible - 1);

  const rightWords = right.map((word) => el("li", {}, el("span", { class: "token" }, word), el("span", { class: "weight number" })));
  const leftWords = left.map((word, r) => el("li", {}, el("button", {
    class: "token", "aria-pressed": String(r === row), disabled: r >= visible,
    on: {
      pointerenter: () => r < visible && paint(r),
      focus: () => paint(r),
      click: () => { row = r; paint(r); options.onRow?.(r); },
    },
  }, word)));

  function paint(chosen) {
    arcs.replaceChildren();
    for (let r = 0; r < visible; ++r) {
      for (let c = 0; c < right.length; ++c) {
        const weight = weights[r * right.length + c];
        if (weight < (r === chosen ? 0.004 : 0.06)) continue;
        const y1 = (r + 0.5) * rowHeight, y2 = (c + 0.5) * rowHeight;
        arcs.append(svg("path", {
          d: `M0 ${y1}C${width / 2} ${y1} ${width / 2} ${y2} ${width} ${y2}`,
          class: r === chosen ? "arc on" : "arc",
          "stroke-width": (r === chosen ? 0.8 + 7 * weight : 0.6 + 2 * weight).toFixed(2),
          "stroke-opacity": (r === chosen ? 0.25 + 0.75 * weight : 0.16 * weight + 0.03).toFixed(2),
          "vector-effect": "non-scaling-stroke",
        }));
      }
    }
    leftWords.forEach((item, r) => item.firstChild.setAttribute("aria-pressed", String(r === chosen)));
    rightWords.forEach((item, c) => {
      const weight = weights[chosen * right.length + c] ?? 0;
      item.lastChild.textContent = show(weight, 2);
      item.firstChild.style.setProperty("box-shadow", `inset 3px 0 0 ${cssColour(colourOf("weights", weight))}`);
      item.classList.toggle("strong", weight > 0.15);
    });
  }
  paint(Math.max(row, 0));
  const element = el("div", {
    class: rowHeight < kRow ? "links dense" : "links", style: { "--row": `${rowHeight}px` }, role: "group", "aria-label": `${options.label}. ${t("links.keys")}`,
    on: { pointerleave: () => paint(Math.max(row, 0)) },
  }, el("ul", { class: "from" }, leftWords), arcs, el("ul", { class: "to" }, rightWords));
  return scrolling(element, height, Math.max(row, 0), rowHeight);
}
