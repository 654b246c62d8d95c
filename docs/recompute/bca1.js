// The BCa interval of algorithm bca-1, without packages:
//   node bca1.js NUMERATORS.csv DENOMINATOR SEED
// The CSV has a header and two columns, task_key and numerator; a task's value is numerator / DENOMINATOR.
"use strict";
const { readFileSync } = require("node:fs");

const RESAMPLES = 10000;
const MASK = (1n << 64n) - 1n;

// Philox4x64-10 under key (seed, 0); the first block has counter 1. Words come in the order of a block.
function* words(seed) {
  for (let counter = 1n; ; counter++) {
    let [a, b, c, d] = [counter, 0n, 0n, 0n];
    let [key0, key1] = [seed, 0n];
    for (let round = 0; round < 10; round++) {
      const first = a * 0xd2e7470ee14c6c93n;
      const second = c * 0xca5a826395121157n;
      [a, b, c, d] = [(second >> 64n) ^ b ^ key0, second & MASK, (first >> 64n) ^ d ^ key1, first & MASK];
      key0 = (key0 + 0x9e3779b97f4a7c15n) & MASK;
      key1 = (key1 + 0xbb67ae8584caa73bn) & MASK;
    }
    yield* [a, b, c, d];
  }
}

// The double nearest to a quotient of integers of any size: 65 bits of it or more, the last one for all that
// follow, are rounded once.
function quotient(numerator, denominator) {
  const size = numerator < 0n ? -numerator : numerator;
  const shift = Math.max(0, 65 + denominator.toString(2).length - size.toString(2).length);
  const shifted = size << BigInt(shift);
  const bits = (shifted / denominator) | (shifted % denominator === 0n ? 0n : 1n);
  return (numerator < 0n ? -1 : 1) * Number(bits) * 2 ** -shift;
}

// Six decimals, an exact half to the even digit. Of doubles only odd multiples of 1/128 are such halves, and
// toFixed takes them away from zero.
function sixDecimals(value) {
  const text = value.toFixed(6);
  const half = Math.abs(value * 128) % 2 === 1;
  return half && Number(text.at(-1)) % 2 === 1 ? (value - Math.sign(value) * 1e-7).toFixed(6) : text;
}

// Normal distribution function by its power series; what is used of it lies within eight deviations.
function normal(x) {
  let term = x;
  let sum = x;
  for (let k = 3; Math.abs(term) > 1e-18; k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

// Its inverse by halving.
function deviate(p) {
  let [low, high] = [-8, 8];
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (normal(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// Numerators in ascending byte order of the task keys.
function read(path) {
  const lines = readFileSync(path, "utf8").trim().split(/\r?\n/).slice(1);
  const tasks = lines.map((line) => line.split(","));
  tasks.sort((one, other) => Buffer.compare(Buffer.from(one[0]), Buffer.from(other[0])));
  return tasks.map(([, numerator]) => BigInt(numerator));
}

function resampledSums(x, seed) {
  const stream = words(seed);
  const n = BigInt(x.length);
  return Array.from({ length: RESAMPLES }, () => {
    let sum = 0n;
    for (let draw = 0; draw < x.length; draw++) sum += x[((stream.next().value >> 32n) * n) >> 32n];
    return sum;
  });
}

function interval(x, denominator, seed) {
  const n = x.length;
  const total = x.reduce((sum, value) => sum + value, 0n);
  const sums = resampledSums(x, seed).sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const below = sums.filter((sum) => sum < total).length;
  const ties = sums.filter((sum) => sum === total).length;
  const z0 = deviate((below + ties / 2) / RESAMPLES);
  const deviations = x.map((value) => BigInt(n) * value - total);
  const squares = deviations.reduce((sum, d) => sum + d * d, 0n);
  const cubes = deviations.reduce((sum, d) => sum + d * d * d, 0n);
  const a = Math.sqrt(quotient(cubes * cubes, 36n * squares ** 3n)) * (cubes < 0n ? -1 : 1);
  const scale = BigInt(n) * denominator;
  const bounds = [deviate(0.025), deviate(0.975)].map((z) => {
    const h = (RESAMPLES - 1) * normal(z0 + (z0 + z) / (1 - a * (z0 + z)));
    const k = Math.floor(h);
    const [one, next] = [sums[k], sums[Math.min(k + 1, RESAMPLES - 1)]].map((sum) => quotient(sum, scale));
    return one + (h - k) * (next - one);
  });
  return { estimate: quotient(total, scale), z0, a, lower: bounds[0], upper: bounds[1] };
}

const [path, denominator, seed] = process.argv.slice(2);
const x = read(path);
console.log(`tasks ${x.length}`);
if (x.every((value) => value === x[0])) {
  console.log("no interval: one task, or all tasks have the same value");
} else {
  const found = interval(x, BigInt(denominator), BigInt(seed));
  for (const [name, value] of Object.entries(found)) console.log(`${name} ${sixDecimals(value)}`);
}
