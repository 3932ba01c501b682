// How far the encoder's states of two sentences lie apart, for models whose words do not attend to each other: a recurrent
// model passes a difference on from word to word, a convolutional model through its windows.
import { percent } from "/assets/colour.js";
import { el } from "/assets/dom.js";
import { isRecurrent, kDirections } from "/assets/model_facts.js";
import { rowOf } from "/assets/sentence.js";
import { apart } from "/assets/state_math.js";
import { t } from "/assets/strings.js";
import { lawful } from "/assets/view_words.js";

/// The rows of the encoder's last layer: [{name, part}], one for each direction of a recurrent model.
export async function statesOf(sentence) {
  const { model } = sentence, last = `encoder.layers.${model.encoder_layers - 1}`;
  if (!isRecurrent(model)) return [{ name: "states", part: (await sentence.part({ part: "convolution", path: last })).result }];
  const found = [];
  for (const direction of kDirections) found.push({ name: direction, part: (await sentence.part({ part: "cell", path: `${last}.${direction}` })).state });
  return found;
}

/// How far the states of the words that both sentences have lie apart: [{slot, shares}], a share for each of the states.
/// @param states  of both sides, of statesOf;  @param words  of both sides;  @param slots  as align makes them
export function distances(states, words, slots) {
  const [left, right] = states;
  return slots.flatMap((slot, i) => {
    if (!slot.equal) return [];
    const pieces = [words[0][slot.left[0]].pieces, words[1][slot.right[0]].pieces];
    return [{ slot: i, shares: left.map(({ part }, k) => pieces[0].reduce((sum, row, n) => sum + apart(rowOf(part, row), rowOf(right[k].part, pieces[1][n])), 0) / pieces[0].length) }];
  });
}

/// The word whose state lies farthest apart, as values of a sentence; null where none does.
export function farthest(rows, texts) {
  const best = rows.filter(({ slot }) => !/^<.*>$/.test(texts[slot])).map(({ slot, shares }) => ({ word: texts[slot], share: Math.max(...shares) })).sort((a, b) => b.share - a.share)[0];
  return best?.share > 0 ? { word: best.word, share: percent(best.share) } : null;
}

/// Bars of all words, one for each of the states.
export function statesPanel(model, states, rows, texts) {
  const names = states[0].map(({ name }) => name), largest = Math.max(...rows.flatMap(({ shares }) => shares), 1e-9);
  const note = isRecurrent(model) ? t("two.states.recurrent") : t("two.states.convolutional", { seen: 1 + model.encoder_layers * (model.kernel_width - 1) });
  const bar = (share) => [el("span", { class: "track" }, el("span", { class: "fill", style: { width: `${(100 * share) / largest}%` } })), el("span", { class: "number" }, percent(share))];
  const table = el("div", { class: names.length > 1 ? "bars movement" : "bars" }, names.length > 1 ? [el("span", {}), names.map((name) => [el("span", { class: "note" }, t(`flow.${name}`)), el("span", {})])] : null,
    rows.map(({ slot, shares }) => [el("span", { class: "piece" }, texts[slot]), shares.map(bar)]));
  return el("article", { class: "card panel compare-states" }, el("h2", {}, t("two.states")), el("p", { class: "note" }, note),
    lawful(table, "apart", { names, words: rows.map(({ slot }) => texts[slot]), shares: rows.map(({ shares }) => shares) }));
}
