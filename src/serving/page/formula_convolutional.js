// The formulas of convolutional models (docs/convolutional.md): x are rows of the encoder, y rows of the decoder, e and g the
// words of source and target, r = √½.
import { bracket, comma, frac, mi, named, root, row, sub, symbol, total } from "/assets/formula_parts.js";
import { math } from "/assets/dom.js";
import { kernelOf } from "/assets/model_facts.js";

const inDecoder = (stage) => stage?.side === "decoder";
const rowName = (stage) => (inDecoder(stage) ? "y" : "x");
const index = (stage) => mi(inDecoder(stage) ? "t" : "j");
const level = (stage, below = 0) => String((stage?.layer ?? 0) + 1 - below);
// The row of a level of a stage, at a place.
const at = (stage, below, place) => math("msubsup", symbol(rowName(stage)), place, symbol(level(stage, below)));
const shifted = (stage, by) => (by === 0 ? index(stage) : row(index(stage), by < 0 ? "−" : "+", String(Math.abs(by))));
const half = () => root(frac("1", "2"));

// x_{j-1}, x_j, x_{j+1}; of a wide kernel the ends alone.
function windowRow(model, stage) {
  const { before, after } = kernelOf(model, stage?.side), places = Array.from({ length: before + after + 1 }, (_, i) => i - before);
  const shown = places.length > 4 ? [places[0], null, places.at(-1)] : places;
  return shown.flatMap((place, i) => [...(i ? [","] : []), place === null ? "…" : at(stage, 1, shifted(stage, place))]);
}

const convolved = (stage) => row(sub("w", index(stage)), "A", "+", "a", comma(), sub("w", index(stage)), "B", "+", "b");

export const kConvolutionalFormulas = {
  convIn: (model, stage) => row(math("msubsup", symbol(rowName(stage)), index(stage), symbol("0")), "=", sub(inDecoder(stage) ? "g" : "e", index(stage)), "W", "+", "c"),
  window: (model, stage) => row(sub("w", index(stage)), "=", "[", ...windowRow(model, stage), "]"),
  convolve: (model, stage) => convolved(stage),
  glu: (model, stage) => row(sub(inDecoder(stage) ? "h" : "v", index(stage)), "=", bracket(sub("w", index(stage)), "A", "+", "a"), "⊙", "σ", bracket(sub("w", index(stage)), "B", "+", "b")),
  convQuery: () => row(sub("q", "t"), "=", half(), bracket(sub("h", "t"), "W", "+", "c", "+", sub("g", "t"))),
  scores: () => row(sub("a", row("t", "j")), "=", sub("q", "t"), "·", sub("k", "j")),
  context: () => row(sub("c", "t"), "=", total("j", row(sub("α", row("t", "j")), sub("v", "j")))),
  convFound: () => row(sub("f", "t"), "=", half(), bracket(sub("h", "t"), "+", sub("c", "t"), "W", "+", "b")),
  convAdd: (model, stage) => row(at(stage, 0, index(stage)), "=", half(), bracket(sub(inDecoder(stage) ? "f" : "v", index(stage)), "+", at(stage, 1, index(stage)))),
  reach: (model, stage) => row(named("rows"), "=", "1", "+", "l", bracket("K", "−", "1"), "=", "1", "+", level(stage), "·", String(model.kernel_width - 1)),
  convKeys: (model) => row(sub("k", "j"), "=", math("msubsup", symbol("x"), symbol("j"), symbol(String(model.encoder_layers))), "W", "+", "c"),
  convValues: () => row(sub("v", "j"), "=", root("S"), half(), bracket(sub("k", "j"), "+", sub("e", "j"))),
  memory: () => row(named("memory"), "=", bracket(sub("k", "1"), ",", sub("v", "1")), ",", "…", ",", bracket(sub("k", "S"), ",", sub("v", "S"))),
  convOut: (model) => row(sub("h", "t"), "=", math("msubsup", symbol("y"), symbol("t"), symbol(String(model.decoder_layers))), "W", "+", "b"),
};
