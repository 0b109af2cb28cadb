// Which events become dead letters.
import { expect, test } from 'vitest';
import { systemClock } from '../../platform/clock/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { deadLetter } from './dead-letters.ts';

const FAILED = { reason: 'poison', error: null, deliveries: 1 } as const;

test('a rule over several events that listens on dead letters makes none itself', () => {
  const asked: string[] = [];
  const triggers = [{ path: '/topics/a/publish' }, { path: '/types/system.deadletters/insert' }];
  const get = (kind: string, name: string) => (asked.push(`${kind} ${name}`), name === 'pair:2' ? { triggers } : undefined);
  const space = { name: 'main', clock: systemClock, catalog: { definitions: { get } } } as unknown as Namespace;
  const event = { uuid: 'u', path: '/rules/pair:2', value: 'null', at: new Date(), by: 'ann', chain: { root: 'u', depth: 0 }, runs: [] };
  expect(deadLetter(space, { ...FAILED, event, target: '/rules/pair:2' })).toEqual({ writes: [], events: [] });
  expect(asked).toEqual(['rules pair:2']);
});
