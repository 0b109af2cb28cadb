// Rules (resources-and-api.md 4.3, language.md 6): converts their text to an entry of the trigger index.

import { decodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { CompiledRule } from '../../compiler/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isCorrelated } from '../../runtime/correlation/index.ts';
import { type Executable, programOf } from '../../runtime/programs/index.ts';
import type { IndexedRule, TriggerIndex } from '../../runtime/triggers/index.ts';
import { baseNameOf, checkName } from '../../model/types/index.ts';
import { editorOf } from '../../resources/representation/index.ts';
import { RULE_RIGHTS, raisedPath, requireMayChange, requireMayTake } from '../../resources/access/index.ts';
import { findType, RULE_SHAPE, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import type { IndexedProgram } from '../../runtime/events/index.ts';
import {
  checkFields,
  invalidField,
  textField,
  warningsOf,
  withoutOldText,
  withReferenceErrors,
} from '../../resources/definitions/index.ts';
import { nodeConditionFault } from '../nodes/index.ts';
import { deliveriesOf } from '../delivery/index.ts';
import { ruleGraphOf } from './namespace-state.ts';

const TYPE_OF_PATH = /^\/types\/([^/]+)\//;

export const RULES: DefinitionResource = {
  kind: 'definitions',
  name: 'rules',
  systemType: 'ArsRuleSet',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  type: RULE_SHAPE,
  enforce(space, name, object) {
    if (object) loadRule(space, object);
    else leaveForce(space, name);
  },
  async define(space, body, stored, actor) {
    const text = textField('rules', body, 'ruleText');
    const ours = actor.ofService === true || stored !== null; // a stored rule keeps its name
    const rule = onRaisedPaths(space, await space.execution.compilations.compile(text, { kind: 'rule', ofService: ours }));
    if (!ours) checkName('rule', rule.name);
    const activationConstraint = activationOf(rule, text);
    await checkVersions(space, rule);
    if (stored && getOwn(stored, 'name') !== rule.fullName)
      throw apiError('cascade.resource.id.mismatch', String(getOwn(stored, 'name')), rule.fullName);
    const active =
      booleanField(body, 'active') ?? booleanField(stored ?? space.catalog.definitions.get('rules', rule.fullName) ?? {}, 'active') ?? true;
    if (active) requireTriggers(space, rule, actor.identity);
    const executable = executableOf(space, rule, actor.identity.username);
    if (active) requireEnforceable(space, rule, executable);
    const rest = await withoutOldText(body, stored, (source) => givenBy(space, source));
    return {
      name: rule.fullName,
      object: {
        ...checkFields(RULES, rest, 'kept'),
        name: rule.fullName,
        version: rule.version,
        ruleText: text,
        active,
        activationConstraint,
        triggers: rule.triggers.flatMap((trigger) =>
          trigger.paths.map((path): Value => ({ path, kind: rule.timing === 'before' ? 'BEFORE' : 'WHEN' })),
        ),
        ...(rule.description ? { description: rule.description } : {}),
        ...warningsOf(rule.warnings, [...idleWarning(rule), ...(active ? loopWarning(ruleGraphOf(space).cycleThrough(rule)) : [])]),
      },
      prepare: async () => {
        await space.states.get(RULE_RIGHTS).read(executable.identity);
        await Promise.all([space.execution.programs.keep(executable, space.clock.now()), space.execution.compilations.keep(text, rule)]);
      },
      apply: () => enforce(space, rule, executable, active),
      ...(active ? {} : { settle: () => deliveriesOf(space).acknowledgeFor(rule.fullName) }),
    };
  },
  /** A rule on a type that no longer exists is shown as erroneous; it receives no events (resources-and-api.md 4.1). */
  show: (space, stored) => withReferenceErrors(space, stored, triggeringTypes(stored)),
  async remove(space, stored) {
    const name = String(getOwn(stored, 'name'));
    return { apply: () => leaveForce(space, name), settle: () => deliveriesOf(space).acknowledgeFor(name) };
  },
};

/**
 * The condition on nodes of a rule's text: the compiler sees that it is a JSON object, and knows no conditions.
 * @throws cascade.rule.activation at the clause
 */
function activationOf({ activationConstraint: json }: CompiledRule, text: string): Value {
  const where = json === null ? null : decodeInner(json);
  const refusal = isObject(where) ? nodeConditionFault(where) : null;
  if (!refusal) return where;
  const before = text.slice(0, text.search(/\bactivationconstraint\b/i)).split('\n');
  const [line, column] = [before.length, (before.at(-1)?.length ?? 0) + 1];
  const detail = refusal.message.replace(/\.$/, '');
  throw new CascadeError('cascade.rule.activation', `Line ${line}, column ${column}: ${detail}.`, [line, column, detail], 400);
}

async function givenBy(space: Namespace, source: string): Promise<ObjectValue> {
  const { description } = await space.execution.compilations.compile(source, { kind: 'rule', ofService: true });
  return description ? { description } : {};
}

/**
 * An active rule is stored by who may hear some events of each of its paths, and a BEFORE rule by who may make such changes; which of
 * them it takes is decided at each event (resources/access/rule-rights.ts).
 * @throws cascade.authorization.denied
 */
function requireTriggers(space: Namespace, rule: CompiledRule, editor: Identity): void {
  if (editor.ofService) return;
  for (const path of rule.triggers.flatMap(({ paths }) => paths)) {
    requireMayTake(space, path, editor);
    if (rule.timing === 'before' && findType(space, path.split('/')[2] ?? '')) requireMayChange(space, path, editor);
  }
}

/** The rule with its triggers on the paths on which events are raised: one on a system type's name hears those of its resource. */
function onRaisedPaths(space: Namespace, rule: CompiledRule): CompiledRule {
  const raisedAt = (path: string): string => {
    const [, name] = TYPE_OF_PATH.exec(path) ?? [];
    return name === undefined ? path : raisedPath(space, { resource: 'types', name, path });
  };
  if (rule.triggers.every(({ paths }) => paths.every((path) => raisedAt(path) === path))) return rule;
  return { ...rule, triggers: rule.triggers.map((trigger) => ({ ...trigger, paths: trigger.paths.map(raisedAt) })) };
}

function triggeringTypes(stored: ObjectValue): string[] {
  const triggers = getOwn(stored, 'triggers');
  const names = (Array.isArray(triggers) ? triggers : []).map((trigger) => TYPE_OF_PATH.exec(pathOf(trigger))?.[1]);
  return names.filter((name): name is string => name !== undefined);
}

const pathOf = (trigger: Value): string => (isObject(trigger) ? String(getOwn(trigger, 'path')) : '');

/** Takes a rule out of force, after its deletion or deactivation. */
export function leaveForce(space: Namespace, name: string): void {
  space.events.when.remove(name);
  space.events.before.remove(name);
  space.events.correlations.remove(baseNameOf(name), name);
  space.execution.programs.retire(name, space.clock.now());
  ruleGraphOf(space).remove(name);
}

/**
 * Puts a stored rule in force, when a namespace is opened or another process has stored it. A text that no longer compiles stays stored and
 * is reported.
 */
export function loadRule(space: Namespace, object: ObjectValue): void {
  const rule = onRaisedPaths(space, space.execution.compilations.load(String(getOwn(object, 'ruleText'))));
  enforce(space, rule, executableOf(space, rule, editorOf(object) ?? 'system'), getOwn(object, 'active') === true);
}

function enforce(space: Namespace, rule: CompiledRule, executable: Executable, active: boolean): void {
  space.events.when.remove(rule.fullName);
  space.events.before.remove(rule.fullName);
  const baseName = baseNameOf(rule.fullName);
  if (!active || !isCorrelated(rule)) space.events.correlations.remove(baseName, rule.fullName);
  if (active) ruleGraphOf(space).put(rule);
  else ruleGraphOf(space).remove(rule.fullName);
  if (!active) return space.execution.programs.retire(rule.fullName, space.clock.now());
  space.execution.programs.enforce(rule.fullName, executable, space.clock.now());
  if (isCorrelated(rule)) space.events.correlations.put({ compiled: rule, baseName, executable });
  if (!rule.correlation) indexOf(space, rule).add(indexed(rule, executable));
}

/** What cannot be put in force is refused before it is stored: behind the commit it would leave a rule that is shown and never runs. */
function requireEnforceable(space: Namespace, rule: CompiledRule, executable: Executable): void {
  if (isCorrelated(rule)) space.events.correlations.try({ compiled: rule, baseName: baseNameOf(rule.fullName), executable });
  if (!rule.correlation) indexOf(space, rule).try(indexed(rule, executable));
}

const indexOf = ({ events }: Namespace, { timing }: CompiledRule): TriggerIndex => (timing === 'before' ? events.before : events.when);

function indexed(rule: CompiledRule, executable: Executable): IndexedRule {
  const program: IndexedProgram = { executable };
  return {
    name: rule.fullName,
    baseName: baseNameOf(rule.fullName),
    version: rule.version,
    triggers: rule.triggers,
    where: both(rule.where, rule.constraint),
    payload: program,
  };
}

/** What the service keeps for itself is changed without rules: one that is to run before has nothing to run before. */
function idleWarning({ timing, triggers }: CompiledRule): Value[] {
  const path = timing === 'before' ? triggers.flatMap(({ paths }) => paths).find((one) => one.startsWith('/types/system.')) : undefined;
  if (path === undefined) return [];
  return [{ code: 'cascade.rule.before.system', message: `no BEFORE rule runs on ${path}: it is no type of users`, line: 1, column: 1 }];
}

function loopWarning(round: readonly string[] | null): Value[] {
  if (!round) return [];
  return [{ code: 'cascade.rule.loop', message: `the rule may set itself going again: ${round.join(' → ')}`, line: 1, column: 1 }];
}

const both = (a: CompiledRule['where'], b: CompiledRule['where']): CompiledRule['where'] =>
  a && b ? { op: 'and', terms: [a, b] } : (a ?? b);

function executableOf(space: Namespace, rule: CompiledRule, username: string): Executable {
  return {
    resource: `/rules/${rule.fullName}`,
    name: rule.fullName,
    program: programOf(rule.module, ''),
    map: rule.module.map,
    service: rule.package,
    identity: { username, namespace: space.name, profiles: [] },
  };
}

const clauseOf = ({ timing, triggers, correlation, constraint, expect }: CompiledRule): string =>
  JSON.stringify([timing, triggers, correlation, constraint, expect]);

/** All versions of a rule share their WHEN (language.md V6). */
async function checkVersions(space: Namespace, rule: CompiledRule): Promise<void> {
  const mine = clauseOf(rule);
  const base = baseNameOf(rule.fullName);
  for (const [name, object] of space.catalog.definitions.list('rules')) {
    if (name === rule.fullName || (name !== base && !name.startsWith(`${base}:`))) continue;
    const other = await space.execution.compilations.compile(String(getOwn(object, 'ruleText')), { kind: 'rule', ofService: true });
    if (clauseOf(onRaisedPaths(space, other)) !== mine)
      throw new CascadeError(
        'cascade.rule.version.conflict',
        `Line 1, column 1: all versions of ${base} need the same WHEN or BEFORE clause; ${name} has another.`,
        [1, 1, `${name} has another WHEN or BEFORE clause`],
        400,
      );
  }
}

function booleanField(body: ObjectValue, name: string): boolean | undefined {
  const value = Object.hasOwn(body, name) ? getOwn(body, name) : null;
  if (value !== null && typeof value !== 'boolean') throw invalidField('rules', name, 'no Boolean');
  return value ?? undefined;
}
