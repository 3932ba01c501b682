// How long states are, how far they move from row to row and lie apart, without a page: tests run this in node.

/// The length of a vector.
export const lengthOf = (values) => Math.sqrt(values.reduce((total, value) => total + value * value, 0));

/// How long the state of each word is, and how far it moved from the state before: {shape: [N, 2], values}.
export function movement({ state, before }) {
  const [rows, width] = state.shape, values = [], rowAt = (part, r) => part.values.slice(r * width, (r + 1) * width);
  for (let r = 0; r < rows; ++r) {
    const now = rowAt(state, r), then = rowAt(before, r);
    values.push(lengthOf(now), lengthOf(now.map((value, i) => value - then[i])));
  }
  return { shape: [rows, 2], values };
}

/// How far two vectors lie apart: the length of their difference, as a share of the mean of their lengths; 0 for two zeros.
export function apart(left, right) {
  const both = lengthOf(left) + lengthOf(right);
  return both ? (2 * lengthOf(left.map((value, i) => value - right[i]))) / both : 0;
}
