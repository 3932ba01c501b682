// Which word of a translation looked at which word of the source: the words light up when one is pointed at.
import { el } from "/assets/dom.js";
import { withWords, wordsOf } from "/assets/words.js";

// The mean over the heads of weights {shape: [H, T, S], values}: row-major [T, S].
function meanOfHeads({ shape, values }) {
  const size = shape[1] * shape[2];
  const mean = new Array(size).fill(0);
  values.forEach((value, i) => { mean[i % size] += value / shape[0]; });
  return mean;
}

// [target word][source word]: what the pieces of the first take of the pieces of the second.
function weightsOf(reply, sourceWords, targetWords) {
  const part = reply.parts[0].attentions[0];
  const mean = meanOfHeads(part), width = part.shape[2];
  return targetWords.map((to) => sourceWords.map((from) => {
    let sum = 0;
    for (const r of to.pieces) for (const c of from.pieces) sum += mean[r * width + c];
    return sum / to.pieces.length;
  }));
}

function light(on, nodes, others, weights) {
  const top = Math.max(...weights, 1e-9);
  nodes.forEach((node, i) => {
    node.classList.remove("linked");
    node.classList.toggle("on", i === on);
  });
  others.forEach((node, i) => {
    node.classList.remove("on");
    node.classList.toggle("linked", weights[i] > 0.1 * top);
    node.style.setProperty("--w", (weights[i] / top).toFixed(3));
  });
}

/// The words of `text` that the model has no piece for.
export function unknownWords(source, text) {
  const words = wordsOf(source.pieces, text).filter((word) => word.isUnknown).map((word) => text.slice(word.begin, word.end));
  return [...new Set(words)];
}

/// Child nodes for both texts, which stay character for character what they are: {source: [node], target: [node]}.
/// @param reply  of /v1/inspect, with the weights of one cross-attention
export function alignedTexts(reply, sourceText, targetText) {
  const sourceWords = wordsOf(reply.source.pieces, sourceText), targetWords = wordsOf(reply.target.pieces, targetText);
  const weights = weightsOf(reply, sourceWords, targetWords);
  const sourceNodes = [], targetNodes = [];
  const make = (nodes, show) => (text, i) => {
    nodes.push(el("span", { class: "word", tabindex: 0, on: { pointerenter: () => show(i), focus: () => show(i) } }, text));
    return nodes.at(-1);
  };
  const fromSource = (i) => light(i, sourceNodes, targetNodes, weights.map((row) => row[i]));
  const fromTarget = (i) => light(i, targetNodes, sourceNodes, weights[i]);
  return {
    source: withWords(sourceText, sourceWords, make(sourceNodes, fromSource)),
    target: withWords(targetText, targetWords, make(targetNodes, fromTarget)),
  };
}
