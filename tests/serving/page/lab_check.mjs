// Compares the functions of the page's laboratory with the C++ ops:
//   node lab_check.mjs PATH/lab_numbers PATH/src/serving/page
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, finish, load, near } from "./checks.mjs";

const [program, page] = process.argv.slice(2);
const lab = await load(join(page, "lab_math.js"));

const shape = { sentences: 3, words: 4, features: 6 };
const compute = {
  softmax: ({ given }) => lab.softmax(given),
  jacobian: ({ given }) => lab.softmaxJacobian(lab.softmax(given)),
  kernel: ({ given, answer }) => {
    const weights = lab.kernelWeights(given.kernel, given.width, given.query, given.keys);
    near("the answer of the kernel", [lab.dot(weights, given.values)], [answer]);
    return weights;
  },
  learning: ({ given, thetas }) => {
    let theta = thetas[0];
    return thetas.map((expected) => {
      near("theta", [theta], [expected]);
      const { loss } = lab.leaveOneOut(theta, given.keys, given.values);
      theta = lab.learnTheta(theta, given.keys, given.values, given.rate);
      return loss;
    });
  },
  positions: ({ given }) => lab.positions(...given),
  norm: ({ given }) => lab.normalise(given.cube, lab.normSets(given.norm, shape, null, given.groups)),
  mask: ({ given }) => {
    const n = given.queries.length / given.width;
    return lab.maskScores(lab.scaledScores(given.queries, given.keys, given.width), n, given.length, "infinity", given.causal).weights;
  },
};

// --- The page's numbers are those of the ops. float32 results are held to float32's precision.
const cases = JSON.parse(execFileSync(program, { encoding: "utf8" }));
const seenKinds = new Set();
for (const one of cases) {
  seenKinds.add(one.of);
  near(`${one.of} ${JSON.stringify(one.given).slice(0, 60)}`, compute[one.of](one), one.result, ["positions", "mask"].includes(one.of) ? 2e-6 : one.of === "norm" ? 2e-8 : 1e-10);
}
expect(Object.keys(compute).every((kind) => seenKinds.has(kind)), `the ops were asked for ${[...seenKinds]} alone`);

// --- Laws of what has no op.
const inBox = lab.kernelWeights("box", 1, 0, [-2, -1, 0.5, 3]);
near("box", inBox, [0, 0.5, 0.5, 0]);
near("a kernel that sees nothing", lab.kernelWeights("triangle", 0.1, 0, [1, 2]), [0, 0]);

for (const d of [4, 32]) {
  const table = lab.positions(60, d);
  const row = (p) => table.slice(p * d, (p + 1) * d);
  for (const k of [0, 1, 7]) {
    near("inner products at one distance", [3, 20, 41].map((p) => lab.dot(row(p), row(p + k))), [3, 20, 41].map(() => lab.innerOfDistance(k, d)));
  }
}

const scores = lab.drawScores(64, 16, 400, 1);
const facts = lab.scoreFacts(scores), scaled = lab.scoreFacts(scores.map((row) => row.map((score) => score / 8)));
expect(Math.abs(facts.variance - 64) < 6.4, `the variance of scores is ${facts.variance}, d_k is 64`);
expect(Math.abs(scaled.variance - 1) < 0.1, `the variance of scaled scores is ${scaled.variance}`);
expect(scaled.slope > 1.5 * facts.slope, `the gradient is ${facts.slope} without the division, ${scaled.slope} with it`);

const normal = lab.normals(1), lengths = [4, 2, 3];
const cube = Array.from({ length: 72 }, (_, at) => (Math.floor(at / 6) % 4 < lengths[Math.floor(at / 24)] ? normal() : 0));
const depends = Object.fromEntries(lab.kNorms.map((norm) => [norm, lab.normDependence(norm, cube, shape, lengths, 1)]));
expect(Object.values(depends.layer).every((change) => change === 0), "LayerNorm depends on its word alone");
expect(depends.batch.padding > 0.01 && depends.batch.others > 0.01, "BatchNorm depends on padding and other sentences");
for (const norm of ["instance", "group"]) {
  expect(depends[norm].padding > 0.01 && depends[norm].others === 0 && depends[norm].later > 0.01, `${norm} norm depends on padding and later words, not on other sentences`);
}

const some = Array.from({ length: 36 }, normal);
for (const padding of lab.kPaddings) {
  const { weights } = lab.maskScores(some, 6, 4, padding, false);
  const onPadding = weights.filter((_, at) => at % 6 >= 4).reduce((total, weight) => total + weight, 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  expect((onPadding === 0) === ["infinity", "after"].includes(padding), `${padding}: padding has ${onPadding}`);
  expect((Math.abs(total - 6) < 1e-9) === (padding !== "after"), `${padding}: six rows sum to ${total}`);
}

finish(`${cases.length} results of the ops and the laws hold`);
