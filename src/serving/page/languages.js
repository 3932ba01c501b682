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

const kMany = 12; // more languages than this are found by their names

/// The codes as a list to choose from: many of them in the order of their names.
export function inOrder(codes, list) {
  if (list.length <= kMany) return codes;
  const names = new Map(codes.map((code) => [code, languageName(code, list)]));
  return [...codes].sort((a, b) => names.get(a).localeCompare(names.get(b), document.documentElement.lang || "en"));
}

/// The code that is chosen first: of many languages that of the page or a common one, unless it is `other`.
export function firstChoice(codes, list, other = null) {
  const wanted = list.length <= kMany ? [] : [(document.documentElement.lang || "en").split("-")[0], "en", "de"];
  return wanted.find((code) => code !== other && codes.includes(code)) ?? codes[0] ?? "";
}

/// "rtl" or "ltr".
export function directionOf(code) {
  return kRightToLeft.test(code) ? "rtl" : "ltr";
}

/// The attributes of an element with text of a language. Page translators leave it alone.
export function inLanguage(code) {
  return { lang: code || null, dir: directionOf(code), translate: "no" };
}
