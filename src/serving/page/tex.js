// Formulas written in TeX as MathML, as far as the laboratory and docs/derivations.md need it.
import { math } from "/assets/dom.js";

const kLetters = Object.fromEntries(("alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ "
  + "phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ infty ∞ partial ∂ nabla ∇").split(" ").reduce((pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []));
const kSigns = {
  cdot: "⋅", times: "×", pm: "±", le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", neq: "≠", approx: "≈", equiv: "≡", sim: "∼", propto: "∝", to: "→", rightarrow: "→",
  mapsto: "↦", Rightarrow: "⇒", Leftrightarrow: "⇔", iff: "⇔", implies: "⇒", leftarrow: "←", gets: "←", in: "∈", notin: "∉", subset: "⊂", cup: "∪", cap: "∩", forall: "∀", exists: "∃",
  ldots: "…", cdots: "⋯", dots: "…", vdots: "⋮", ddots: "⋱", mid: "|", vert: "|", Vert: "‖", odot: "⊙", otimes: "⊗", oplus: "⊕", circ: "∘", ast: "∗", star: "⋆", top: "⊤", bot: "⊥",
  lbrace: "{", rbrace: "}", langle: "⟨", rangle: "⟩", lfloor: "⌊", rfloor: "⌋", lceil: "⌈", rceil: "⌉", ll: "≪", gg: "≫", colon: ":", lt: "<", gt: ">", prime: "′", setminus: "∖", backslash: "∖", mathbin: "",
};
const kLarge = { sum: "∑", prod: "∏", int: "∫", bigoplus: "⨁", bigcup: "⋃" };
const kLimits = new Set(["sum", "prod", "bigoplus", "bigcup", "max", "min", "lim", "argmax", "argmin"]);
const kNames = new Set(["log", "ln", "exp", "sin", "cos", "tan", "max", "min", "lim", "det", "Pr", "dim", "arg", "sup", "inf", "tanh"]);
const kSpaces = { ",": 0.17, ":": 0.22, ";": 0.28, " ": 0.25, "!": -0.17, quad: 1, qquad: 2, enspace: 0.5 };
const kAccents = { hat: "^", widehat: "^", bar: "¯", overline: "¯", tilde: "~", vec: "→", dot: "˙" };
const kFences = { pmatrix: "()", bmatrix: "[]", vmatrix: "||", cases: "{ ", matrix: "  ", aligned: "  ", align: "  ", "align*": "  ", gathered: "  ", array: "  ", split: "  " };
const kDouble = { R: "ℝ", N: "ℕ", Z: "ℤ", E: "𝔼", P: "ℙ", "1": "𝟙" };

function tag(name, attributes, ...children) {
  const node = math(name, ...children);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
const row = (nodes) => (nodes.length === 1 ? nodes[0] : math("mrow", nodes));

class Reader {
  constructor(text, display) {
    this.tokens = text.match(/\\[a-zA-Z]+|\\[^]|\d+(?:\.\d+)?|\s+|[^]/gu) ?? [];
    this.at = 0;
    this.display = display;
  }

  skip() { while (/^\s+$/.test(this.tokens[this.at] ?? "")) ++this.at; }
  peek() { this.skip(); return this.tokens[this.at]; }
  next() { this.skip(); return this.tokens[this.at++]; }
  take(token) { const is = this.peek() === token; if (is) ++this.at; return is; }

  /// All up to one of the tokens `ends`, which stays.
  nodes(...ends) {
    const result = [];
    while (this.peek() !== undefined && !ends.includes(this.peek())) {
      const node = this.scripted();
      if (node) result.push(node);
    }
    return result;
  }

  group() {
    if (!this.take("{")) return this.atom() ?? math("mrow");
    const inside = row(this.nodes("}"));
    this.take("}");
    return inside;
  }

  /// The characters between braces as they stand.
  raw() {
    this.skip();
    if (this.tokens[this.at] !== "{") return this.next() ?? "";
    let depth = 0, text = "";
    do {
      const token = this.tokens[this.at++] ?? "}";
      depth += token === "{" ? 1 : token === "}" ? -1 : 0;
      text += token;
    } while (depth > 0 && this.at < this.tokens.length);
    return text.slice(1, -1).replace(/\\([^a-zA-Z])/g, "$1");
  }

  scripted() {
    const first = this.peek();
    const base = this.atom();
    if (!base) return null;
    let below = null, above = null;
    for (;;) {
      if (this.take("_")) below = this.group();
      else if (this.take("^")) above = this.group();
      else if (this.take("'")) above = math("mo", "′");
      else break;
    }
    const around = (this.display && kLimits.has(first?.slice(1))) || base.localName === "munder" || base.localName === "mover";
    const [both, under, over] = around ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
    if (below && above) return math(both, base, below, above);
    return below ? math(under, base, below) : above ? math(over, base, above) : base;
  }

  atom() {
    const token = this.next();
    if (token === undefined) return null;
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (token === "{") { --this.at; return this.group(); }
    if (/^\d/.test(token)) return math("mn", token);
    if (/^\p{L}$/u.test(token)) return math("mi", token);
    if (token === "-") return math("mo", "−");
    if (token === "|") return tag("mo", { stretchy: "false" }, "|");
    return "()[]".includes(token) ? tag("mo", { stretchy: "false" }, token) : math("mo", token);
  }

  command(name) {
    if (name in kSpaces) return tag("mspace", { width: `${kSpaces[name]}em` });
    if (name in kLetters) return math("mi", kLetters[name]);
    if (name in kSigns) return kSigns[name] ? math("mo", kSigns[name]) : null;
    if (name in kLarge) return math("mo", kLarge[name]);
    if (kNames.has(name)) return math("mi", name);
    if (name in kAccents) return tag("mover", { accent: "true" }, this.group(), math("mo", kAccents[name]));
    if (/^[^a-zA-Z]$/.test(name)) return math("mo", { "|": "‖" }[name] ?? name);
    return this[`_${name}`]?.() ?? this.styled(name);
  }

  // Commands with arguments that only choose a font, or that say nothing here.
  styled(name) {
    if (["text", "textrm", "textit", "texttt", "textbf", "mbox"].includes(name)) return math("mtext", this.raw().replace(/^ | $/g, "\u00a0"));
    if (["mathrm", "operatorname", "mathit", "mathsf", "mathtt"].includes(name)) { this.take("*"); return math("mi", this.raw()); }
    if (["mathbb", "mathbf", "boldsymbol", "bm", "mathcal"].includes(name)) {
      const letter = this.raw();
      return name === "mathbb" ? math("mi", kDouble[letter] ?? letter) : tag("mrow", { class: "bold" }, ...new Reader(letter, this.display).nodes());
    }
    if (name === "tag") return math("mtext", `\u2003(${this.raw()})`);
    if (name === "label") { this.raw(); return null; }
    const says = ["displaystyle", "textstyle", "limits", "nolimits", "bigl", "bigr", "big", "Big", "Bigl", "Bigr", "bigg", "biggl", "biggr", "middle", "nonumber"].includes(name);
    return says ? null : math("mtext", name);
  }

  _frac() { return math("mfrac", this.group(), this.group()); }
  _dfrac() { return this._frac(); }
  _tfrac() { return this._frac(); }
  _boxed() { return this.group(); }
  _sqrt() {
    if (!this.take("[")) return math("msqrt", this.group());
    const index = row(this.nodes("]"));
    this.take("]");
    return math("mroot", this.group(), index);
  }
  _underbrace() { return tag("munder", {}, this.group(), math("mo", "⏟")); }
  _overbrace() { return tag("mover", {}, this.group(), math("mo", "⏞")); }
  _left() {
    const open = this.next(), inside = this.nodes("\\right");
    this.take("\\right");
    return this.fenced(open, inside, this.next());
  }
  fenced(open, inside, close) {
    const fence = (token) => (!token || token === "." || token === " " ? [] : [tag("mo", { fence: "true" }, kSigns[token.slice(1)] ?? token.replace("\\|", "‖").replace("\\", ""))]);
    return math("mrow", fence(open), inside, fence(close));
  }
  _begin() {
    const name = this.raw();
    if (name === "array") this.raw();
    const rows = [[[]]];
    while (this.peek() !== undefined && this.peek() !== "\\end") {
      if (this.take("&")) rows.at(-1).push([]);
      else if (this.take("\\\\") || this.take("\\cr")) rows.push([[]]);
      else { const node = this.scripted(); if (node) rows.at(-1).at(-1).push(node); }
    }
    this.take("\\end");
    this.raw();
    if (rows.at(-1).every((cell) => !cell.length)) rows.pop();
    const align = (column) => (name.startsWith("align") || name === "split" ? (column % 2 ? "left" : "right") : name === "cases" ? "left" : "center");
    const table = tag("mtable", { displaystyle: String(!/matrix|cases/.test(name)) }, rows.map((cells) => math("mtr", cells.map((cell, column) => tag("mtd", { class: `cell-${align(column)}` }, cell)))));
    const [open, close] = kFences[name] ?? "  ";
    return this.fenced(open, [table], close);
  }
}

/// The <math> element of a formula in TeX; a command that is not known is shown by its name.
export function tex(text, display = true) {
  const element = math("math", new Reader(text, display).nodes());
  element.setAttribute("display", display ? "block" : "inline");
  return element;
}
