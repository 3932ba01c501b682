// The story's scenes and when they play. Nothing here draws: a time in seconds becomes a scene and a part of it, 0 to 1.

// Seconds of the scenes that every sentence has, in order; `still` is the part that a still picture shows.
const kEncoderScenes = [
  { name: "words", seconds: 4, still: 0.95 }, { name: "positions", seconds: 3.5, still: 0.55 }, { name: "roles", seconds: 3, still: 0.98 },
  { name: "ask", seconds: 6, still: 0.97 }, { name: "take", seconds: 3.5, still: 0.55 }, { name: "join", seconds: 2.5, still: 0.45 },
  { name: "around", seconds: 4, still: 0.62 }, { name: "layers", seconds: 4, still: 0.5 }, { name: "memory", seconds: 3, still: 0.95, turns: true },
];
const kReadingScenes = [{ name: "pool", seconds: 4, still: 0.95 }, { name: "answer", seconds: 8, still: 0.95 }];
const kFirst = 9, kEnd = 6, kStill = 0.78;
const kAllWords = 36, kShortestWord = 0.8, kLongestWord = 4; // the words after the first share 36 s

/// The seconds of each word after the first.
export function secondsOfWord(steps) {
  return Math.min(Math.max(kAllWords / Math.max(steps - 1, 1), kShortestWord), kLongestWord);
}

/// @param steps  tokens of the translation, the end included, or of what a language model writes;  @param layers  of the
///   encoder, or of the model;  @param first  the number of the first step;  @param positions  whether there are vectors
///   for them;  @param reading  of an encoder: {pool, answer}, whether there are these scenes in the place of steps;
///   @param opening  the scenes before the first step
/// @return {scenes: [{name, step, begin, seconds, still, turns}], seconds}; in a scene that `turns` the decoder becomes the larger part of the stage
export function makeTimeline({ steps, layers, first = 0, positions = true, reading = null, opening = kEncoderScenes }) {
  const scenes = [];
  let seconds = 0;
  const add = (scene) => { scenes.push({ ...scene, begin: seconds }); seconds += scene.seconds; };
  opening.filter(({ name }) => (layers > 1 || name !== "layers") && (positions || name !== "positions") && !(reading && name === "memory")).forEach(add);
  if (reading) {
    kReadingScenes.filter(({ name }) => reading[name]).forEach(add);
    return { scenes, seconds };
  }
  for (let step = 0; step < steps; ++step) {
    add({ name: step ? "word" : "first", step: first + step, seconds: step ? secondsOfWord(steps) : kFirst, still: kStill });
  }
  add({ name: "end", step: first + steps - 1, seconds: kEnd, still: 1 });
  return { scenes, seconds };
}

/// The number of the scene that plays at a time; at the very end it is the last.
export function sceneAt(timeline, time) {
  let low = 0, high = timeline.scenes.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (timeline.scenes[middle].begin <= time + 1e-9) low = middle;
    else high = middle - 1;
  }
  return low;
}

/// How much of scene `index` has been played at a time, 0 to 1.
export function partAt(timeline, index, time) {
  const { begin, seconds } = timeline.scenes[index];
  return Math.min(Math.max((time - begin) / seconds, 0), 1);
}

/// The time of the picture that stands for a scene.
export function stillOf(scene) { return scene.begin + scene.still * scene.seconds; }

/// A part of a part: 0 before `from`, 1 after `to`, eased between.
export function phase(part, from, to) {
  const x = Math.min(Math.max((part - from) / (to - from), 0), 1);
  return x * x * (3 - 2 * x);
}

/// The same, delayed by the place in a row of things that move one after the other.
export function stagger(part, index, count, from, to) {
  const length = (to - from) * 0.5;
  const begin = from + (count > 1 ? (index / (count - 1)) * (to - from - length) : 0);
  return phase(part, begin, begin + length);
}

/// The stage of the study that computes what a scene shows: {kind, side, layer, step, cross}.
export function stageOfScene(scene, { encoderLayers, decoderLayers }) {
  const attention = { side: "encoder", layer: 0, cross: false };
  const decoder = { side: "decoder", step: scene.step };
  return {
    words: { kind: "embed", side: "encoder" }, positions: { kind: "position", side: "encoder" }, roles: { ...attention, kind: "qkv" },
    ask: { ...attention, kind: "softmax" }, take: { ...attention, kind: "context" }, join: { ...attention, kind: "heads" },
    around: { side: "encoder", layer: 0, kind: "feed" }, layers: { ...attention, kind: "softmax", layer: encoderLayers - 1 },
    memory: { kind: "memory", side: "encoder" }, first: { ...decoder, kind: "softmax", layer: decoderLayers - 1, cross: true },
    word: { ...decoder, kind: "choose" }, end: { kind: "beam", side: "decoder" },
  }[scene.name];
}

/// The same for a language model.
export function stageOfAlone(scene, { layers, first }) {
  const step = scene.step ?? first, attention = { side: "decoder", step, layer: 0 };
  return {
    words: { kind: "embed", side: "prompt" }, positions: { kind: "position", side: "prompt" }, roles: { ...attention, kind: "qkv" },
    ask: { ...attention, kind: "softmax" }, take: { ...attention, kind: "context" }, join: { ...attention, kind: "heads" },
    around: { ...attention, kind: "feed" }, layers: { ...attention, kind: "softmax", layer: layers - 1 }, memory: { ...attention, kind: "cache" },
    first: { kind: "choose", side: "decoder", step }, word: { kind: "choose", side: "decoder", step }, end: { kind: "choose", side: "decoder", step },
  }[scene.name];
}
