// The formulas as MathML: those that this model computes. They follow its norm order, biases, activation and tying.
import { math } from "/assets/dom.js";

const mi = (name) => math("mi", name);
const mn = (number) => math("mn", number);
const mo = (sign) => math("mo", sign);
const text = (words) => math("mtext", words);
const row = (...parts) => math("mrow", ...parts.map((part) => (typeof part === "string" ? symbol(part) : part)));
const sub = (base, index) => math("msub", symbol(base), symbol(index));
const sup = (base, power) => math("msup", symbol(base), symbol(power));
const frac = (above, below) => math("mfrac", symbol(above), symbol(below));
const root = (inside) => math("msqrt", symbol(inside));

function symbol(part) {
  if (part instanceof Node) return part;
  if (/^[0-9.]+$/.test(part)) return mn(part);
  return /^[\p{L}]+$/u.test(part) ? mi(part) : mo(part);
}

const named = (name) => mi(name);
const bracket = (...inside) => row("(", ...inside, ")");
const dk = () => sub("d", "k");
const dModel = () => sub("d", named("model"));
const scaled = () => frac(row("Q", sup("K", "T")), root(dk()));

const hat = (base) => math("mover", symbol(base), mo("^"));
const weighted = (input, role) => row(input, sup("W", role), "+", sup("b", role));
const layerNorm = (...inside) => row(named("LayerNorm"), bracket(...inside));
// What a sub-layer reads: X itself, or the normalised X in pre-norm.
const read = (model) => (model.norm_order === "pre" ? hat("X") : mi("X"));
const small = (model) => (model.norm_order === "pre" ? hat("x") : mi("x"));
const table = (model, isTarget) => (model.tying === "all" ? mi("E") : model.tying === "target" || !isTarget ? sub("E", named(isTarget ? "target" : "source")) : sub("W", named("out")));
const total = (index, inside) => row(math("munder", mo("∑"), symbol(index)), inside);
const visible = (model, stage) => (stage?.side === "decoder" && !stage.cross ? total(row("l", "≤", "i"), sup("e", sub("a", row("i", "l")))) : total("l", sup("e", sub("a", row("i", "l")))));
const feed = (model, input) => row(model.activation === "relu" ? row(named("max"), bracket("0", ",", input, sub("W", "1"), "+", sub("b", "1")))
  : row(named(model.activation), bracket(input, sub("W", "1"), "+", sub("b", "1"))), sub("W", "2"), "+", sub("b", "2"));
const logits = (model) => row(sub("h", "t"), sup(table(model, true), "T"), model.output_bias ? row("+", "b") : row());

// Each takes the model and the stage that it stands in.
const kFormulas = {
  tokens: () => row(named("text"), "→", bracket(sub("x", "1"), ",", "…", ",", sub("x", "S"))),
  embed: (model) => row("X", "=", root(dModel()), "·", table(model, false), "[", named("id"), "]"),
  position: (model) => (model.positions === "sinusoidal" ? math("mtable",
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i"), "=", named("sin"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel()))))))),
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i", "+", "1"), "=", named("cos"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel()))))))))
    : row("x", "=", "X", "+", "P", "[", "pos", "]")),
  qkv: (model, stage) => {
    const keys = () => (stage?.cross ? named("memory") : read(model));
    return row("Q", "=", weighted(read(model), "Q"), ",", text("\u00a0"), "K", "=", weighted(keys(), "K"), ",", text("\u00a0"), "V", "=", weighted(keys(), "V"));
  },
  scores: () => row("Q", sup("K", "T"), ",", text("\u00a0"), bracket("i", ",", "j"), ":", text("\u00a0"), sub("q", "i"), "·", sub("k", "j")),
  scale: () => row("A", "=", scaled()),
  mask: () => row(sub("a", row("i", "j")), "=", "−", "∞", text("\u00a0\u00a0if\u00a0\u00a0"), "j", ">", "i"),
  softmax: (model, stage) => row(sub("α", row("i", "j")), "=", frac(sup("e", sub("a", row("i", "j"))), visible(model, stage))),
  context: (model, stage) => row(sub("head", "i"), "=", named("softmax"), bracket(scaled(), ...(stage?.side === "decoder" && !stage.cross ? ["+", named("mask")] : [])), "V"),
  heads: () => row(named("MultiHead"), "=", named("Concat"), bracket(sub("head", "1"), ",", "…", ",", sub("head", "h")), sup("W", "O"), "+", sup("b", "O")),
  // In pre-norm the norm stands alone, before the sub-layer; in post-norm it takes the sum.
  norm: (model) => (model.norm_order === "pre" ? row(hat("X"), "=", layerNorm("X"), ",", text("\u00a0"), normOf("x"))
    : row(layerNorm("x", "+", named("Sublayer"), bracket("x")), ",", text("\u00a0"), normOf("y"))),
  add: () => row("X", "+", named("MultiHead"), bracket(hat("X"))),
  feedAdd: () => row("X", "+", named("FFN"), bracket(hat("X"))),
  finalNorm: () => row(layerNorm("X"), ",", text("\u00a0"), normOf("x")),
  feed: (model) => row(named("FFN"), bracket(small(model)), "=", feed(model, small(model))),
  around: (model) => (model.norm_order === "pre" ? row("x", "+", named("MultiHead"), bracket(layerNorm("x")), ",", text("\u00a0then\u00a0"), "x", "+", named("FFN"), bracket(layerNorm("x")))
    : row(layerNorm("x", "+", named("MultiHead"), bracket("x")), ",", text("\u00a0then\u00a0"), layerNorm("x", "+", named("FFN"), bracket("x")))),
  stack: (model) => row(sub("X", "n"), "=", sub("Layer", "n"), bracket(sub("X", row("n", "−", "1"))), ",", text("\u00a0"), "n", "=", "1", "…", String(model.encoder_layers)),
  memory: (model) => row(named("memory"), "=", model.norm_order === "pre" ? layerNorm(sub("X", "N")) : sub("X", "N"), "∈", sup("ℝ", row("S", "×", dModel()))),
  chain: (model) => row("P", bracket(sub("y", "t"), "|", sub("y", row("<", "t")), ",", "x"), "=", named("softmax"), bracket(logits(model))),
  logits: (model) => row("z", "=", logits(model), ",", text("\u00a0"), sub("p", "i"), "=",
    frac(sup("e", row(sub("z", "i"), "/", "τ")), total("j", sup("e", row(sub("z", "j"), "/", "τ"))))),
  beam: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), row(named("lp"), bracket("y"))),
    ",", named("lp"), "=", sup(row("(", frac(row("5", "+", "|", "y", "|"), "6"), ")"), "α")),
  beamLength: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), sup(row("|", "y", "|"), "α"))),
  shift: () => row(text("input"), "=", bracket("⟨s⟩", ",", sub("y", "1"), ",", "…", ",", sub("y", row("t", "−", "1")))),
};
const kSame = { feedNorm: "norm", choose: "logits" };

// The norm of one row: mean and deviation over its d_model numbers, then the learned gain and bias.
function normOf(x) {
  return row("γ", "⊙", frac(row(x, "−", "μ"), root(row(sup("σ", "2"), "+", "ε"))), "+", "β");
}

/// The <math> element of a formula by its name, as `model` (of /v1/inspect) computes it in `stage`.
export function formula(name, model, stage = null) {
  const element = math("math", kFormulas[kSame[name] ?? name](model, stage));
  element.setAttribute("display", "block");
  return element;
}

/// A symbol for use inside a sentence: "d_model", "√d_k", "W^Q".
export function inlineSymbol(code) {
  const bare = code.replace("√", ""), [base, index] = bare.split(/[_^]/);
  const inner = bare.includes("^") ? sup(base, index) : sub(base, index);
  return math("math", code.startsWith("√") ? root(inner) : inner);
}
