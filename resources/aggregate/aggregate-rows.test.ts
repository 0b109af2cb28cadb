// An aggregate of a program keeps a value a group of its rows, however many there are, and the groups are bounded.
import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import { RowReader } from '../../platform/mongo/index.ts';
import { encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { keepOfRows } from '../representation/index.ts';
import { aggregateRows, type WantedAggregate } from './aggregate-rows.ts';

const space = { name: 'main' } as Namespace;
const LONG = 20_000;

async function* pages(count: number, row: (n: number) => ObjectValue) {
  for (let n = 0; n < count; n++) yield { rows: [encodeInner(row(n))], isLast: n === count - 1 };
}

/** The groups, and the most bytes that were kept on the way. */
async function aggregated(count: number, row: (n: number) => ObjectValue, wanted: WantedAggregate[], groupBy: string[]) {
  let [kept, most] = [0, 0];
  const add = (bytes: number): void => {
    kept += bytes;
    most = Math.max(most, kept);
  };
  return { groups: await aggregateRows(space, 'T', pages(count, row), wanted, groupBy, { add }), most };
}

test('of long values as many are kept as there are groups', async () => {
  const row = (n: number): ObjectValue => ({ k: n % 2, t: `${n % 10}${'x'.repeat(LONG)}`, o: { t: 'y'.repeat(LONG) } });
  const wanted: WantedAggregate[] = [
    ['all', ['count', null]],
    ['n', ['count', 't']],
    ['least', ['min', 't']],
    ['last', ['last', 'o']],
  ];
  const { groups, most } = await aggregated(500, row, wanted, ['k']);
  expect(groups.map(({ k, all, n, least }) => [k, all, n, String(least).slice(0, 2)])).toEqual([
    [0, 250, 250, '0x'],
    [1, 250, 250, '1x'],
  ]);
  expect(groups[1]?.['last']).toEqual({ t: 'y'.repeat(LONG) });
  expect(most).toBeGreaterThan(4 * LONG);
  expect(most).toBeLessThan(10 * LONG);
});

test('groups beyond the bound are refused, alone or with what else the namespace holds, and given back', async () => {
  const reader = new RowReader({} as Db);
  const grouped = async (count: number, wholeBytes: number): Promise<number> => {
    using kept = keepOfRows(reader, wholeBytes);
    return (
      await aggregateRows(
        space,
        'T',
        pages(count, (n) => ({ n })),
        [['c', ['count', null]]],
        ['n'],
        kept,
      )
    ).length;
  };
  expect(await grouped(2_000, 2_000_000)).toBe(2_000);
  await expect(grouped(2_000, 500_000)).rejects.toMatchObject({ code: 'cascade.query.too.expensive' });
  {
    using _other = reader.hold(1_500_000);
    await expect(grouped(2_000, 2_000_000)).rejects.toMatchObject({ status: 429, code: 'cascade.quota.exceeded' });
  }
  expect(reader.heldBytes).toBe(0);
});

test('a function of another installation that is none is refused before a row is read', async () => {
  let isRead = false;
  const rows = (async function* () {
    isRead = true;
    yield { rows: [], isLast: true };
  })();
  const wanted = [['m', ['median', 'n']]] as unknown as WantedAggregate[];
  const refused = aggregateRows(space, 'T', rows, wanted, [], { add: () => undefined });
  await expect(refused).rejects.toMatchObject({ code: 'cascade.operation.unknown' });
  expect(isRead).toBe(false);
});
