// What formulas are put together from, as MathML.
import { math } from "/assets/dom.js";

export const mi = (name) => math("mi", name);
const mn = (number) => math("mn", number);
export const mo = (sign) => math("mo", sign);
export const text = (words) => math("mtext", words);
export const row = (...parts) => math("mrow", ...parts.map((part) => (typeof part === "string" ? symbol(part) : part)));
export const sub = (base, index) => math("msub", symbol(base), symbol(index));
export const sup = (base, power) => math("msup", symbol(base), symbol(power));
export const frac = (above, below) => math("mfrac", symbol(above), symbol(below));
export const root = (inside) => math("msqrt", symbol(inside));

/// A symbol: a number, a name or a sign. Nodes stay as they are.
export function symbol(part) {
  if (part instanceof Node) return part;
  if (/^[0-9.]+$/.test(part)) return mn(part);
  return /^[\p{L}]+$/u.test(part) ? mi(part) : mo(part);
}

export const named = (name) => mi(name);
export const bracket = (...inside) => row("(", ...inside, ")");
export const hat = (base) => math("mover", symbol(base), mo("^"));
export const arrow = (base, sign) => math("mover", symbol(base), mo(sign));
export const total = (index, inside) => row(math("munder", mo("∑"), symbol(index)), inside);
/// Formulas below each other.
export const lines = (...formulas) => math("mtable", ...formulas.map((formula) => math("mtr", math("mtd", formula))));
/// A comma and some room, between two formulas.
export const comma = () => row(",", text("\u00a0"));
