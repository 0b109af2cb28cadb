// A cache of restrictions as checked conditions: by constraint, which is one object per version of a profile or type, and by caller where
// the constraint names the caller. Conditions with the current time are compiled for each request.

import { type BoundedCache, boundedCache } from '../../platform/structures/index.ts';
import type { Document } from 'mongodb';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type ConditionContext, type Predicate, toFilter } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { StateKey } from '../states.ts';

/** Bound of the callers whose form of one constraint is cached. */
const MOST_CALLERS = 1_000;

interface Compiled {
  readonly type: TypeDefinition;
  readonly depends: Dependence;
  /** The compiled form for each caller; '' where the constraint names no caller. */
  readonly byCaller: BoundedCache<string, Predicate>;
}

type Dependence = 'nothing' | 'caller' | 'time';

export class CompiledRestrictions {
  #compiled = new WeakMap<ObjectValue, Compiled>();
  readonly #filters = new WeakMap<Predicate, Document>();

  /** What conditions are compiled to has changed. */
  forget(): void {
    this.#compiled = new WeakMap();
  }

  /** @param parse compiles the condition @throws what it throws */
  predicate(where: ObjectValue, type: TypeDefinition, context: ConditionContext, parse: () => Predicate): Predicate {
    let compiled = this.#compiled.get(where);
    if (compiled?.type !== type) {
      compiled = { type, depends: dependenceOf(where), byCaller: boundedCache(MOST_CALLERS) };
      this.#compiled.set(where, compiled);
    }
    const { depends, byCaller } = compiled;
    if (depends === 'time') return parse();
    const caller = depends === 'caller' ? context.username : '';
    let predicate = byCaller.get(caller);
    if (!predicate) {
      predicate = parse();
      byCaller.set(caller, predicate);
    }
    return predicate;
  }

  /**
   * The condition as the store takes it. Equal conditions give the same object, so that callers with the same restriction share their
   * reads.
   */
  filter(predicate: Predicate): Document {
    let filter = this.#filters.get(predicate);
    if (!filter) {
      filter = toFilter(predicate);
      this.#filters.set(predicate, filter);
    }
    return filter;
  }
}

export const COMPILED_RESTRICTIONS = new StateKey('compiled restrictions', () => new CompiledRestrictions());

/** What a condition depends on: nothing, the caller, or the time. The namespace is the constraint's own and does not vary. */
function dependenceOf(value: Value): Dependence {
  if (!isObject(value) && !Array.isArray(value)) return 'nothing';
  if (isObject(value) && Object.hasOwn(value, 'ars_substitution')) return SUBSTITUTED[String(getOwn(value, 'ars_substitution'))] ?? 'time';
  const members = Array.isArray(value) ? value : Object.keys(value).map((name) => getOwn(value, name));
  const found = members.map(dependenceOf);
  return found.includes('time') ? 'time' : found.includes('caller') ? 'caller' : 'nothing';
}

const SUBSTITUTED: Readonly<Record<string, Dependence>> = { ars_username: 'caller', ars_currentNamespace: 'nothing' };
