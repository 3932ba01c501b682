// What the configuration of a model, as /v1/inspect tells it, means for its stages, its formulas and its parts.

/// Whether the model is a decoder without an encoder: a language model.
export const isAlone = (model) => model.encoder_layers === 0;

/// Whether the model is an encoder without a decoder: it reads texts.
export const isReader = (model) => model.decoder_layers === 0;

/// Whether the decoder is one of the pictures and formulas of the page: with self-attention.
export const hasDrawnDecoder = (model) => (model.decoder_sublayer ?? "self-attention") === "self-attention";

/// What stands before the paths of a stack: "encoder.", "decoder.", or nothing where the stack stands alone.
export const stackOf = (model, side) => (isAlone(model) || isReader(model) ? "" : `${side}.`);

export const isRms = (model) => model.norm === "rms";
export const isGated = (model) => model.feed_forward === "gated";

/// Whether there are biases. what: "input", of queries, keys and values; "map", of the other matrices; "norm".
export function hasBias(model, what) {
  const biases = model.biases ?? "all";
  return what === "input" ? biases !== "none" : biases === "all" && (what === "map" || !isRms(model));
}

/// Whether queries and keys are changed after their projection: RMSNorm on each head, rotation by the place.
export const turns = (model) => model.positions === "rope" || Boolean(model.qk_norm);

/// Whether products of queries and keys are divided by the root of d_k.
export const scales = (model) => model.scale_attention !== false;
/// Whether self-attention adds a number for the distance of query and key (relative positions).
export const addsDistances = (model) => model.positions === "relative";
/// What the soft-max of self-attention takes, in a line of text.
export const scoreText = (model, root = "√d_k") => `q·k${scales(model) ? ` / ${root}` : ""}${addsDistances(model) ? " + b" : ""}`;

/// Whether a vector is added for the place of a word.
export const addsPositions = (model) => model.positions === "sinusoidal" || model.positions === "learned" || isConvolutional(model);

/// Numbers of one head, d_v, as wide as which zeros make its queries and keys. The stacks differ where their heads share the model's width.
export const headWidth = (model, inDecoder) => (!model.d_head || model.d_head === model.d_model / model.decoder_n_heads ? model.d_model / (inDecoder ? model.decoder_n_heads : model.n_heads) : model.d_head);
/// Numbers of a query or a key of one head, d_k.
export const keyWidth = (model, inDecoder) => (hasNarrowKeys(model) || (isRecurrent(model) && model.d_key) ? model.d_key : headWidth(model, inDecoder));
/// Whether queries and keys of a head are narrower than its values (rows B of table 3 of the paper).
export const hasNarrowKeys = (model) => hasSelfAttention(model) && model.d_key < model.d_head;

/// Whether the norms of a stage are batch norms: those of the encoder alone may be.
export const isBatchNorm = (model, stage) => model.norm === "batch" && stage?.side === "encoder";

/// How the norms of a stage are written: LayerNorm, RMSNorm or BatchNorm.
export const normName = (model, stage) => (isRms(model) ? "RMSNorm" : isBatchNorm(model, stage) ? "BatchNorm" : "LayerNorm");

export const isRecurrent = (model) => model.architecture === "recurrent";
export const isConvolutional = (model) => model.architecture === "convolutional";
/// Whether words of one side look at each other, which the story and the comparison of two sentences are about.
export const hasSelfAttention = (model) => !isRecurrent(model) && !isConvolutional(model);
/// Whether the decoder attends to the source.
export const attends = (model) => !isRecurrent(model) || model.attention !== "none";
/// The ways of a bidirectional encoder over a sentence.
export const kDirections = ["forward", "backward"];
/// Whether what was attended to goes into the cell of a stage.
export const isFed = (model, stage) => stage?.side === "decoder" && stage.layer === 0 && (model.attention === "bahdanau" || Boolean(model.input_feeding));
/// Whether each column of a weight is kept as a direction and a length.
export const isNormed = (model) => Boolean(model.weight_norm);
/// The rows that a convolution of one side sees before and behind a row.
export function kernelOf({ kernel_width: width }, side) {
  const before = side === "decoder" ? width - 1 : Math.floor((width - 1) / 2);
  return { before, after: width - 1 - before };
}
/// The first and the last row that the state at `row` has seen after some layers of convolutions; they may lie past an end.
export function reachOf(model, side, layers, row) {
  const { before, after } = kernelOf(model, side);
  return [row - layers * before, row + layers * after];
}
/// The gates of a cell in the order in which they stand side by side.
export const gatesOf = (model) => (model.cell === "lstm" ? ["i", "f", "g", "o"] : ["r", "z", "n"]);
