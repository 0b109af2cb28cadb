// The tests of random inputs: which they are, how they are given a seed, and the seeds that have found something (scripts/fuzz-seeds.json).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTestFiles } from './run-vitest.mjs';

/** What a test imports or reads whose inputs are random. */
const MARKS = [
  "from 'fast-check'",
  '/arbitrary.ts',
  '/random-questions.ts',
  '/random-trees.ts',
  'CASCADE_FUZZ_SEED',
  'CASCADE_PATTERN_RUNS',
];
const OWN = 'scripts/testing/';

/** @type {import('./random-tests.d.mts').randomTests} */
export function randomTests(root) {
  return findTestFiles(root).filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return !file.startsWith(OWN) && MARKS.some((mark) => text.includes(mark));
  });
}

/** @type {import('./random-tests.d.mts').seeded} */
export function seeded(file, seed) {
  if (file === 'engine/crash-simulation.test.ts') return { CASCADE_SIMULATION_SEED: String(seed) };
  return { CASCADE_SEED: String(seed), CASCADE_FUZZ_SEED: String(seed) };
}

const place = (root) => join(root, 'scripts', 'fuzz-seeds.json');

/** @type {import('./random-tests.d.mts').readSeeds} */
export function readSeeds(root) {
  return JSON.parse(readFileSync(place(root), 'utf8'));
}

/** @type {import('./random-tests.d.mts').keepSeed} */
export function keepSeed(root, file, seed) {
  const kept = readSeeds(root);
  if (kept.some((one) => one.file === file && one.seed === seed)) return;
  const lines = [...kept, { file, seed }].map((one) => `  ${JSON.stringify(one)}`);
  writeFileSync(place(root), `[\n${lines.join(',\n')}\n]\n`);
}
