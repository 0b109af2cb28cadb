// Generates rules that start collaborations (builtins.md 29) from a definition in ArsCollaborationType. The rules are written in the rule
// language, so that users can read them like any other.
import { encodeInner, isObject, type ObjectValue, stringify, type Value } from '../../stdlib/values/index.ts';
import { checkpointing } from '../../runtime/context/index.ts';
import { resolve, type DefinitionResource, type Namespace, type HostBuiltin, type HostBuiltins } from '../../resources/catalog/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import { deleteDefinition, putDefinition } from '../../resources/definitions/index.ts';
import { deleteOne, read, insertOne, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { COLLABORATION_TYPES } from './service-types.ts';
import { patternNamed, requireComplete } from './activity-patterns.ts';
import { outOfRange, own } from '../../resources/operations/index.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MOST = 1_000;

interface Activity {
  readonly name: string;
  readonly pattern: string;
  readonly config: ObjectValue;
}
interface Definition {
  readonly name: string;
  readonly trigger: string;
  readonly entityRole: string | null;
  readonly activities: readonly Activity[];
}

const ruleOf = (name: string): string => `ars_collab_${name}`;

/** @throws cascade.lang.range for an invalid definition */
function definitionOf(object: ObjectValue): Definition {
  const [name, trigger, entityRole, listed] = ['name', 'trigger', 'entityRole', 'activities'].map((key) => own(object, key));
  if (typeof name !== 'string' || !NAME.test(name)) throw outOfRange('name', name ?? null);
  if (typeof trigger !== 'string' || !trigger.startsWith('/')) throw outOfRange('trigger', trigger ?? null);
  if (entityRole !== null && (typeof entityRole !== 'string' || !NAME.test(entityRole))) throw outOfRange('entityRole', entityRole ?? null);
  if (!Array.isArray(listed) || listed.length === 0) throw outOfRange('activities', listed ?? null);
  const activities = listed.map((one): Activity => {
    const [activity, pattern, config] = isObject(one)
      ? [own(one, 'name'), own(one, 'pattern'), own(one, 'config') ?? {}]
      : [null, null, null];
    if (typeof activity !== 'string' || activity === '' || typeof pattern !== 'string' || !isObject(config ?? null))
      throw outOfRange('activities', one);
    return { name: activity, pattern, config: config as ObjectValue };
  });
  return { name, trigger, entityRole, activities };
}

/** The text of the rule; texts and configurations are JSON literals in it. */
function ruleText({ name, trigger, entityRole, activities }: Definition): string {
  const type = /^\/types\/([^/]+)\//.exec(trigger)?.[1];
  const entities =
    entityRole !== null && type !== undefined ? `{ ${entityRole}: Utils.buildResourceRef(${stringify(type)}, event.value) }` : '{}';
  const steps = activities.map(
    ({ name: activity, pattern, config }) =>
      `  ActivityPattern.run(${stringify(pattern)}, collaboration.id, ${stringify(activity)}, ${stringify(config)}, event)`,
  );
  return [
    `RULE ${ruleOf(name)}`,
    `WHEN EVENT OCCURS ON ${stringify(trigger)} AS event`,
    `var collaboration = CollaborationUtils.createCollaboration(${stringify(name)}, ${entities})`,
    'try {',
    ...steps,
    '} catch (problem) {',
    '  log.error("Activity of collaboration {} failed: {}", [collaboration.id, problem.message])',
    '  CollaborationUtils.closeCollaboration(collaboration.id, "failed")',
    '}',
    '',
  ].join('\n');
}

const rulesOf = (space: Namespace): DefinitionResource => resolve(space, 'rules', false) as DefinitionResource;

const generate: HostBuiltin = async (space, [given = null], actor) => {
  const definition = definitionOf(given as ObjectValue);
  for (const { pattern, config } of definition.activities) requireComplete(await patternNamed(space, pattern), config);
  const text = ruleText(definition);
  requireRight(space, rulesOf(space), 'insert', actor.identity);
  // The rule is stored before the definition refers to it: generating it again after a crash gives the same rule.
  await putDefinition(space, rulesOf(space), { ruleText: text }, { ...checkpointing(actor, 0), ofService: true }, true);
  const rule = ruleOf(definition.name);
  const record: ObjectValue = {
    name: definition.name,
    trigger: definition.trigger,
    entityRole: definition.entityRole,
    activities: definition.activities.map((one): Value => ({ ...one })),
    rule,
  };
  return atomically(space, `collaboration type ${definition.name}`, actor, async (batching) => {
    const [stored] = await read(space, COLLABORATION_TYPES, { name: definition.name }, 1);
    if (!stored) await insertOne(space, COLLABORATION_TYPES, record, batching);
    else await updateOne(space, COLLABORATION_TYPES, async () => stored, changeOf(COLLABORATION_TYPES, record), batching);
    return { rule, activities: definition.activities.map(({ name }) => name) };
  });
};

const remove: HostBuiltin = async (space, [name = null], actor) => {
  const rule = ruleOf(String(name));
  requireRight(space, rulesOf(space), 'delete', actor.identity);
  if (space.catalog.definitions.get('rules', rule)) await deleteDefinition(space, rulesOf(space), rule, checkpointing(actor, 0));
  return atomically(space, `collaboration type ${String(name)}`, actor, async (batching) => {
    const [stored] = await read(space, COLLABORATION_TYPES, { name: String(name) }, 1);
    return stored ? (await deleteOne(space, COLLABORATION_TYPES, async () => stored, batching)) === 1 : false;
  });
};

export const collaborationGeneration: HostBuiltins = {
  'CollaborationGeneration.generate': generate,
  'CollaborationGeneration.list': async (space) => ({ ok: encodeInner(await read(space, COLLABORATION_TYPES, {}, MOST)) }),
  'CollaborationGeneration.remove': remove,
};
