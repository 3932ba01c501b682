// Where the pieces of a model stand in the text that a person reads.

const kMark = "\u2581"; // SentencePiece's space
const kByte = /^<0x([0-9A-Fa-f]{2})>$/;
const kNoText = new Set(["<s>", "</s>", "<pad>"]);
const kLanguage = /^>>.+<<$/; // the code of a language, before a text
const kUnspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const kReach = 16; // characters that may stand between a piece and the one before it, for each piece without a place

// Pieces, with runs of bytes joined: [{text, pieces: [index], begins, isUnknown}]. The text of <unk> is null.
function unitsOf(pieces) {
  const units = [];
  let run = null;
  pieces.forEach((piece, i) => {
    const byte = kByte.exec(piece);
    if (byte) {
      if (!run) units.push((run = { bytes: [], pieces: [], begins: false, isUnknown: true }));
      run.bytes.push(Number.parseInt(byte[1], 16));
      run.pieces.push(i);
      return;
    }
    run = null;
    if (kNoText.has(piece) || kLanguage.test(piece)) return;
    const isUnknown = piece === "<unk>";
    units.push({ text: isUnknown ? null : piece.replaceAll(kMark, " ").trim(), pieces: [i], begins: piece.startsWith(kMark), isUnknown });
  });
  for (const unit of units) {
    if (unit.bytes) unit.text = new TextDecoder().decode(new Uint8Array(unit.bytes)).replaceAll(kMark, " ").trim();
  }
  return units;
}

// A text as vocabularies normalise it (NFKC, small letters), and the place in the text from which each unit of it came.
function normalised(text) {
  let result = "";
  const begins = [], ends = [];
  for (const found of text.matchAll(/\P{M}?\p{M}*/gu)) {
    const form = found[0].normalize("NFKC").toLowerCase();
    result += form;
    for (let i = 0; i < form.length; ++i) {
      begins.push(found.index);
      ends.push(found.index + found[0].length);
    }
  }
  return { text: result, begins, ends };
}

// Places of units in `text`. What stands between two places belongs to the units between them that have none, such as
// unknown pieces.
function placesOf(units, text) {
  const searched = normalised(text);
  const places = [];
  let at = 0, homeless = []; // `at` counts in the normalised text
  const place = (begin, end, pieces, { begins, isUnknown }) => {
    const last = places.at(-1);
    if (last && begin < last.end) { // two pieces of one character
      last.pieces.push(...pieces);
      last.end = Math.max(last.end, end);
    } else {
      places.push({ begin, end, pieces, begins, isUnknown });
    }
  };
  const settle = (end) => {
    const from = places.at(-1)?.end ?? 0, to = searched.begins[end] ?? text.length;
    const gap = text.slice(from, to), begin = from + gap.length - gap.trimStart().length;
    if (homeless.length && gap.trim()) {
      const isUnknown = homeless.some((unit) => unit.isUnknown);
      place(begin, begin + gap.trim().length, homeless.flatMap((unit) => unit.pieces), { begins: homeless[0].begins, isUnknown });
    }
    homeless = [];
  };
  for (const unit of units) {
    if (unit.text === "") continue; // a space mark alone
    const wanted = unit.text?.normalize("NFKC").toLowerCase();
    const found = wanted ? searched.text.indexOf(wanted, at) : -1;
    if (found < 0 || searched.text.slice(at, found).trim().length > kReach * (homeless.length + 1)) {
      homeless.push(unit);
      continue;
    }
    settle(found);
    at = found + wanted.length;
    place(searched.begins[found], searched.ends[at - 1], [...unit.pieces], unit);
  }
  settle(searched.text.length);
  return places;
}

/// The words of a text and the pieces of each: [{begin, end, pieces: [index], isUnknown}], in the order of the text. A
/// script without spaces has a word a piece. The text itself is never taken from the pieces.
export function wordsOf(pieces, text) {
  const words = [];
  for (const place of placesOf(unitsOf(pieces), text)) {
    const last = words.at(-1);
    const isUnspaced = kUnspaced.test(text.slice(place.begin, place.end)) || (last && kUnspaced.test(text.slice(last.begin, last.end)));
    if (last && last.end === place.begin && !place.begins && !isUnspaced) {
      last.end = place.end;
      last.pieces = [...last.pieces, ...place.pieces];
      last.isUnknown ||= place.isUnknown;
    } else {
      words.push({ begin: place.begin, end: place.end, pieces: place.pieces, isUnknown: place.isUnknown });
    }
  }
  return words;
}

/// Child nodes for `text`: make(word, index) for each word, and the text between them as it is.
export function withWords(text, words, make) {
  const nodes = [];
  let at = 0;
  words.forEach((word, i) => {
    nodes.push(text.slice(at, word.begin), make(text.slice(word.begin, word.end), i));
    at = word.end;
  });
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}
