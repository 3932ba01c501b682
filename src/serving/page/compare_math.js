// Comparing what a model computes for two sentences, without a page: tests run this in node.

/// Pieces joined to words: [{text, pieces: [place]}]. A word begins at a piece with a space mark; a sign other than an
/// apostrophe, the end and each piece of Han characters begin one too.
export function wordsOfPieces(pieces) {
  const words = [];
  pieces.forEach((piece, i) => {
    const text = piece.replace(/^\u2581/, "");
    const begins = piece.startsWith("\u2581") || !/^[\p{L}\p{M}\p{N}'’]/u.test(text) || /\p{Script=Han}/u.test(text) || !words.length;
    if (begins || /^<.*>$/.test(words.at(-1).text)) words.push({ text, pieces: [i] });
    else { words.at(-1).text += text; words.at(-1).pieces.push(i); }
  });
  return words;
}

/// Pairs two lists of texts by their longest common subsequence: [{left: [place], right: [place]}], in order. Equal texts
/// stand alone in a slot; what lies between two of them shares one slot.
export function align(left, right) {
  const longest = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; --i) {
    for (let j = right.length - 1; j >= 0; --j) longest[i][j] = left[i] === right[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  const slots = [];
  let open = null;
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      slots.push({ left: [i++], right: [j++], equal: true });
      open = null;
      continue;
    }
    if (!open) slots.push(open = { left: [], right: [], equal: false });
    if (j >= right.length || (i < left.length && longest[i + 1][j] >= longest[i][j + 1])) open.left.push(i++);
    else open.right.push(j++);
  }
  return slots;
}

/// Weights [T, S] of pieces as weights of words: a row is the mean of its pieces' rows, a column the sum of its pieces'.
export function weightsOfWords(weights, nColumns, rows, columns) {
  return rows.flatMap((row) => columns.map((column) => row.pieces.reduce((total, r) =>
    total + column.pieces.reduce((part, c) => part + weights[r * nColumns + c], 0) / row.pieces.length, 0)));
}

/// Weights [T, S] of words as weights of slots, of one side: a row is the mean of its words' rows, a column their sum.
export function weightsOfSlots(weights, nColumns, rowSlots, columnSlots, side) {
  const members = (slots) => slots.map((slot) => ({ pieces: slot[side] }));
  return weightsOfWords(weights, nColumns, members(rowSlots), members(columnSlots)).map((value) => (Number.isFinite(value) ? value : 0));
}

const isWord = (text) => /\p{L}{3,}|\p{Script=Han}/u.test(text);

/// Between which two words, which both sentences have, one row moves its attention: {gain, loss, strength}. `gain` is
/// the slot that has most more in the left sentence, `loss` the one that has most more in the right. `strength` is the
/// smaller of both changes: 0 if all words gain or lose alike.
export function movement(left, right, slots, texts) {
  const common = slots.map((slot, i) => i).filter((i) => slots[i].equal && isWord(texts[slots[i].left[0]]));
  if (!common.length) return { gain: -1, loss: -1, strength: 0 };
  const change = (i) => left[i] - right[i];
  const gain = common.reduce((best, i) => (change(i) > change(best) ? i : best));
  const loss = common.reduce((best, i) => (change(i) < change(best) ? i : best));
  return { gain, loss, strength: Math.max(0, Math.min(change(gain), -change(loss))) };
}

/// The first place at which two lists differ; -1 if they are equal.
export function firstDifference(left, right) {
  const at = left.findIndex((value, i) => value !== right[i]);
  return at < 0 && right.length > left.length ? left.length : at;
}
