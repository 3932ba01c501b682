// The address of what "Look inside" shows: #inside is the story, #inside/story/word/3 its third word, and
// #inside/encoder/2/head/1 the weights of a head. Layers, heads and words count from 1.

import { kDirections } from "/assets/model_facts.js";
import { kOfHead } from "/assets/stages.js";

const kScenes = ["words", "positions", "roles", "ask", "take", "join", "around", "layers", "memory", "first", "word", "end", "pool", "answer", "forward", "backward", "window", "summary"];

/// The address of a scene of the story.
export function hashOfScene(name, word) {
  if (name === "words") return "#inside";
  return `#inside/story/${name}${name === "word" && word !== undefined ? `/${word}` : ""}`;
}

/// The address of a stage of the study; the softmax of self-attention is what a layer and a head alone mean.
export function hashOfStage(stage, head) {
  const parts = ["inside", stage.side];
  if (stage.layer !== undefined) parts.push(stage.layer + 1);
  if (stage.direction) parts.push(stage.direction);
  if (stage.cross) parts.push("cross");
  if (stage.kind !== "softmax") parts.push(stage.kind);
  if (kOfHead.includes(stage.kind)) parts.push("head", head + 1);
  if (stage.step !== undefined) parts.push("word", stage.step + 1);
  return `#${parts.join("/")}`;
}

function count(text) {
  return /^[1-9][0-9]{0,3}$/.test(text ?? "") ? Number(text) - 1 : undefined;
}

function studyOf([side, ...rest]) {
  const wanted = { side, kind: "softmax" };
  let head;
  const layer = count(rest[0]);
  if (layer !== undefined) wanted.layer = layer;
  for (let i = layer === undefined ? 0 : 1; i < rest.length; ++i) {
    if (rest[i] === "head") head = count(rest[++i]);
    else if (rest[i] === "word") wanted.step = count(rest[++i]);
    else if (rest[i] === "cross") wanted.cross = true;
    else if (kDirections.includes(rest[i])) wanted.direction = rest[i];
    else if (/^[A-Za-z]+$/.test(rest[i])) wanted.kind = rest[i];
  }
  if (wanted.layer !== undefined && kOfHead.includes(wanted.kind)) wanted.cross ??= false;
  if (side === "decoder") wanted.step ??= 0;
  return { mode: "study", wanted, head };
}

/// What an address asks for: {mode: "story", place: {name, word} or null} or {mode: "study", wanted: a stage, head}.
/// What cannot be read means the story.
export function parseHash(hash) {
  const [view, first, ...rest] = hash.slice(1).split("/");
  if (view === "inside" && ["encoder", "decoder", "prompt"].includes(first)) return studyOf([first, ...rest]);
  const isScene = view === "inside" && first === "story" && kScenes.includes(rest[0]);
  return { mode: "story", place: isScene ? { name: rest[0], word: rest[0] === "word" && count(rest[1]) !== undefined ? count(rest[1]) + 1 : undefined } : null };
}
