// Activity patterns (builtins.md 29), the steps of collaborations, in ArsActivityPattern: predefined ones and procedures of users. The
// value of a step becomes the result of its activity, in one unit with the changes of the step.
import { langError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { calledAs, requireRight } from '../../resources/access/index.ts';
import { deleteOne, read, insertOne, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { ACTIVITY_PATTERNS } from './service-types.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { nameList, outOfRange, own } from '../../resources/operations/index.ts';
import { chat } from './chat.ts';
import { assigned, changeCollaboration, closed, ownAt, requireActive, withMember } from './collaborations.ts';
import { startTrack, TRACK_DEFAULTS } from './location-tracking.ts';
import { handOver, cut, storeMessage, checkForm } from '../notifications/index.ts';
import { recommend } from './recommend.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_.]*(:[A-Za-z0-9._-]+)?$/;
const MOST = 1_000;

/** The input of a step. */
interface Given {
  readonly space: Namespace;
  readonly collaboration: ObjectValue;
  readonly activity: string;
  readonly config: ObjectValue;
  readonly event: Value;
  readonly batching: Actor;
}
/** The result of a step, and its changes of the collaboration. */
interface Outcome {
  readonly value: Value;
  readonly changes?: ObjectValue;
}
interface Predefined {
  readonly required: readonly string[];
  readonly run: (given: Given) => Promise<Outcome>;
}

const PREDEFINED: Readonly<Record<string, Predefined>> = {
  Notify: {
    required: ['source', 'title', 'payload', 'users'],
    run: async ({ space, collaboration, config, batching }) => {
      const [source, users, payload] = [own(config, 'source'), own(config, 'users'), own(config, 'payload')];
      const texts = { category: cut(own(config, 'category')), title: cut(own(config, 'title')) };
      const message = { source, messageId: null, ...texts, payload, users, collaborationId: getOwn(collaboration, 'id') };
      return { value: await storeMessage(space, message, () => checkForm(payload), batching) };
    },
  },
  Chat: {
    required: ['topic', 'users'],
    run: ({ space, collaboration, config, batching }) => {
      const situation = own(config, 'situationId') ?? getOwn(collaboration, 'id');
      return answered(chat, 'Chat.createChatroom', space, [situation, own(config, 'topic'), own(config, 'users')], batching);
    },
  },
  Track: {
    required: ['user', 'reportingTopic'],
    run: async ({ space, collaboration, activity, config, batching }) => {
      const { user = null, ...given } = merged(TRACK_DEFAULTS, config);
      const track = { activity, ...given, username: user, collaborationId: getOwn(collaboration, 'id') };
      return { value: await startTrack(space, track, batching) };
    },
  },
  Recommend: {
    required: ['candidateType'],
    run: ({ space, config, event, batching }) => {
      const seen = isObject(event) ? own(event, 'value') : null;
      const pattern = own(config, 'pattern') ?? (isObject(seen) ? seen : {});
      const args = [own(config, 'matchDirectives'), pattern, own(config, 'candidateType'), own(config, 'matchType')];
      return answered(recommend, 'Recommend.defaultRecommendations', space, args, batching);
    },
  },
  Assign: {
    required: ['role', 'username'],
    run: async ({ space, collaboration, config }) => {
      const username = own(config, 'username');
      return { value: username, changes: await assigned(space, collaboration, own(config, 'role'), username) };
    },
  },
  Procedure: { required: ['procedure'], run: (given) => procedureCalled(given, own(given.config, 'procedure')) },
  CloseCollaboration: {
    required: ['status'],
    run: async ({ space, collaboration, config, batching }) => {
      const status = own(config, 'status');
      return { value: status, changes: await closed(space, collaboration, status, batching) };
    },
  },
};

/** Calls a built-in whose effects become part of the step. */
async function answered(of: HostBuiltins, name: string, space: Namespace, args: readonly Value[], batching: Actor): Promise<Outcome> {
  const answer = await (of[name] as HostBuiltin)(space, args, batching);
  return { value: 'ok' in answer ? decodeInner(answer.ok) : null };
}

/**
 * Calls a user's procedure as `(event, config, collaboration)`. Its effects are committed on their own, and stay when a later part of the
 * step fails.
 */
async function procedureCalled({ space, collaboration, config, event, batching }: Given, procedure: Value): Promise<Outcome> {
  const name = procedureIn(space, procedure);
  const json = await runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${name}`, name, service: null },
    body: { program: null, procedure: name },
    argsJson: encodeInner([event, config, collaboration]),
    identity: calledAs(space, name, batching.identity),
    caller: batching,
    snapshot: 'never',
  });
  return { value: decodeInner(json) };
}

/** @throws cascade.lang.procedure.unknown */
function procedureIn(space: Namespace, procedure: Value): string {
  const name = String(procedure);
  if (!space.catalog.definitions.get('procedures', name)) throw langError('cascade.lang.procedure.unknown', name);
  return name;
}

interface Pattern {
  readonly name: string;
  readonly required: readonly string[];
  readonly defaults: ObjectValue;
  readonly run: (given: Given) => Promise<Outcome>;
}

/** The pattern of that name, or its newest version (language.md V9); null where there is none. */
async function findPattern(space: Namespace, name: string): Promise<{ pattern: Pattern; shown: ObjectValue } | null> {
  const predefined = Object.hasOwn(PREDEFINED, name) ? PREDEFINED[name] : undefined;
  if (predefined) return { pattern: { name, defaults: {}, ...predefined }, shown: shownPredefined(name) };
  const stored = await youngest(space, name);
  if (!stored) return null;
  const required = getOwn(stored, 'required');
  const defaults = getOwn(stored, 'defaults');
  const procedure = getOwn(stored, 'procedure');
  const pattern: Pattern = {
    name,
    required: Array.isArray(required) ? required.map(String) : [],
    defaults: isObject(defaults) ? defaults : {},
    run: (given) => procedureCalled(given, procedure),
  };
  return { pattern, shown: stored };
}

async function youngest(space: Namespace, name: string): Promise<ObjectValue | null> {
  if (!NAME.test(name)) return null;
  const versions = name.includes(':') ? [] : [{ name: { $gte: `${name}:`, $lt: `${name};` } }];
  const found = await read(space, ACTIVITY_PATTERNS, { $or: [{ name }, ...versions] }, MOST);
  const versionOf = (one: ObjectValue): string => String(getOwn(one, 'name')).slice(name.length).toLowerCase();
  return found.reduce<ObjectValue | null>((best, one) => (best && versionOf(best) >= versionOf(one) ? best : one), null);
}

const shownPredefined = (name: string): ObjectValue => ({
  name,
  procedure: null,
  required: [...(PREDEFINED[name]?.required ?? [])],
  defaults: {},
});

/** @throws cascade.resource.not.found */
export async function patternNamed(space: Namespace, name: Value): Promise<Pattern> {
  const found = await findPattern(space, String(name));
  if (!found) throw apiError('cascade.resource.not.found', `/ArsActivityPattern/${String(name)}`);
  return found.pattern;
}

/** Required properties without a value in the configuration or the defaults. */
export const missingIn = ({ required, defaults }: Pattern, config: ObjectValue): string[] =>
  required.filter((property) => own(config, property) === null && own(defaults, property) === null);

/** @throws cascade.activitypattern.config */
export function requireComplete(pattern: Pattern, config: ObjectValue): void {
  const missing = missingIn(pattern, config);
  if (missing.length > 0) throw langError('cascade.activitypattern.config', pattern.name, missing.join(', '));
}

/** @throws cascade.activitypattern.reserved, for versions of a predefined pattern, too */
function requireNotPredefined(name: string): void {
  if (Object.hasOwn(PREDEFINED, name.split(':', 1)[0] as string)) throw langError('cascade.activitypattern.reserved', name);
}

const define: HostBuiltin = async (space, [name = null, procedure = null, required = null, defaults = null], actor) => {
  if (typeof name !== 'string' || !NAME.test(name)) throw outOfRange('name', name);
  requireNotPredefined(name);
  const pattern: ObjectValue = { name, procedure, required: nameList('required', required), defaults: defaults ?? {} };
  return atomically(space, `pattern ${name}`, actor, async (batching) => {
    const [stored] = await read(space, ACTIVITY_PATTERNS, { name }, 1);
    requireRight(space, ACTIVITY_PATTERNS, stored ? 'update' : 'insert', actor.identity);
    procedureIn(space, procedure);
    if (!stored) return insertOne(space, ACTIVITY_PATTERNS, pattern, batching);
    return updateOne(space, ACTIVITY_PATTERNS, async () => stored, changeOf(ACTIVITY_PATTERNS, pattern), batching);
  });
};

const run: HostBuiltin = async (space, [name = null, id = null, activity = null, config = null, event = null], actor) => {
  const pattern = await patternNamed(space, name);
  const complete = merged(pattern.defaults, (config ?? {}) as ObjectValue);
  requireComplete(pattern, complete);
  const before = await ownAt(space, id, actor);
  requireActive(before);
  // A procedure may itself change the collaboration: it runs before the result is recorded, outside the queue for changes.
  const isProcedure = !Object.hasOwn(PREDEFINED, pattern.name) || pattern.name === 'Procedure';
  const given = { space, activity: String(activity), config: complete, event };
  const early = isProcedure ? await pattern.run({ ...given, collaboration: before, batching: actor }) : null;
  let value: Value = null;
  const answer = await changeCollaboration(
    space,
    id,
    actor,
    async (collaboration, batching) => {
      const outcome = early ?? (await pattern.run({ ...given, collaboration, batching }));
      value = outcome.value;
      return { ...outcome.changes, ...withMember(collaboration, 'results', String(activity), value) };
    },
    () => value,
  );
  if (pattern.name === 'Notify') handOver(space, value);
  return answer;
};

/** Null stands for a value that is not given: the default remains. */
function merged(defaults: ObjectValue, config: ObjectValue): ObjectValue {
  const result: ObjectValue = {};
  for (const key of [...Object.keys(defaults), ...Object.keys(config)]) setOwn(result, key, own(config, key) ?? own(defaults, key));
  return result;
}

export const activityPatterns: HostBuiltins = {
  'ActivityPattern.define': define,
  'ActivityPattern.list': async (space) => {
    const stored = await read(space, ACTIVITY_PATTERNS, {}, MOST);
    return { ok: encodeInner([...Object.keys(PREDEFINED).map(shownPredefined), ...stored]) };
  },
  'ActivityPattern.get': async (space, [name = null]) => ({ ok: encodeInner((await findPattern(space, String(name)))?.shown ?? null) }),
  'ActivityPattern.remove': (space, [name = null], actor) =>
    atomically(space, `pattern ${String(name)}`, actor, async (batching) => {
      requireRight(space, ACTIVITY_PATTERNS, 'delete', actor.identity);
      requireNotPredefined(String(name));
      const [stored] = await read(space, ACTIVITY_PATTERNS, { name: String(name) }, 1);
      return stored ? (await deleteOne(space, ACTIVITY_PATTERNS, async () => stored, batching)) === 1 : false;
    }),
  'ActivityPattern.validate': async (space, [name = null, config = null]) => ({
    ok: encodeInner(missingIn(await patternNamed(space, name), config as ObjectValue)),
  }),
  'ActivityPattern.run': run,
};
