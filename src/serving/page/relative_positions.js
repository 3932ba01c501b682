// Relative positions (Raffel et al. 2020): self-attention adds a number to the score of a query and a key, by the bucket of
// their distance and the head. Here as in an encoder, whose queries see both sides.

/// The bucket of a key that stands `offset` places behind its query, as the model chooses it, in float32: each side has half of
/// the buckets; of these one half has a distance each, the others more and more up to `reach`, and the last all beyond it.
function bucketOf(offset, count, reach) {
  const { abs, fround, log, min, trunc } = Math, half = count / 2, exact = half / 2, distance = abs(offset), first = offset > 0 ? half : 0;
  if (distance < exact) return first + distance;
  const place = fround(fround(fround(log(fround(distance / exact))) / fround(log(reach / exact))) * (half - exact));
  return first + min(half - 1, exact + trunc(place));
}

/// What is added to the scores of the query at `row` and its `count` keys. @param table  [buckets, h]
export function distancesOf({ shape: [, heads], values }, model, { head, row, count }) {
  return Array.from({ length: count }, (_, key) => values[bucketOf(key - row, model.relative_buckets, model.relative_distance) * heads + head]);
}
