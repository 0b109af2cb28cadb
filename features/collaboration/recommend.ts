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
import { finishInSlices } from '../../platform/structures/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { selectPages } from '../../resources/instances/index.ts';
import { type Namespace, instancesOf, type HostBuiltin, type HostBuiltins } from '../../resources/catalog/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { best, byLikeness, byPlace, type Directives, type Ranked, withAdded } from './rankings.ts';
import { isPoint, metres } from './places.ts';
import { typed } from '../builtins/index.ts';

const DEFAULT_MOST = 10;
/** Limits the candidates of a recommendation. */
const MOST_CANDIDATES = 50_000;
/** Limits their texts that are read for one: of the candidates what is compared, of the recommended ones all. */
const MOST_CHARS = 64 * 1024 * 1024;
/** Elements of a list in a condition. */
const IDS_AT_ONCE = 1_000;

const defaultRecommendations: HostBuiltin = async (space, args, actor) => {
  const question = asked(space, args);
  const { type, pattern, directives } = question;
  const names = Object.keys(pattern).filter(
    (name) => type.properties.has(name) && !directives.excluded.has(name) && getOwn(pattern, name) !== null,
  );
  const candidates = await candidatesOf(space, question, names, actor);
  const ranked = await finishInSlices(space.name, byLikeness(pattern, candidates, names, metres));
  return { ok: encodeInner(await whole(space, type, await bestOf(space, ranked, directives), actor)) };
};

const nearbyRecommendations: HostBuiltin = async (space, args, actor) => {
  const [, , candidateType = null, matchType = null] = args;
  if (matchType !== null && matchType !== candidateType)
    throw langError('cascade.recommend.type.mismatch', 'Recommend.nearbyRecommendations', matchType);
  const question = asked(space, args);
  const { type, pattern, directives } = question;
  const names = Object.keys(pattern).filter((name) => isPoint(getOwn(pattern, name)) && !directives.excluded.has(name));
  if (names.length === 0) throw langError('cascade.lang.range', 'pattern', 'an Object without a Point');
  const candidates = await candidatesOf(space, question, names, actor);
  const ranked = await finishInSlices(space.name, byPlace(pattern, candidates, names, directives, metres));
  return { ok: encodeInner(await whole(space, type, await bestOf(space, ranked, directives), actor)) };
};

export const recommend: HostBuiltins = {
  'Recommend.defaultRecommendations': defaultRecommendations,
  'Recommend.nearbyRecommendations': nearbyRecommendations,
};

const bestOf = (space: Namespace, ranked: readonly Ranked[], directives: Directives): Promise<Ranked[]> =>
  finishInSlices(space.name, best(ranked, directives));

interface Asked {
  readonly type: TypeDefinition;
  readonly pattern: ObjectValue;
  readonly directives: Directives;
  /** The instance that the pattern is, which is not recommended; null: none. */
  readonly own: Value;
}

function asked(space: Namespace, [given = null, pattern = null, candidateType = null, matchType = null]: readonly Value[]): Asked {
  const type = typeNamed(space, candidateType);
  if (matchType !== null) typeNamed(space, matchType);
  const directives = directivesOf((given ?? {}) as ObjectValue);
  const own = matchType === null || matchType === candidateType ? getOwn(pattern as ObjectValue, '_id') : null;
  return { type, pattern: typed(type, pattern) as ObjectValue, directives, own };
}

/** The `_id` and the named properties of each candidate. @throws cascade.query.too.expensive */
async function candidatesOf(space: Namespace, { type, own }: Asked, names: readonly string[], actor: Actor): Promise<ObjectValue[]> {
  if (names.length === 0) return [];
  const found = await instances(space, type, { where: {}, props: ['_id', ...names], limit: MOST_CANDIDATES + 1 }, actor);
  if (found.length > MOST_CANDIDATES) throw apiError('cascade.query.too.expensive', 'candidates');
  return own === null ? found : found.filter((candidate) => getOwn(candidate, '_id') !== own);
}

/** What is recommended, whole, without what was deleted meanwhile. @throws cascade.query.too.expensive */
async function whole(space: Namespace, type: TypeDefinition, ranked: readonly Ranked[], actor: Actor): Promise<ObjectValue[]> {
  const ids = ranked.map(({ candidate }) => getOwn(candidate, '_id'));
  const byId = new Map<Value, ObjectValue>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const where = { _id: { $in: ids.slice(at, at + IDS_AT_ONCE) } };
    for (const one of await instances(space, type, { where, props: null, limit: IDS_AT_ONCE }, actor)) byId.set(getOwn(one, '_id'), one);
  }
  return ranked.flatMap(({ candidate, added }) => {
    const one = byId.get(getOwn(candidate, '_id'));
    return one ? [withAdded(one, added)] : [];
  });
}

interface Query {
  readonly where: ObjectValue;
  readonly props: string[] | null;
  readonly limit: number;
}

async function instances(space: Namespace, type: TypeDefinition, query: Query, actor: Actor): Promise<ObjectValue[]> {
  const found: ObjectValue[] = [];
  let chars = 0;
  const pages = selectPages(space, instancesOf(type), { ...query, orderBy: [], skip: 0 }, { ...actor, readSet: null });
  for await (const { rows } of pages)
    for (const row of rows) {
      chars += row.length;
      if (chars > MOST_CHARS) throw apiError('cascade.query.too.expensive', 'memory');
      found.push(decodeInner(row) as ObjectValue);
    }
  return found;
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
