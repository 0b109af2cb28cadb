// The recommenders of the service (builtins.md 27).
import { langError } from '../../stdlib/errors.ts';
import {
  decodeInner,
  encodeInner,
  getOwn,
  isInteger,
  isNumber,
  numberOf,
  type ObjectValue,
  type Value,
} from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { pureBuiltins } from '../../resources/host-context.ts';
import { selectPages } from '../../resources/instances/index.ts';
import { type Namespace, instancesOf, type HostBuiltin, type HostBuiltins } from '../../resources/catalog/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { best, byLikeness, byPlace, type Directives, isPoint, type Metres } from './rankings.ts';
import { typed } from '../builtins/index.ts';

const DEFAULT_MOST = 10;
/** Limits the candidates of a recommendation. */
const MOST_CANDIDATES = 50_000;

const defaultRecommendations: HostBuiltin = async (space, args, actor) => {
  const { type, pattern, directives, candidates } = await asked(space, args, actor);
  const names = Object.keys(pattern).filter(
    (name) => type.properties.has(name) && !directives.excluded.has(name) && getOwn(pattern, name) !== null,
  );
  return { ok: encodeInner(best(byLikeness(pattern, candidates, names, metres), directives)) };
};

const nearbyRecommendations: HostBuiltin = async (space, args, actor) => {
  const [, , candidateType = null, matchType = null] = args;
  if (matchType !== null && matchType !== candidateType)
    throw langError('cascade.recommend.type.mismatch', 'Recommend.nearbyRecommendations', matchType);
  const { pattern, directives, candidates } = await asked(space, args, actor);
  const names = Object.keys(pattern).filter((name) => isPoint(getOwn(pattern, name)) && !directives.excluded.has(name));
  if (names.length === 0) throw langError('cascade.lang.range', 'pattern', 'an Object without a Point');
  return { ok: encodeInner(best(byPlace(pattern, candidates, names, directives, metres), directives)) };
};

export const recommend: HostBuiltins = {
  'Recommend.defaultRecommendations': defaultRecommendations,
  'Recommend.nearbyRecommendations': nearbyRecommendations,
};

const geoDistance = pureBuiltins(systemClock)('geoDistance');
const metres: Metres = (a, b) => numberOf(geoDistance?.(a, b) ?? 0);

interface Asked {
  readonly type: TypeDefinition;
  readonly pattern: ObjectValue;
  readonly directives: Directives;
  readonly candidates: readonly ObjectValue[];
}

async function asked(
  space: Namespace,
  [given = null, pattern = null, candidateType = null, matchType = null]: readonly Value[],
  actor: Actor,
): Promise<Asked> {
  const type = typeNamed(space, candidateType);
  if (matchType !== null) typeNamed(space, matchType);
  const directives = directivesOf((given ?? {}) as ObjectValue);
  const own = matchType === null || matchType === candidateType ? getOwn(pattern as ObjectValue, '_id') : null;
  const candidates: ObjectValue[] = [];
  const query = { where: {}, props: null, orderBy: [], skip: 0, limit: MOST_CANDIDATES + 1 };
  for await (const { rows } of selectPages(space, instancesOf(type), query, { ...actor, readSet: null }))
    for (const row of rows) {
      const candidate = decodeInner(row) as ObjectValue;
      if (own === null || getOwn(candidate, '_id') !== own) candidates.push(candidate);
    }
  if (candidates.length > MOST_CANDIDATES) throw apiError('cascade.query.too.expensive', 'candidates');
  return { type, pattern: typed(type, pattern) as ObjectValue, directives, candidates };
}

/** @throws cascade.resource.not.found */
function typeNamed(space: Namespace, name: Value): TypeDefinition {
  const type = typeof name === 'string' ? space.catalog.types.get(name) : undefined;
  if (!type) throw apiError('cascade.resource.not.found', `/types/${String(name)}`);
  return type;
}

/** @throws cascade.lang.range */
function directivesOf(given: ObjectValue): Directives {
  const own = (name: string): Value => (Object.hasOwn(given, name) ? getOwn(given, name) : null);
  const refuse = (name: string): never => {
    throw langError('cascade.lang.range', name, own(name));
  };
  const most = own('maxRecommendations') ?? DEFAULT_MOST;
  if (!isInteger(most) || most < 1) return refuse('maxRecommendations');
  const excluded = own('excludeProperties') ?? [];
  if (!Array.isArray(excluded)) return refuse('excludeProperties');
  const maxDistance = own('maxDistance');
  if (maxDistance !== null && !isNumber(maxDistance)) return refuse('maxDistance');
  return {
    most: Number(most),
    excluded: new Set(excluded.map(String)),
    maxDistance: maxDistance === null ? null : numberOf(maxDistance),
  };
}
