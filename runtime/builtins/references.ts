// Utils.get: the instance that a reference names (builtins.md 11).
import { CascadeError, langError } from '../../stdlib/errors.ts';
import { encodeInner, isReference, text, type Value } from '../../stdlib/values/index.ts';
import { fault } from '../faults.ts';
import { rowsOf } from './resource-api.ts';
import type { HostBuiltins } from './types.ts';

const SHAPE = /^\/?([^/]+)\/([\s\S]+)$/;

/** @throws cascade.lang.range when it is none */
function partsOf(ref: Value): { resourceName: string; resourceId: string } {
  const written = typeof ref === 'string' ? ref : isReference(ref) ? text(ref) : '';
  const [, resourceName, resourceId] = SHAPE.exec(written) ?? [];
  if (resourceName === undefined || resourceId === undefined)
    throw langError('cascade.lang.range', 'ref', typeof ref === 'string' ? ref : 'an Object');
  return { resourceName, resourceId };
}

export const references: HostBuiltins = {
  'Utils.get': async (space, [ref = null], actor) => {
    const { resourceName, resourceId } = partsOf(ref);
    try {
      const [found = null] = await rowsOf(
        space,
        { identity: actor.identity, op: 'select', resourceName, custom: null, resourceId, parameters: {} },
        actor,
      );
      return { ok: encodeInner(found) };
    } catch (error) {
      if (!(error instanceof CascadeError)) throw error;
      if (error.code === 'cascade.resource.not.found') return { ok: 'null' };
      throw error.code === 'cascade.resource.type.not.found' ? fault('cascade.resource.not.found', `/${resourceName}`) : error;
    }
  },
};
