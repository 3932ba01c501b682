// The formulas as MathML: those that this model computes. They follow its norm order, biases, activation and tying.
import { math } from "/assets/dom.js";
import { bracket, frac, hat, mi, mo, named, root, row, sub, sup, symbol, text, total } from "/assets/formula_parts.js";
import { kConvolutionalFormulas } from "/assets/formula_convolutional.js";
import { kRecurrentFormulas } from "/assets/formula_recurrent.js";
import { addsDistances, hasBias, isAlone, isBatchNorm, isConvolutional, isGated, isReader, isRecurrent, isRms, normName, scales } from "/assets/model_facts.js";

const dk = () => sub("d", "k");
const dModel = () => sub("d", named("model"));
const products = () => row("Q", sup("K", "T"));
const scaled = (model) => (scales(model) ? frac(products(), root(dk())) : products());

const weighted = (model, input, role) => row(input, sup("W", role), hasBias(model, "input") ? row("+", sup("b", role)) : row());
const layerNorm = (model, stage, ...inside) => row(named(normName(model, stage)), bracket(...inside));
const kEncoder = { side: "encoder" }; // where the scenes of the story about norms stand
// What a sub-layer reads: X itself, or the normalised X in pre-norm.
const read = (model) => (model.norm_order === "pre" ? hat("X") : mi("X"));
const small = (model) => (model.norm_order === "pre" ? hat("x") : mi("x"));
const table = (model, isTarget) => (model.tying === "all" || isReader(model) || (isAlone(model) && !isTarget) ? mi("E") : model.tying === "target" || !isTarget ? sub("E", named(isTarget ? "target" : "source")) : sub("W", named("out")));
const visible = (model, stage) => (stage?.side === "decoder" && !stage.cross ? total(row("l", "≤", "i"), sup("e", sub("a", row("i", "l")))) : total("l", sup("e", sub("a", row("i", "l")))));
const mapped = (model, input, index) => row(input, sub("W", index), hasBias(model, "map") ? row("+", sub("b", index)) : row());
const activated = (model, ...inside) => (model.activation === "relu" ? row(named("max"), bracket("0", ",", ...inside)) : row(text(model.activation), bracket(...inside)));
const hidden = (model, input) => (isGated(model) ? bracket(activated(model, mapped(model, input, "g")), "⊙", bracket(mapped(model, input, "1"))) : activated(model, mapped(model, input, "1")));
const feed = (model, input) => row(mapped(model, hidden(model, input), "2"));
const logits = (model) => row(sub("h", "t"), sup(table(model, true), "T"), model.output_bias ? row("+", "b") : row());

// Each takes the model and the stage that it stands in.
const kFormulas = {
  tokens: () => row(named("text"), "→", bracket(sub("x", "1"), ",", "…", ",", sub("x", "S"))),
  embed: (model) => row("X", "=", model.scale_embedding === false ? row() : row(root(dModel()), "·"), table(model, false), "[", named("id"), "]"),
  position: (model) => (model.positions === "sinusoidal" ? math("mtable",
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i"), "=", named("sin"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel()))))))),
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i", "+", "1"), "=", named("cos"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel()))))))))
    : row("x", "=", "X", "+", "P", "[", "pos", "]")),
  qkv: (model, stage) => {
    const keys = () => (stage?.cross ? named("memory") : read(model));
    return row("Q", "=", weighted(model, read(model), "Q"), ",", text("\u00a0"), "K", "=", weighted(model, keys(), "K"), ",", text("\u00a0"), "V", "=", weighted(model, keys(), "V"));
  },
  scores: () => row("Q", sup("K", "T"), ",", text("\u00a0"), bracket("i", ",", "j"), ":", text("\u00a0"), sub("q", "i"), "·", sub("k", "j")),
  scale: (model) => row("A", "=", scaled(model)),
  relative: (model) => row("A", "=", scaled(model), "+", "B", ",", text("\u00a0"), sub("b", row("i", "j")), "=", "β", "[", named("bucket"), bracket("j", "−", "i"), "]"),
  mask: () => row(sub("a", row("i", "j")), "=", "−", "∞", text("\u00a0\u00a0if\u00a0\u00a0"), "j", ">", "i"),
  softmax: (model, stage) => row(sub("α", row("i", "j")), "=", frac(sup("e", sub("a", row("i", "j"))), visible(model, stage))),
  context: (model, stage) => row(sub("head", "i"), "=", named("softmax"), bracket(scaled(model), ...(addsDistances(model) && !stage?.cross ? ["+", "B"] : []), ...(stage?.side === "decoder" && !stage.cross ? ["+", named("mask")] : [])), "V"),
  heads: (model) => row(named("MultiHead"), "=", named("Concat"), bracket(sub("head", "1"), ",", "…", ",", sub("head", "h")), sup("W", "O"), hasBias(model, "map") ? row("+", sup("b", "O")) : row()),
  // In pre-norm the norm stands alone, before the sub-layer; in post-norm it takes the sum.
  norm: (model, stage) => (model.norm_order === "pre" ? row(hat("X"), "=", layerNorm(model, stage, "X"), ",", text("\u00a0"), normOf(model, stage, "x"))
    : row(layerNorm(model, stage, "x", "+", named("Sublayer"), bracket("x")), ",", text("\u00a0"), normOf(model, stage, "y"))),
  add: () => row("X", "+", named("MultiHead"), bracket(hat("X"))),
  feedAdd: () => row("X", "+", named("FFN"), bracket(hat("X"))),
  finalNorm: (model, stage) => row(layerNorm(model, stage, "X"), ",", text("\u00a0"), normOf(model, stage, "x")),
  feed: (model) => row(named("FFN"), bracket(small(model)), "=", feed(model, small(model))),
  around: (model) => (model.norm_order === "pre" ? row("x", "+", named("MultiHead"), bracket(layerNorm(model, kEncoder, "x")), ",", text("\u00a0then\u00a0"), "x", "+", named("FFN"), bracket(layerNorm(model, kEncoder, "x")))
    : row(layerNorm(model, kEncoder, "x", "+", named("MultiHead"), bracket("x")), ",", text("\u00a0then\u00a0"), layerNorm(model, kEncoder, "x", "+", named("FFN"), bracket("x")))),
  stack: (model) => row(sub("X", "n"), "=", sub("Layer", "n"), bracket(sub("X", row("n", "−", "1"))), ",", text("\u00a0"), "n", "=", "1", "…", String(model.encoder_layers || model.decoder_layers)),
  memory: (model) => row(named("memory"), "=", model.norm_order === "pre" ? layerNorm(model, kEncoder, sub("X", "N")) : sub("X", "N"), "∈", sup("ℝ", row("S", "×", dModel()))),
  chain: (model) => row("P", isAlone(model) ? bracket(sub("x", row("t", "+", "1")), "|", sub("x", row("≤", "t"))) : bracket(sub("y", "t"), "|", sub("y", row("<", "t")), ",", "x"), "=", named("softmax"), bracket(logits(model))),
  logits: (model) => row("z", "=", logits(model), ",", text("\u00a0"), sub("p", "i"), "=",
    frac(sup("e", row(sub("z", "i"), "/", "τ")), total("j", sup("e", row(sub("z", "j"), "/", "τ"))))),
  beam: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), row(named("lp"), bracket("y"))),
    ",", named("lp"), "=", sup(row("(", frac(row("5", "+", "|", "y", "|"), "6"), ")"), "α")),
  beamLength: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), sup(row("|", "y", "|"), "α"))),
  shift: (model) => row(text("input"), "=", isAlone(model) ? bracket(sub("x", "1"), ",", "…", ",", sub("x", "t")) : bracket("⟨s⟩", ",", sub("y", "1"), ",", "…", ",", sub("y", row("t", "−", "1")))),
  // RMSNorm on each head, and a turn of each pair of numbers.
  turn: (model) => row(model.qk_norm ? row(sub("q", "t"), "=", named("RMSNorm"), bracket(sub("q", "t")), model.positions === "rope" ? row(",", text("\u00a0")) : row()) : row(),
    model.positions === "rope" ? row(sub("q", "t"), "→", sub("R", "t"), sub("q", "t"), ",", text("\u00a0"), math("mtable",
      math("mtr", math("mtd", row("a", "→", "a", named("cos"), bracket("t", sub("f", "i")), "−", "b", named("sin"), bracket("t", sub("f", "i"))))),
      math("mtr", math("mtd", row("b", "→", "b", named("cos"), bracket("t", sub("f", "i")), "+", "a", named("sin"), bracket("t", sub("f", "i")))))),
    ",", text("\u00a0"), sub("f", "i"), "=", sup("θ", row("−", "2", "i", "/", dk()))) : row()),
  cache: () => row(sub("K", row("≤", "t")), "=", bracket(sub("K", row("<", "t")), ";", sub("k", "t")), ",", text("\u00a0"), sub("V", row("≤", "t")), "=", bracket(sub("V", row("<", "t")), ";", sub("v", "t"))),
  // An encoder: the norm behind its embeddings, the vector of a text, and what its heads say.
  embedNorm: (model) => row("y", "=", "X", model.positions === "rope" ? row() : row("+", "P"), model.segments > 0 ? row("+", sub("E", named("seg"))) : row(), ...(model.embedding_norm ? [",", text("\u00a0"), "X", "=", layerNorm(model, "y")] : [])),
  pool: (model) => row("v", "=", named(model.pooler), bracket(mapped(model, sub("h", "1"), "p"))),
  labels: () => row("p", "=", named("softmax"), bracket("v", sup("W", "T"), "+", "b")),
  tagged: () => row(sub("p", "i"), "=", named("softmax"), bracket(sub("h", "i"), sup("W", "T"), "+", "b")),
  filled: (model) => row("y", "=", layerNorm(model, text(model.activation), bracket(mapped(model, "h", "t"))), ",", text("\u00a0"), "p", "=", named("softmax"), bracket("y", sup("E", "T"), "+", "b")),
  vector: (model) => (model.pooling === "mean" ? row("v", "=", frac("1", "S"), total("i", sub("h", "i")), ...(model.unit_length ? [",", text("\u00a0"), "v", "/", "‖", "v", "‖"] : [])) : row("v", "=", model.pooling === "pooler" ? row(named(model.pooler), bracket(mapped(model, sub("h", "1"), "p"))) : sub("h", "1"))),
  written: () => row(named("log"), "P", "=", total("t", row(named("log"), "P", bracket(sub("x", row("t", "+", "1")), "|", sub("x", row("≤", "t")))))),
};
const kSame = { feedNorm: "norm", choose: "logits" };

// The norm of one row: mean and deviation, or the root mean square, of its d_model numbers; then the learned gain and bias. A
// batch norm has a mean and a variance for each column, which it kept from training.
function normOf(model, stage, x) {
  if (isRms(model)) return row("γ", "⊙", frac(x, root(row(named("mean"), bracket(sup(x, "2")), "+", "ε"))));
  const [mean, deviation] = isBatchNorm(model, stage) ? [sub("μ", named("run")), math("msubsup", symbol("σ"), named("run"), symbol("2"))] : ["μ", sup("σ", "2")];
  return row("γ", "⊙", frac(row(x, "−", mean), root(row(deviation, "+", "ε"))), hasBias(model, "norm") ? row("+", "β") : row());
}

/// The <math> element of a formula by its name, as `model` (of /v1/inspect) computes it in `stage`.
export function formula(name, model, stage = null) {
  const own = isRecurrent(model) ? kRecurrentFormulas[name] : isConvolutional(model) ? kConvolutionalFormulas[name] : null;
  const element = math("math", (own ?? kFormulas[kSame[name] ?? name])(model, stage));
  element.setAttribute("display", "block");
  return element;
}

/// A symbol for use inside a sentence: "d_model", "√d_k", "W^Q".
export function inlineSymbol(code) {
  const bare = code.replace("√", ""), [base, index] = bare.split(/[_^]/);
  const inner = bare.includes("^") ? sup(base, index) : sub(base, index);
  return math("math", code.startsWith("√") ? root(inner) : inner);
}
