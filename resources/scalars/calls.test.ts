// What comes of a call whose run fails for another reason than the value.
import { expect, test } from 'vitest';
import type { ScalarDefinition } from '../../model/types/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { FeatureStates } from '../states.ts';
import { convertEach } from './calls.ts';

function raise(broken: Error): never {
  throw broken;
}

test('all who wait for a run get its fault', async () => {
  const broken = new TypeError('the run is gone');
  const runs = new Proxy({}, { ownKeys: () => raise(broken) });
  const space = {
    states: new FeatureStates(),
    catalog: { definitions: { get: () => ({}) } },
    execution: { runs },
  } as unknown as Namespace;
  const scalar: ScalarDefinition = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent' };
  const actor = { identity: { username: 'ann', namespace: 'main', profiles: [] }, depth: 0 } as unknown as Actor;
  const asked = [1, 2].map((value) => convertEach(space, scalar, 'toInternal', [value], actor));
  for (const one of asked) await expect(one).rejects.toBe(broken);
});
