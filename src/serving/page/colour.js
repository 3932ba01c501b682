// The two colour scales of the page: one for weights from 0 to 1, one for numbers of either sign. Both are safe for
// the colour-blind, and their lightness alone tells the size: sequential blue; diverging blue to orange.

const kStops = {
  light: {
    weights: [[246, 247, 247], [200, 219, 235], [120, 168, 208], [48, 104, 158], [12, 48, 92]],
    signed: [[18, 74, 130], [108, 160, 206], [245, 245, 243], [226, 150, 84], [148, 62, 8]],
  },
  dark: {
    weights: [[34, 39, 44], [34, 66, 94], [50, 108, 158], [116, 172, 218], [226, 240, 252]],
    signed: [[138, 196, 244], [56, 110, 158], [34, 39, 44], [164, 92, 42], [246, 178, 122]],
  },
};

// One colour for each head, the same everywhere; after eight they begin again (Okabe and Ito, made to stand on both grounds).
const kHeads = {
  light: ["#0072b2", "#c04e00", "#008060", "#b0407c", "#2f7fb5", "#8a6d00", "#6a51a3", "#5a5a5a"],
  dark: ["#56b4e9", "#f0a05a", "#3fc59a", "#e28bbd", "#8fd0ff", "#e2cf4e", "#b9a3ea", "#c2c2c2"],
};

/// The colour of a head.
export function headColour(head) {
  return kHeads[isDark() ? "dark" : "light"][head % 8];
}

export function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function blend(stops, at) {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (place - low)));
}

/// [r, g, b] of a value. kind "weights": 0 to `largest`; "signed": -largest to largest.
export function colourOf(kind, value, largest = 1) {
  const stops = kStops[isDark() ? "dark" : "light"][kind];
  const part = largest > 0 ? value / largest : 0;
  return blend(stops, kind === "signed" ? (part + 1) / 2 : part);
}

export function cssColour(rgb) {
  return `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;
}

/// Black or white, whichever has the larger contrast on a colour; it is 4.5 : 1 at least (WCAG 2.1, relative luminance).
export function inkOn(rgb) {
  const [red, green, blue] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/// The size that the ends of a signed scale stand for: one that 98 % of the numbers do not exceed.
export function signedLimit(values) {
  const sizes = Array.from(values, Math.abs).sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor((sizes.length - 1) * 0.98)] || 1e-9 : 1;
}

/// A number as the page writes it: three decimals, or as short as it is large.
export function show(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  const text = size >= 1000 ? value.toFixed(0) : size >= 100 ? value.toFixed(1) : value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/// A share as percent: two digits that matter, never more than one beside another ("12 %", "3.4 %", "< 0.1 %").
export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}
