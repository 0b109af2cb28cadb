// The store's filter means what the in-memory filter means: random instances and conditions against a real mongod.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/api-errors.ts';
import { coerceProperty } from '../types/index.ts';
import { instance, PROPERTIES, where } from './testing/arbitrary.ts';
import { toFilter } from './filter.ts';
import { matches } from './matches.ts';
import { openTestCollection, type TestCollection } from './testing/collection.ts';
import { parseWhere } from './parse.ts';
import { CONTEXT, typeOf } from './testing.ts';
import type { Predicate } from './types.ts';
import { amount } from '../../scripts/testing/amount.ts';

const type = typeOf('Any', { ...PROPERTIES });
const RUNS = Number(process.env.CASCADE_FILTER_RUNS ?? amount(250, 600));

let store: TestCollection | null = null;
beforeAll(async () => {
  store = await openTestCollection('conditions_filter');
});
afterAll(() => store?.[Symbol.asyncDispose]());

const coerced = (raw: ObjectValue): ObjectValue =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const property = type.properties.get(name);
      return [name, property ? coerceProperty(type, property, value) : value];
    }),
  );

function parsed(condition: ObjectValue): Predicate | null {
  try {
    return parseWhere(condition, type, CONTEXT);
  } catch (error) {
    if (error instanceof CascadeError) return null; // some of the random operands do not convert
    throw error;
  }
}

test('a filter finds in the store what the condition matches in memory', { timeout: 600_000 }, async (context) => {
  if (!store) return context.skip('CASCADE_TEST_MONGO is not set');
  const open = store;
  const instances = fc.sample(instance, { numRuns: 400, seed: 7 }).map(coerced);
  await open.fill(type, instances);
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(where, async (condition) => {
      const predicate = parsed(condition);
      if (!predicate) {
        refused++;
        return;
      }
      let filter: ReturnType<typeof toFilter>;
      try {
        filter = toFilter(predicate);
      } catch (error) {
        if (error instanceof CascadeError && error.code === 'cascade.query.too.expensive') return;
        throw error;
      }
      const inMemory = instances.flatMap((each, place) => (matches(predicate, each) ? [place] : []));
      const stored = await open.find(filter);
      const differing = [...new Set([...inMemory, ...stored])].find((place) => inMemory.includes(place) !== stored.includes(place));
      const reported =
        differing === undefined
          ? ''
          : `${encodeInner(condition)} on ${encodeInner(instances[differing] as ObjectValue)}: ${JSON.stringify(filter)}`;
      expect(stored, reported).toEqual(inMemory);
    }),
    { numRuns: RUNS },
  );
  expect(refused).toBeLessThan(RUNS / 2);
});
