// The example with four installations: each station gives its strongest, and one that stands still is named. A step of the nightly run.
import { expect, test } from 'vitest';
import { readFeatures } from '../earthquakes/quakes.ts';
import { openFleet, STATIONS } from './fleet.ts';

/** What a station has to say, computed from the file. */
function expected(magnitude: number): [string, number][] {
  const others = Object.values(STATIONS).flat();
  return Object.entries(STATIONS).flatMap(([station, networks]) =>
    readFeatures()
      .filter(({ properties: { net } }) => (networks.length > 0 ? networks.includes(net) : !others.includes(net)))
      .map(({ properties: { mag } }) => mag)
      .filter((mag) => mag >= magnitude)
      .sort((a, b) => b - a)
      .slice(0, 3)
      .map((mag): [string, number] => [station, mag]),
  );
}

test('the centre hears all stations within two seconds, and says who did not answer', async () => {
  await using fleet = await openFleet();
  expect(Object.values(fleet.quakes).reduce((sum, count) => sum + count, 0)).toBe(readFeatures().length);
  const inOrder = (rows: [string, number][]): string[] => rows.map((row) => row.join(' ')).sort();
  const all = await fleet.question(3);
  expect(inOrder(all.answers.map(({ station, magnitude }) => [station, magnitude]))).toEqual(inOrder(expected(3)));
  expect(all.silent).toEqual([]);
  fleet.silence('california');
  try {
    const some = await fleet.question(3);
    const received = expected(3).filter(([station]) => station !== 'california');
    expect(inOrder(some.answers.map(({ station, magnitude }) => [station, magnitude]))).toEqual(inOrder(received));
    expect(some.silent).toMatchObject([{ station: 'california', why: 'Node california did not answer within 2000 ms.' }]);
  } finally {
    fleet.wake('california');
  }
});
