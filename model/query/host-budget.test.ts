import { expect, test } from 'vitest';
import { CascadeError, langError } from '../../stdlib/errors.ts';
import { Pattern } from '../../stdlib/values/index.ts';
import { BudgetExceeded, type DeferredCall, dataOf, hostBounds, withAllowance, withAnswers, withinBudget } from './host-budget.ts';

const WORK: DeferredCall = { builtin: 'trim', args: ['a'] };
const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

test('what takes too long, or makes too much, is to be asked elsewhere', () => {
  expect(withinBudget(WORK, () => 5)).toBe(5);
  const over: (() => never)[] = [
    () => hostBounds.spend(200_001) as never,
    () => hostBounds.charge(4_000_001) as never,
    () => {
      throw langError('cascade.builtin.timeout', 'trim', 5);
    },
  ];
  for (const run of over) {
    const error = thrownBy(() => withinBudget(WORK, run));
    expect(error).toBeInstanceOf(BudgetExceeded);
    expect(error).toMatchObject({ code: 'cascade.builtin.timeout', params: ['trim', 1_000], call: WORK, key: 'trim ["a"]' });
  }
  expect(() => hostBounds.spend(200_000)).not.toThrow();
});

test('bytes are counted a call, not for ever', () => {
  const charge = () => withinBudget(WORK, () => (hostBounds.charge(3_000_000), 1));
  expect([charge(), charge()]).toEqual([1, 1]);
  expect(thrownBy(() => withinBudget(WORK, () => (hostBounds.charge(3_000_000), hostBounds.charge(3_000_000), 1)))).toBeInstanceOf(
    BudgetExceeded,
  );
});

test('any other error stays what it is', () => {
  for (const error of [new CascadeError('my.code', 'no', [], 400), new TypeError('a fault')])
    expect(
      thrownBy(() =>
        withinBudget(WORK, () => {
          throw error;
        }),
      ),
    ).toBe(error);
});

test('an answer from elsewhere is taken for the call that it belongs to', () => {
  const never = () => {
    throw new Error('asked again');
  };
  const pattern = new Pattern('a+');
  const search: DeferredCall = { builtin: null, args: ['aa', pattern] };
  expect(dataOf(search)).toEqual(['aa', 'a+']);
  const answers = new Map<string, number | boolean>([
    ['trim ["a"]', 7],
    [' regex ["aa","a+"]', true],
  ]);
  withAnswers(answers, () => {
    expect([withinBudget(WORK, never), withinBudget(search, never)]).toEqual([7, true]);
    expect(withinBudget({ builtin: 'trim', args: ['b'] }, () => 8)).toBe(8);
  });
  expect(() => withinBudget(WORK, never)).toThrow('asked again');
});

test('an allowance is for all calls together, and ends with what it was for', () => {
  withAllowance(10, () => {
    expect(() => hostBounds.spend(6)).not.toThrow();
    withAllowance(1_000_000, () => expect(() => hostBounds.spend(300_000)).not.toThrow());
    expect(() => hostBounds.spend(4)).not.toThrow();
    expect(() => hostBounds.spend(1)).toThrow();
  });
  expect(() => hostBounds.spend(100)).not.toThrow();
});
