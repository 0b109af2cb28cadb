// Statements on nodes in a simulated world: whatever dies when, each reliable write has its effect once. A failing seed is named;
// CASCADE_SIMULATION_SEED=<seed> repeats that one alone and reports each step, CASCADE_FLEET_SEEDS=<n> tries as many.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { amount } from '../scripts/testing/amount.ts';
import { FleetSimulation } from './testing/fleet/index.ts';

const ONE = Number(process.env['CASCADE_SIMULATION_SEED'] ?? 0);
const FROM = Number(process.env['CASCADE_SIMULATION_FROM'] ?? 1);
const SEEDS = Number(process.env['CASCADE_FLEET_SEEDS'] ?? amount(50, 100));

let simulation: FleetSimulation;
beforeAll(() => {
  simulation = new FleetSimulation();
});
afterAll(() => simulation[Symbol.dispose]());

// spec: integrations.md 11.8
test.runIf(ONE === 0)(`${SEEDS} seeds`, { timeout: 0 }, async () => {
  for (let seed = FROM; seed < FROM + SEEDS; seed++) expect(await simulation.run(seed), `CASCADE_SIMULATION_SEED=${seed}`).toEqual([]);
});

test.runIf(ONE !== 0)(`seed ${ONE}`, { timeout: 0 }, async () => {
  expect(await simulation.run(ONE, { onStep: (what) => void process.stdout.write(`${what}\n`) })).toEqual([]);
});

test.each([
  ['nodes forget', /\d effects on/],
  ['requests have new ids', /\d effects on/],
] as const)('where %s the simulation finds what is wrong', { timeout: 0 }, async (planted, expected) => {
  for (let seed = 1; seed <= 300; seed++) {
    const wrong = await simulation.run(seed, { planted });
    if (wrong.some((one) => expected.test(one))) return expect(wrong).not.toEqual([]);
  }
  return expect.unreachable('all seeds passed');
});
