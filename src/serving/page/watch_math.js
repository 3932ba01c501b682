// What the view "Training" computes, without a page: tests run this in node.

/// The mean entropy of the rows of a map in nats: log(columns) for even rows, 0 for rows with one weight. Rows without
/// weight are left out.
export function meanEntropy(weights, nColumns) {
  const rows = Array.from({ length: weights.length / nColumns }, (_, r) => weights.slice(r * nColumns, (r + 1) * nColumns));
  const entropies = rows.flatMap((row) => {
    const total = row.reduce((sum, weight) => sum + weight, 0);
    return total > 0 ? [row.reduce((sum, weight) => (weight > 0 ? sum - (weight / total) * Math.log(weight / total) : sum), 0)] : [];
  });
  return entropies.length ? entropies.reduce((sum, value) => sum + value, 0) / entropies.length : 0;
}

/// The words of a hypothesis, each with whether the reference has it: [{word, known}]. A word of the reference counts
/// once.
export function knownWords(hypothesis, reference) {
  const left = new Map();
  for (const word of reference.split(/\s+/)) left.set(word, (left.get(word) ?? 0) + 1);
  return hypothesis.split(/\s+/).filter(Boolean).map((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return { word, known: count > 0 };
  });
}

/// Adds the sets of a reply to those that are there. A run that went back to an earlier step replaces what it wrote
/// again.
export function joinSets(sets, later) {
  const steps = new Set(later.map((set) => set.step));
  return [...sets.filter((set) => !steps.has(set.step)), ...later].sort((a, b) => a.step - b.step);
}

/// The newest set of a step that is not later; null if there is none.
export function setAt(sets, step) {
  return sets.filter((set) => set.step <= step).at(-1) ?? null;
}
