// Where things stand on the story's stage, in pixels: words are rows, and the computation runs from left to right. The
// source stands at the left, the encoder beside it, the memory in the middle, the decoder, and the translation at the
// right. On a narrow screen the bars of the soft-max move below.

export const kFont = 12, kSmallFont = 11;
export const kMargin = 10;
const kTallRow = 30, kLabelRow = 13;

export function rowsOf(count, top, bottom) {
  const height = Math.min(kTallRow, (bottom - top) / Math.max(count, 1));
  return {
    count, height, top,
    y: (r) => top + (r + 0.5) * height,
    every: Math.max(1, Math.ceil(kLabelRow / height)), // of the labels one is written
    strip: Math.max(2, Math.min(14, height * 0.56)),
  };
}

export function encoderOf(left, right, layers) {
  const width = right - left, at = (part) => left + part * width;
  const base = at(0.02), output = at(0.84);
  return {
    left, right, base, output, strip: 0.13 * width, thin: 0.065 * width,
    q: at(0.185), k: at(0.27), v: at(0.355), bars: at(0.6), bar: 0.17 * width, context: at(0.67), joinGate: at(0.82),
    level: (layer) => base + ((output - base) * layer) / Math.max(layers, 1),
  };
}

function decoderOf(left, right, isNarrow) {
  const width = right - left;
  const words = isNarrow ? Math.min(62, width * 0.58) : Math.min(104, width * 0.3);
  const strip = isNarrow ? width - words - 12 : 0.17 * width;
  const bars = left + 8 + strip + 14;
  return { left, right, strip, at: left + 8, words: right - words, wordsWidth: words - 4, bars, barsWidth: right - words - bars - 26 };
}

// The shares of the width: [while the encoder works, while the decoder works].
const kShares = { wide: { encoder: [0.62, 0.35], decoder: [0.2, 0.44] }, narrow: { encoder: [0.7, 0.33], decoder: [0.13, 0.39] } };

/// @param facts  {S, T, layers};  @param focus  1 while the encoder works and 0 after it: who works has the larger part
/// @return the geometry
export function makeLayout(width, height, { S, T, layers }, focus) {
  const isNarrow = width < 620;
  const top = isNarrow ? 66 : 44, gate = 20;
  const barsHeight = isNarrow ? 92 * (1 - focus) : 0;
  const bottom = height - kMargin - barsHeight;
  const labels = isNarrow ? 54 : Math.min(108, Math.max(66, width * 0.09));
  const encoderLeft = kMargin + labels + 6;
  const shares = kShares[isNarrow ? "narrow" : "wide"], share = ([early, late]) => width * (late + (early - late) * focus);
  const encoderRight = share(shares.encoder), shelfLeft = encoderRight + (isNarrow ? 6 : 14);
  const shelfWidth = width * (isNarrow ? 0.08 : 0.065), plateWidth = isNarrow ? 10 : width * 0.025;
  const decoderLeft = width - kMargin - share(shares.decoder);
  const decoder = decoderOf(decoderLeft, width - kMargin, isNarrow);
  return {
    width, height, isNarrow, top, bottom, margin: kMargin,
    header: { height: top - 6, line: isNarrow ? 22 : 0, half: isNarrow ? width - 2 * kMargin : width / 2 - 2 * kMargin },
    nameY: top - 8, gateY: top + 10,
    source: rowsOf(S, top + gate, bottom), target: rowsOf(T + 1, top + gate, bottom),
    labels: { right: kMargin + labels, width: labels },
    encoder: encoderOf(encoderLeft, encoderRight, layers),
    shelf: { left: shelfLeft, width: shelfWidth, plates: shelfLeft + shelfWidth + 3, plateWidth },
    decoder,
    bars: isNarrow
      ? { left: kMargin, width: width - 2 * kMargin, row: 16, top: () => bottom + 12 }
      : { left: decoder.bars, width: decoder.barsWidth, row: 20, top: (y) => Math.min(Math.max(y - 50, top + gate), bottom - 104) },
  };
}

/// What is under a point: {kind, row} or null. kind: word, strip, roles, weights, context, memory, decoder, bars, target.
export function hitAt(layout, x, y) {
  const { source, target, encoder, shelf, decoder, bars, isNarrow } = layout;
  const rowOf = (rows) => Math.min(Math.max(Math.floor((y - rows.top) / rows.height), 0), rows.count - 1);
  if (y < source.top - 4) return null;
  if (isNarrow && y > layout.bottom + 6) return { kind: "bars", row: 0 };
  if (x < encoder.left) return { kind: "word", row: rowOf(source) };
  if (x < encoder.q) return { kind: "strip", row: rowOf(source) };
  if (x < encoder.bars) return { kind: "roles", row: rowOf(source) };
  if (x < encoder.joinGate) return { kind: "weights", row: rowOf(source) };
  if (x < shelf.left) return { kind: "context", row: rowOf(source) };
  if (x < decoder.left) return { kind: "memory", row: rowOf(source) };
  if (x < decoder.at + decoder.strip + 6) return { kind: "decoder", row: rowOf(target) };
  if (x < decoder.words && !isNarrow && y >= bars.top(0)) return { kind: "bars", row: 0 };
  return { kind: "target", row: rowOf(target) };
}
