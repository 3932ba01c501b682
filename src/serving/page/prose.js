// Sentences with symbols: d_model, √d_k, W^Q and the like become MathML, and "S = 19" does not break over lines.
import { el } from "/assets/dom.js";
import { inlineSymbol } from "/assets/formula.js";

const kSymbols = /((?:√?\b[A-Za-z]_[A-Za-z0-9]+|\b[A-Za-z]+\^[QKVOT])(?: = [\d.]+)?|\b[A-Za-z] = [\d.]+)/u;

/// @return the nodes of a text
export function prose(text) {
  return text.split(kSymbols).map((part, i) => {
    if (i % 2 === 0) return part;
    const [symbol, number] = part.split(" = ");
    return el("span", { class: "whole-line" }, symbol.length > 1 ? inlineSymbol(symbol) : symbol, number ? ` = ${number}` : null);
  });
}
