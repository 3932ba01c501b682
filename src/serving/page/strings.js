// The words of the page in the languages it speaks, and the one that is spoken now.
import { english } from "/assets/strings_en.js";
import { alignedEnglish } from "/assets/strings_aligned_en.js";
import { alignedChinese } from "/assets/strings_aligned_zh.js";
import { aloneEnglish } from "/assets/strings_alone_en.js";
import { aloneChinese } from "/assets/strings_alone_zh.js";
import { compareEnglish } from "/assets/strings_compare_en.js";
import { compareChinese } from "/assets/strings_compare_zh.js";
import { convolutionalEnglish } from "/assets/strings_convolutional_en.js";
import { convolutionalChinese } from "/assets/strings_convolutional_zh.js";
import { encoderEnglish } from "/assets/strings_encoder_en.js";
import { encoderChinese } from "/assets/strings_encoder_zh.js";
import { labEnglish } from "/assets/strings_lab_en.js";
import { labChinese } from "/assets/strings_lab_zh.js";
import { readEnglish } from "/assets/strings_read_en.js";
import { readChinese } from "/assets/strings_read_zh.js";
import { recurrentEnglish } from "/assets/strings_recurrent_en.js";
import { recurrentChinese } from "/assets/strings_recurrent_zh.js";
import { storyEnglish } from "/assets/strings_story_en.js";
import { storyChinese } from "/assets/strings_story_zh.js";
import { watchEnglish } from "/assets/strings_watch_en.js";
import { watchChinese } from "/assets/strings_watch_zh.js";
import { writeEnglish } from "/assets/strings_write_en.js";
import { writeChinese } from "/assets/strings_write_zh.js";
import { chinese } from "/assets/strings_zh.js";

export const kLanguages = {
  en: { ...english, ...storyEnglish, ...labEnglish, ...compareEnglish, ...watchEnglish, ...writeEnglish, ...readEnglish, ...aloneEnglish, ...encoderEnglish, ...recurrentEnglish, ...convolutionalEnglish, ...alignedEnglish },
  zh: { ...chinese, ...storyChinese, ...labChinese, ...compareChinese, ...watchChinese, ...writeChinese, ...readChinese, ...aloneChinese, ...encoderChinese, ...recurrentChinese, ...convolutionalChinese, ...alignedChinese },
};

let spoken = kLanguages.en;

/// The text of a key; {name} in it is replaced by values.name.
export function t(key, values = {}) {
  const text = spoken[key] ?? kLanguages.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/// The text of a key, or `otherwise` if there is none.
export function tOr(key, otherwise) {
  return key in kLanguages.en ? t(key) : otherwise;
}

// Where an element that carries data-t, data-t-label, ... has the text of that key.
const kPlaces = { "data-t-label": "aria-label", "data-t-title": "title", "data-t-placeholder": "placeholder" };

/// Properties for `el`: the text of an element, and labels, in the language that is spoken now and later.
/// said("swap") is its text; said(null, { label: "swap", title: "swap" }) are attributes.
export function said(key, places = {}) {
  const props = key ? { "data-t": key, text: t(key) } : {};
  for (const [place, name] of Object.entries(places)) {
    props[`data-t-${place}`] = name;
    props[kPlaces[`data-t-${place}`]] = t(name);
  }
  return props;
}

/// Speaks a language from now on, and translates the elements that carry a key.
export function speak(code) {
  spoken = kLanguages[code];
  document.documentElement.lang = code === "zh" ? "zh-Hans" : code;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const [place, attribute] of Object.entries(kPlaces)) {
    for (const node of document.querySelectorAll(`[${place}]`)) node.setAttribute(attribute, t(node.getAttribute(place)));
  }
}
