// Names and directions of languages.

const kRightToLeft = /^(ar|arc|ckb|dv|fa|he|iw|ks|ps|sd|ug|ur|yi)(-|$)|-(Arab|Hebr|Syrc|Thaa|Nkoo|Adlm)(-|$)/i;

/// The name of a language in the language of the page; `list` is that of /languages.
export function languageName(code, list = []) {
  let name = null;
  try {
    name = new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language", fallback: "none" }).of(code);
  } catch { /* no code of a language */ }
  return name ?? list.find((language) => language.code === code)?.name ?? code;
}

/// "rtl" or "ltr".
export function directionOf(code) {
  return kRightToLeft.test(code) ? "rtl" : "ltr";
}

/// The attributes of an element with text of a language. Page translators leave it alone.
export function inLanguage(code) {
  return { lang: code || null, dir: directionOf(code), translate: "no" };
}
