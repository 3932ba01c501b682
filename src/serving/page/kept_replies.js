// Stands in the place of api.js in a page that is a file: what a server would answer was kept in it.
const kept = JSON.parse(document.getElementById("kept").textContent);

/// What the page shows, as the body of POST /v1/inspect without its parts.
export const keptRequest = kept.request;

function partOf({ part, path }) {
  const found = kept.parts.find((one) => one.part === part && (part === "weights" || one.path === path));
  if (!found) throw new Error(`this page does not keep the part ${part} of ${path}`);
  return part === "weights" && path ? { ...found, attentions: found.attentions.filter((one) => one.path === path) } : found;
}

/// Answers of encoders are not kept.
export async function encode(route) {
  throw new Error(`this page does not keep what ${route} says`);
}

/// As that of api.js, from what was kept.
export async function inspect({ parts }) {
  return { model: kept.model, source: kept.source, target: kept.target, parts: parts.map(partOf) };
}
