// Checks by hand what the page computes for two sentences and for a training run:
//   node compare_check.mjs PATH/src/serving/page
import { join } from "node:path";
import { expect, finish, load, near, same } from "./checks.mjs";

const [page] = process.argv.slice(2);
const compare = await load(join(page, "compare_math.js"));
const states = await load(join(page, "state_math.js"));
const watch = await load(join(page, "watch_math.js"));

// --- Models that the view "Look inside" can draw
const facts = await load(join(page, "model_facts.js"));
same("decoders with self-attention are drawn, others are not", ["self-attention", undefined, "ssru", "average-attention"].map((decoder_sublayer) => facts.hasDrawnDecoder({ decoder_sublayer })),
  [true, true, false, false]);

// --- Words
const pieces = ["▁The", "▁ani", "mal", "▁did", "n", "'", "t", ",", "▁it", ".", "</s>"];
same("pieces become words", compare.wordsOfPieces(pieces).map(({ text, pieces: places }) => [text, places]),
  [["The", [0]], ["animal", [1, 2]], ["didn't", [3, 4, 5, 6]], [",", [7]], ["it", [8]], [".", [9]], ["</s>", [10]]]);
same("pieces of Han characters are words", compare.wordsOfPieces(["▁", "这", "只", "动物", "</s>"]).map((word) => word.text), ["", "这", "只", "动物", "</s>"]);

// --- Slots
same("words that differ share a slot", compare.align(["it", "was", "tired", "."], ["it", "was", "far", "too", "wide", "."]), [
  { left: [0], right: [0], equal: true }, { left: [1], right: [1], equal: true }, { left: [2], right: [2, 3, 4], equal: false }, { left: [3], right: [5], equal: true }]);
same("a word that is missing", compare.align(["a", "b"], ["a"]), [{ left: [0], right: [0], equal: true }, { left: [1], right: [], equal: false }]);
for (const [left, right] of [[["a", "b", "a"], ["b", "a", "b"]], [[], ["x"]], [["x"], ["x"]]]) {
  const slots = compare.align(left, right);
  same("every word is in one slot", [slots.flatMap((slot) => slot.left), slots.flatMap((slot) => slot.right)], [left.map((_, i) => i), right.map((_, i) => i)]);
}

// --- Weights: columns of a word are added, rows averaged; rows of weights still sum to 1.
const weights = [0.1, 0.2, 0.7, 0.3, 0.3, 0.4, 0.5, 0.5, 0.0];
const words = [{ pieces: [0] }, { pieces: [1, 2] }];
const ofWords = compare.weightsOfWords(weights, 3, words, words);
near("weights of words", ofWords, [0.1, 0.9, 0.4, 0.6]);
const slots = compare.align(["a", "b"], ["a", "b"]);
near("slots of equal sentences change nothing", compare.weightsOfSlots(ofWords, 2, slots, slots, "left"), ofWords);

// --- The movement between two words
const texts = ["animal", "street", "it", "tired"];
const four = compare.align(texts, ["animal", "street", "it", "wide"]);
same("animal gains, street loses", compare.movement([0.7, 0.1, 0.1, 0.1], [0.2, 0.5, 0.1, 0.2], four, texts), { gain: 0, loss: 1, strength: 0.4 });
same("no movement in equal rows", compare.movement([0.7, 0.1, 0.1, 0.1], [0.7, 0.1, 0.1, 0.1], four, texts).strength, 0);
const turned = compare.movement([0.2, 0.5, 0.1, 0.2], [0.7, 0.1, 0.1, 0.1], four, texts);
same("exchanged sentences exchange the words", [turned.gain, turned.loss], [1, 0]);
near("how far vectors lie apart", [states.apart([3, 4], [3, 4]), states.apart([3, 4], [-3, -4]), states.apart([3, 0], [0, 4]), states.apart([0, 0], [0, 0])], [0, 2, 10 / 7, 0]);
near("lengths and changes of states", states.movement({ state: { shape: [2, 2], values: [3, 4, 0, 0] }, before: { shape: [2, 2], values: [0, 0, 3, 4] } }).values, [5, 5, 0, 5]);
same("the first difference", [compare.firstDifference([1, 2, 3], [1, 4, 3]), compare.firstDifference([1, 2], [1, 2])], [1, -1]);

// --- A run
near("entropy of an even row", [watch.meanEntropy([0.25, 0.25, 0.25, 0.25], 4)], [Math.log(4)]);
near("entropy of sharp rows", [watch.meanEntropy([1, 0, 0, 1], 2)], [0]);
same("known words count once", watch.knownWords("das das Tier", "Das Tier sah das Tier"), [{ word: "das", known: true }, { word: "das", known: false }, { word: "Tier", known: true }]);
const sets = watch.joinSets([{ step: 10, is: "old" }, { step: 20, is: "old" }], [{ step: 20, is: "new" }, { step: 30, is: "new" }]);
same("a step that is written again replaces the old one", sets.map((set) => `${set.step} ${set.is}`), ["10 old", "20 new", "30 new"]);
same("the set of a step", [watch.setAt(sets, 25).step, watch.setAt(sets, 5)], [20, null]);
expect(watch.meanEntropy([0, 0], 2) === 0, "rows without weight have no entropy");

finish("the laws of comparing and replaying hold");
