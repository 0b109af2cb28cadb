import { expect, test } from 'vitest';
import { checkComparable, compareFigures } from './compare.ts';
import type { Load } from './options.ts';

const ms = (...rounds: number[]) => ({ unit: 'ms', better: 'lower', rounds }) as const;
const rate = (...rounds: number[]) => ({ unit: '1/s', better: 'higher', rounds }) as const;

test('a change beyond the noise of both results is named better or worse; within it there is no verdict', () => {
  expect(compareFigures('p99', ms(10, 11, 10, 12, 10), ms(20, 22, 21, 20, 23))).toMatchObject({
    base: 10,
    now: 21,
    ratio: 2.1,
    verdict: 'worse',
  });
  expect(compareFigures('p99', ms(20, 22, 21), ms(10, 11, 10)).verdict).toBe('better');
  expect(compareFigures('rate', rate(100, 101, 99), rate(50, 51, 49)).verdict).toBe('worse');
  expect(compareFigures('noisy', ms(10, 30, 12, 14, 25), ms(14, 11, 28, 30, 13)).verdict).toBe('same');
  expect(compareFigures('steady', ms(100, 100, 100), ms(103, 103, 103)).verdict).toBe('same');
  expect(compareFigures('two rounds', ms(1, 1), ms(9, 9)).verdict).toBe('same');
  expect(compareFigures('nothing', ms(0, 0, 0), ms(0, 0, 0))).toMatchObject({ ratio: 1, band: [1, 1] });
});

test('a result with another load is refused, and the difference is named', () => {
  const load: Load = { mode: 'rate', events: 'file a', rate: 100, boundMs: null, seconds: 5, connections: 16 };
  expect(() => checkComparable(load, load)).not.toThrow();
  expect(() => checkComparable(load, { ...load, rate: 200 })).toThrow('measured with rate 100, this is with 200');
});
