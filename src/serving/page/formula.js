// The formulas of the paper, as MathML.
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

const kFormulas = {
  tokens: () => row(named("text"), "→", bracket(sub("x", "1"), ",", "…", ",", sub("x", "n"))),
  embed: () => row("X", "=", root(dModel()), "·", "E", "[", named("id"), "]"),
  position: () => math("mtable",
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i"), "=", named("sin"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel()))))))),
    math("mtr", math("mtd", row(named("PE"), bracket("pos", ",", "2", "i", "+", "1"), "=", named("cos"),
      bracket(frac("pos", sup("10000", row("2", "i", "/", dModel())))))))),
  learned: () => row(named("x"), "=", "X", "+", "P", "[", "pos", "]"),
  qkv: () => row("Q", "=", "X", sup("W", "Q"), ",", "K", "=", "X", sup("W", "K"), ",", "V", "=", "X", sup("W", "V")),
  qkvCross: () => row("Q", "=", "X", sup("W", "Q"), ",", "K", "=", named("memory"), sup("W", "K"), ",", "V", "=",
    named("memory"), sup("W", "V")),
  scores: () => row("S", "=", "Q", sup("K", "T"), ",", sub("S", row("i", "j")), "=", sub("q", "i"), "·", sub("k", "j")),
  scale: () => row(scaled()),
  mask: () => row(sub("S", row("i", "j")), "=", "−", "∞", text("\u00a0\u00a0if\u00a0\u00a0"), "j", ">", "i"),
  softmax: () => row(sub("α", row("i", "j")), "=",
    frac(sup("e", sub("s", row("i", "j"))), row(math("munder", mo("∑"), mi("j")), sup("e", sub("s", row("i", "j")))))),
  context: () => row(named("Attention"), bracket("Q", ",", "K", ",", "V"), "=", named("softmax"),
    bracket(scaled()), "V"),
  multi: () => row(named("MultiHead"), "=", named("Concat"),
    bracket(sub("head", "1"), ",", "…", ",", sub("head", "h")), sup("W", "O")),
  normPost: () => row(named("LayerNorm"), bracket("x", "+", named("Sublayer"), bracket("x"))),
  normPre: () => row("x", "+", named("Sublayer"), bracket(named("LayerNorm"), bracket("x"))),
  feed: () => row(named("FFN"), bracket("x"), "=", named("max"), bracket("0", ",", "x", sub("W", "1"), "+", sub("b", "1")),
    sub("W", "2"), "+", sub("b", "2")),
  feedOther: () => row(named("FFN"), bracket("x"), "=", "φ", bracket("x", sub("W", "1"), "+", sub("b", "1")), sub("W", "2"),
    "+", sub("b", "2")),
  memory: () => row(named("memory"), "=", named("Encoder"), bracket("x"), "∈", sup("ℝ", row("n", "×", dModel()))),
  logits: () => row("z", "=", "h", sup("E", "T"), ",", sub("p", "i"), "=",
    frac(sup("e", row(sub("z", "i"), "/", "τ")), row(math("munder", mo("∑"), mi("j")), sup("e", row(sub("z", "j"), "/", "τ"))))),
  beam: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), row(named("lp"), bracket("y"))),
    ",", named("lp"), "=", sup(row("(", frac(row("5", "+", "|", "y", "|"), "6"), ")"), "α")),
  beamLength: () => row("s", bracket("y"), "=", frac(row(named("log"), "P", bracket("y", "|", "x")), sup(row("|", "y", "|"), "α"))),
  shift: () => row(text("input"), "=", bracket("⟨s⟩", ",", sub("y", "1"), ",", "…", ",", sub("y", row("t", "−", "1")))),
};

/// The <math> element of a formula by its name.
export function formula(name) {
  const element = math("math", kFormulas[name]());
  element.setAttribute("display", "block");
  return element;
}
