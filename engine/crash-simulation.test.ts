// Integrations.md 12.2 and language.md U7 in a simulated world: services die or stall at any moment, the network fails, and in the end the
// store must be as after an undisturbed run. A failing seed is named; CASCADE_SIMULATION_SEED=<seed> repeats that one alone and reports
// each step, CASCADE_SIMULATION_SEEDS=<n> tries as many, from CASCADE_SIMULATION_FROM=<seed> on.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { amount } from '../scripts/testing/amount.ts';
import { CRASH_POINTS, Simulation } from './testing/simulation/index.ts';

const number = (name: string, otherwise: number): number => Number(process.env[`CASCADE_SIMULATION_${name}`] ?? otherwise);
const ONE = number('SEED', 0);
/** The nightly run tries new seeds for many minutes (scripts/testing/nightly-plan.mjs). */
const SEEDS = number('SEEDS', amount(150, 600));
/** Number of seeds from which on every crash point must have occurred. */
const MANY = 150;
const FROM = number('FROM', 1);

let simulation: Simulation;
beforeAll(() => {
  simulation = new Simulation();
});
afterAll(() => simulation[Symbol.dispose]());

test.runIf(ONE === 0)(`${SEEDS} seeds: whatever dies when, the effects are those of an undisturbed run`, { timeout: 0 }, async () => {
  for (let seed = FROM; seed < FROM + SEEDS; seed++) expect(await simulation.run(seed), `CASCADE_SIMULATION_SEED=${seed}`).toEqual([]);
});

test.runIf(ONE !== 0)(`seed ${ONE}`, { timeout: 0 }, async () => {
  const onStep = (what: string): void => void process.stdout.write(`${what}\n`);
  expect(await simulation.run(ONE, { onStep })).toEqual([]);
});

test.runIf(ONE === 0 && SEEDS >= MANY)('processes have died at every point of integrations.md 12.2', () => {
  for (const point of CRASH_POINTS) expect(simulation.crashes[point], point).toBeGreaterThan(0);
});

test('a repeated seed gives the same steps', { timeout: 0 }, async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const [first, second] = [[] as string[], [] as string[]];
    await simulation.run(seed, { onStep: (what) => void first.push(what) });
    await simulation.run(seed, { onStep: (what) => void second.push(what) });
    expect(second, `CASCADE_SIMULATION_SEED=${seed}`).toEqual(first);
  }
});

// A test of the checker: it must notice a planted defect.
test.each([
  ['the marks of ended runs', 'marks', /: [2-9] instead of 1$/],
  ['the journal', 'journal', /: 0 instead of 1$/],
  ['the versions of changes', 'versions', /^count: \d+ instead of \d+/],
  ['the parts of statements', 'parts', /(changed|erased) 0: 1 instead of 0$|Once .*: \d instead of/],
] as const)('without %s the simulation finds what is wrong', { timeout: 0 }, async (_, planted, expected) => {
  for (let seed = 1; seed <= 300; seed++) {
    const wrong = await simulation.run(seed, { planted });
    if (wrong.some((one) => expected.test(one))) return expect(wrong).not.toEqual([]);
  }
  return expect.unreachable('all seeds passed');
});
