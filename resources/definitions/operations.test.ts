// What conditions on definitions may take of the service's time.
import { expect, test } from 'vitest';
import { parseType } from '../../model/types/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { DefinitionResource, Namespace } from '../catalog/index.ts';
import { matching } from './operations.ts';

test('what takes too long is told by its name: a long list, or a pattern', () => {
  const type = parseType(
    { name: 'Part', properties: { flags: { type: 'Boolean', multi: true }, text: { type: 'String' } } },
    { types: new Map(), scalars: new Map() },
  );
  const part = { flags: Array.from({ length: 100 }, () => false), text: 'a'.repeat(1_000_000) };
  const parts = new Map(Array.from({ length: 100 }, (_, i) => [`p${i}`, part]));
  const kind = { name: 'parts', type, builtIn: () => parts } as unknown as DefinitionResource;
  const space = { catalog: { definitions: { list: () => [] } } } as unknown as Namespace;
  const actor = { identity: { username: 'ann', namespace: 'main' }, clock: { now: () => 0 } } as unknown as Actor;
  const refusal = (limit: string) => expect.objectContaining({ code: 'cascade.query.too.expensive', params: [limit] });
  const trues = Array.from({ length: 10_000 }, () => true);
  expect(() => matching(space, kind, { flags: { $in: trues } }, actor)).toThrow(refusal('listElements'));
  expect(() => matching(space, kind, { text: { $regex: '(a+)+b' } }, actor)).toThrow(refusal('regex'));
  expect(matching(space, kind, { flags: { $in: [false] } }, actor)).toHaveLength(100);
});
