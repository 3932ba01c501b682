// Relative positions (Raffel et al. 2020): self-attention adds a number to the score of a query and a key, by the bucket of
// their distance and the head.

/// The bucket of a key that stands `offset` places behind its query, as the model chooses it, in float32: half of the
/// buckets have one distance each, the others more and more up to `reach`, and the last all beyond it.
/// @param seesLater  keys behind the query have half of the buckets; otherwise they count as the query's own place
export function bucketOf(offset, { count, reach, seesLater }) {
  const half = seesLater ? count / 2 : count, first = seesLater && offset > 0 ? half : 0;
  const distance = seesLater ? Math.abs(offset) : Math.max(-offset, 0), exact = half / 2;
  if (distance < exact) return first + distance;
  const { fround } = Math, place = fround(fround(fround(Math.log(fround(distance / exact))) / fround(Math.log(reach / exact))) * (half - exact));
  return first + Math.min(half - 1, exact + Math.trunc(place));
}

/// What is added to the scores of the query at `row` of the encoder and its `count` keys. @param table  [buckets, h]
export function distancesOf({ shape: [, heads], values }, model, { head, row, count }) {
  const buckets = { count: model.relative_buckets, reach: model.relative_distance, seesLater: true };
  return Array.from({ length: count }, (_, key) => values[bucketOf(key - row, buckets) * heads + head]);
}
