// The formulas of recurrent models (docs/recurrent.md), with p, w and u for the sums that come from the word, from what is fed
// and from the state.
import { arrow, bracket, comma, lines, mi, named, row, sub, sup, total } from "/assets/formula_parts.js";
import { isFed } from "/assets/model_facts.js";

const t = () => mi("t");
const before = (stage) => row("t", stage?.direction === "backward" ? "+" : "−", "1");
// The states of the encoder are h, those of the decoder s.
const state = (stage, index) => sub(stage?.side === "decoder" ? "s" : "h", index);
const sigma = (...inside) => row("σ", bracket(...inside));
const tanh = (...inside) => row(named("tanh"), bracket(...inside));
const pair = (left, right) => row("[", left, ",", right, "]");

// The sums of one gate: p + u, and w where something is fed.
function sums(model, stage, gate, withState = true) {
  const parts = ["p", ...(isFed(model, stage) ? ["w"] : []), ...(withState ? ["u"] : [])];
  return parts.flatMap((part, i) => [...(i ? ["+"] : []), sub(part, gate)]);
}

const gate = (model, stage, name) => row(name, "=", sigma(...sums(model, stage, name)));

const kGates = {
  gru: (model, stage) => lines(row(gate(model, stage, "r"), comma(), gate(model, stage, "z")),
    row("n", "=", tanh(...sums(model, stage, "n", false), "+", "r", "⊙", sub("u", "n")))),
  lstm: (model, stage) => lines(row(gate(model, stage, "i"), comma(), gate(model, stage, "f"), comma(), gate(model, stage, "o")),
    row("g", "=", tanh(...sums(model, stage, "g")))),
};
const kNew = {
  gru: (stage) => row(state(stage, t()), "=", bracket("1", "−", "z"), "⊙", "n", "+", "z", "⊙", state(stage, before(stage))),
  lstm: (stage) => row(sub("m", t()), "=", "f", "⊙", sub("m", before(stage)), "+", "i", "⊙", "g", comma(), state(stage, t()), "=", "o", "⊙", tanh(sub("m", t()))),
};

function readout(model) {
  const word = sub("y", row("t", "−", "1")), isDeep = model.layers > 1;
  const top = model.attention === "bahdanau" && !isDeep ? pair(sub("s", t()), sub("c", t())) : sub("s", t());
  const parts = [row(top, "W")];
  // What the first layer gives: its state beside the context, or the attentional vector.
  if (isDeep && model.attention === "bahdanau") parts.push(row(pair(sup(sub("s", t()), bracket("1")), sub("c", t())), sub("W", "1")));
  if (isDeep && model.input_feeding) parts.push(row(sub("a", t()), sub("W", "1")));
  if (model.attention === "bahdanau") parts.push(row(word, sub("W", "y")));
  if (model.attention === "luong" && !model.input_feeding) parts.push(row(sub("c", t()), sub("W", "c")));
  return row(sub("o", t()), "=", tanh(...parts.flatMap((part) => [part, "+"]), "b"));
}

export const kRecurrentFormulas = {
  cellInput: () => row(sub("p", t()), "=", sub("x", t()), "W", "+", "b"),
  cellFed: (model) => row(sub("w", t()), "=", model.input_feeding ? sub("a", row("t", "−", "1")) : sub("c", t()), sub("W", "fed")),
  cellState: (model, stage) => row(sub("u", t()), "=", state(stage, before(stage)), "U", "+", "c"),
  cellGates: (model, stage) => kGates[model.cell](model, stage),
  cellNew: (model, stage) => kNew[model.cell](stage),
  join: () => row(sub("e", "j"), "=", pair(sub(arrow("h", "→"), "j"), sub(arrow("h", "←"), "j"))),
  summary: () => row(named("summary"), "=", pair(sub(arrow("h", "→"), "S"), sub(arrow("h", "←"), "1"))),
  firstState: (model) => row(sub("s", "0"), "=", tanh(named("summary"), "W", "+", "b"), ...(model.cell === "lstm" ? [comma(), sub("m", "0"), "=", tanh(named("summary"), sup("W", "′"), "+", sup("b", "′"))] : [])),
  sourceKeys: () => row(sub("k", "j"), "=", sub("e", "j"), "K"),
  memory: () => row(named("memory"), "=", bracket(sub("e", "1"), ",", "…", ",", sub("e", "S")), "∈", sup("ℝ", row("S", "×", "C"))),
  sourceQuery: () => row(sub("q", t()), "=", sub("s", row("t", "−", "1")), sub("W", "q")),
  scores: (model) => row(sub("a", row("t", "j")), "=", ...(model.attention === "bahdanau" ? ["v", "·", tanh(sub("q", t()), "+", sub("k", "j"))] : [sub("s", t()), "·", sub("k", "j")])),
  context: () => row(sub("c", t()), "=", total("j", row(sub("α", row("t", "j")), sub("e", "j")))),
  attentional: () => row(sub("a", t()), "=", tanh(pair(sub("c", t()), sub("s", t())), "W", "+", "b")),
  readout: (model) => readout(model),
};
