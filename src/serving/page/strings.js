// The words of the page in the languages it speaks, and the one that is spoken now.
import { english } from "/assets/strings_en.js";
import { chinese } from "/assets/strings_zh.js";

export const kLanguages = { en: english, zh: chinese };

let spoken = english;

/// The text of a key; {name} in it is replaced by values.name.
export function t(key, values = {}) {
  const text = spoken[key] ?? english[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/// Speaks a language from now on, and translates the elements that carry data-t (text) and data-t-label (aria-label).
export function speak(code) {
  spoken = kLanguages[code];
  document.documentElement.lang = code === "zh" ? "zh-Hans" : code;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-t-label]")) node.setAttribute("aria-label", t(node.dataset.tLabel));
}
