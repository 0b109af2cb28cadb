import { expect, test } from 'vitest';
import { winnerOf } from './rendezvous.ts';

const names = Array.from({ length: 3_000 }, (_, n) => `ns${n}`);

test('namespaces are spread evenly, and a process that joins or leaves moves only its own share', () => {
  const three = new Map(names.map((name) => [name, winnerOf(name, [3, 8, 21])]));
  for (const epoch of [3, 8, 21]) {
    const share = names.filter((name) => three.get(name) === epoch).length;
    expect(share).toBeGreaterThan(900);
    expect(share).toBeLessThan(1_100);
  }
  for (const name of names) {
    expect(winnerOf(name, [21, 3, 8])).toBe(three.get(name));
    if (three.get(name) !== 8) expect(winnerOf(name, [3, 21])).toBe(three.get(name));
    const four = winnerOf(name, [3, 8, 21, 40]);
    expect([three.get(name), 40]).toContain(four);
  }
  expect(winnerOf('any', [])).toBeNull();
});
