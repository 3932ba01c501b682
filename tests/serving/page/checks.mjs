// What the checks in node share: loading a module of the page, and counting what does not hold.
import { readFileSync } from "node:fs";

/// A module of the page that imports nothing. Its name ends in .js, which node does not take for a module everywhere.
export const load = (path) => import(`data:text/javascript;base64,${readFileSync(path).toString("base64")}`);

let failed = 0;

export function expect(holds, what) {
  if (holds) return;
  ++failed;
  console.log(`FAILED  ${what}`);
}

/// Compares lists of numbers, relative to 1 + their size.
export function near(what, seen, expected, tolerance = 1e-10) {
  const worst = Math.max(0, ...expected.map((value, i) => Math.abs(value - seen[i]) / (1 + Math.abs(value))));
  expect(seen.length === expected.length && worst <= tolerance, `${what}: off by ${worst}, at most ${tolerance} is allowed`);
}

export function same(what, seen, expected) {
  expect(JSON.stringify(seen) === JSON.stringify(expected), `${what}: expected ${JSON.stringify(expected)}, seen ${JSON.stringify(seen)}`);
}

/// Ends the process: 0 if all held.
export function finish(text) {
  console.log(failed ? `${failed} failed` : text);
  process.exit(failed ? 1 : 0);
}
