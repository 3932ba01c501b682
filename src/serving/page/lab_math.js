// The computations of the laboratory, without a page: tests run them in node and compare them with the C++ ops.
// Matrices are flat lists, row by row.

/// Uniform numbers in [0, 1) from a seed: a Weyl sequence through a mixer of 32 bits.
export function uniforms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296;
  };
}

/// Numbers of the standard normal distribution (Box and Muller 1958).
export function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
export const mean = (values) => sum(values) / values.length;
/// The mean squared distance to the mean, divided by n as the norms do.
export function variance(values) {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}
export const dot = (left, right) => left.reduce((total, value, i) => total + value * right[i], 0);

/// Soft-max of one row. A score of -Infinity gets the weight 0; a row of such scores gets zeros.
export function softmax(scores) {
  const largest = Math.max(...scores);
  if (largest === -Infinity) return scores.map(() => 0);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/// [n, n] derivative of weight i by score j: p_i (1[i = j] - p_j).
export function softmaxJacobian(weights) {
  return weights.flatMap((p, i) => weights.map((q, j) => p * ((i === j ? 1 : 0) - q)));
}

// --- Attention as regression with a kernel (Nadaraya 1964, Watson 1964)

/// Names of the kernels, and their values at u = distance / width.
export const kKernels = {
  gaussian: (u) => Math.exp(-0.5 * u * u),
  triangle: (u) => Math.max(0, 1 - Math.abs(u)),
  box: (u) => (Math.abs(u) <= 1 ? 1 : 0),
};

/// The attention weights of one query to keys on a line. The Gaussian kernel is the soft-max of -(q - x)^2 / (2 w^2).
/// A query that sees no key gets zeros.
export function kernelWeights(kernel, width, query, keys) {
  const distances = keys.map((key) => (query - key) / width);
  if (kernel === "gaussian") return softmax(distances.map((u) => -0.5 * u * u));
  const values = distances.map(kKernels[kernel]);
  const total = sum(values);
  return values.map((value) => (total > 0 ? value / total : 0));
}

/// theta, the logarithm of the factor of the squared distances: e^theta = 1 / (2 w^2).
export const thetaOf = (width) => -Math.log(2 * width * width);
export const widthOf = (theta) => Math.sqrt(0.5 * Math.exp(-theta));

/// {loss, slope}: the mean squared error of predicting each value from the other ones with the Gaussian kernel, and its
/// derivative by theta.
export function leaveOneOut(theta, keys, values) {
  let loss = 0, slope = 0;
  keys.forEach((query, i) => {
    const scores = keys.map((key, j) => (j === i ? -Infinity : -((query - key) ** 2) * Math.exp(theta)));
    const weights = softmax(scores);
    const error = dot(weights, values) - values[i];
    const prediction = error + values[i];
    const change = weights.reduce((total, weight, j) => (weight > 0 ? total + weight * scores[j] * (values[j] - prediction) : total), 0);
    loss += error * error / keys.length;
    slope += 2 * error * change / keys.length;
  });
  return { loss, slope };
}

/// One step of gradient descent on theta; no step is longer than 0.5, however far the points were dragged.
export function learnTheta(theta, keys, values, rate) {
  const step = -rate * leaveOneOut(theta, keys, values).slope;
  return theta + Math.min(Math.max(step, -0.5), 0.5);
}

// --- Positions

/// [n, d]: PE(pos, 2i) = sin(pos / 10000^(2i / d)), PE(pos, 2i + 1) = cos of the same angle.
export function positions(n, d) {
  return Array.from({ length: n * d }, (_, at) => {
    const column = at % d;
    const angle = Math.floor(at / d) / 10000 ** ((column - (column % 2)) / d);
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/// What the inner product of two position vectors is, from their distance alone: the sum of cos(k / 10000^(2i / d)).
export function innerOfDistance(distance, d) {
  return sum(Array.from({ length: d / 2 }, (_, i) => Math.cos(distance / 10000 ** ((2 * i) / d))));
}

// --- Scores

/// [n, n] Q K^T / sqrt(d) of queries and keys [n, d].
export function scaledScores(queries, keys, d) {
  const n = queries.length / d;
  const rowOf = (matrix, r) => matrix.slice(r * d, (r + 1) * d);
  return Array.from({ length: n * n }, (_, at) => dot(rowOf(queries, Math.floor(at / n)), rowOf(keys, at % n)) / Math.sqrt(d));
}

/// `count` rows of scores of one query to n keys, all of them standard normal numbers of d dimensions; not scaled.
export function drawScores(d, n, count, seed) {
  const normal = normals(seed);
  return Array.from({ length: count }, () => {
    const query = Array.from({ length: d }, normal);
    return Array.from({ length: n }, () => query.reduce((total, value) => total + value * normal(), 0));
  });
}

/// What rows of scores become: {variance, peak, slope}. `peak` is the mean of the largest weight of a row, `slope` the
/// mean size of a row's Jacobian (its Frobenius norm), through which every gradient must pass.
export function scoreFacts(rows) {
  const weights = rows.map(softmax);
  return {
    variance: variance(rows.flat()),
    peak: mean(weights.map((row) => Math.max(...row))),
    slope: mean(weights.map((row) => Math.sqrt(sum(softmaxJacobian(row).map((value) => value * value))))),
  };
}

// --- Norms of a cube [B, T, C]: sentences, words, features

export const kNorms = ["layer", "batch", "instance", "group"];

/// The sets of cells that one norm averages over, as lists of flat places b * T * C + t * C + c.
/// @param shape {sentences, words, features}; lengths: [B] real words, or null: padding counts like words
/// @param groups  number of groups of features, for "group"
export function normSets(norm, shape, lengths, groups = 2) {
  const { sentences, words, features } = shape;
  const keyOf = {
    layer: (b, t) => `${b},${t}`,
    batch: (b, t, c) => c,
    instance: (b, t, c) => `${b},${c}`,
    group: (b, t, c) => `${b},${Math.floor((c * groups) / features)}`,
  }[norm];
  const sets = new Map();
  for (let b = 0; b < sentences; ++b) {
    for (let t = 0; t < (lengths ? lengths[b] : words); ++t) {
      for (let c = 0; c < features; ++c) {
        const key = keyOf(b, t, c);
        if (!sets.has(key)) sets.set(key, []);
        sets.get(key).push((b * words + t) * features + c);
      }
    }
  }
  return [...sets.values()];
}

/// Each set brought to mean 0 and variance 1; cells in no set stay as they are.
export function normalise(values, sets, epsilon = 1e-5) {
  const result = [...values];
  for (const set of sets) {
    const cells = set.map((at) => values[at]);
    const middle = mean(cells), scale = 1 / Math.sqrt(variance(cells) + epsilon);
    set.forEach((at) => { result[at] = (values[at] - middle) * scale; });
  }
  return result;
}

/// What the real cells of one sentence depend on, as the largest change of any of them:
/// {padding}: without the padding; {others}: without the other sentences; {later}: of the first word, without the words
/// after it.
export function normDependence(norm, values, shape, lengths, sentence, groups = 2) {
  const { words, features } = shape;
  const alone = { ...shape, sentences: 1 };
  const start = sentence * words * features;
  const own = values.slice(start, start + words * features);
  const run = (cells, of, real) => normalise(cells, normSets(norm, of, real, groups));
  const padded = run(values, shape, null).slice(start), real = run(values, shape, lengths).slice(start);
  const single = run(own, alone, [lengths[sentence]]);
  const first = run(own, alone, [1]);
  const change = (left, right, count) => Math.max(0, ...Array.from({ length: count * features }, (_, i) => Math.abs(left[i] - right[i])));
  return {
    padding: change(padded, real, lengths[sentence]),
    others: change(real, single, lengths[sentence]),
    later: change(single, first, 1),
  };
}

// --- Masks

/// How padding may be treated; only "infinity" is right.
export const kPaddings = ["none", "zero", "after", "infinity"];

/// {scores, weights}, both [n, n]. Columns from `length` on are padding. "zero": their scores become 0; "after": their
/// weights become 0 after the soft-max; "infinity": their scores become -Infinity. Causal: row t sees columns 0 .. t.
export function maskScores(scores, n, length, padding, causal) {
  const masked = scores.map((score, at) => {
    const row = Math.floor(at / n), column = at % n;
    if (causal && column > row) return -Infinity;
    if (column < length) return score;
    return { none: score, zero: 0, after: score, infinity: -Infinity }[padding];
  });
  const weights = Array.from({ length: n }, (_, r) => softmax(masked.slice(r * n, (r + 1) * n))).flat();
  return { scores: masked, weights: weights.map((weight, at) => (padding === "after" && at % n >= length ? 0 : weight)) };
}
