// Debug configs (resources-and-api.md 4.19): they choose which messages of which rules and procedures are stored, until they expire.

import { convert } from '../../stdlib/convert/index.ts';
import { DateTime, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { DEBUGCONFIG_SHAPE, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';

/** Log levels (language.md H5). */
const LEVELS: Readonly<Record<string, number>> = { TRACE: 0, DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40 };
const WITHOUT_CONFIG = 20;
const TYPES = ['log', 'trace', 'profile'];
const LASTS_MS = 2 * 3_600_000;

export const DEBUGCONFIGS: DefinitionResource = {
  kind: 'definitions',
  name: 'debugconfigs',
  systemType: 'ArsDebugConfig',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  type: DEBUGCONFIG_SHAPE,
  async define(space, body) {
    const name = textField('debugconfigs', body, 'name');
    checkName('debugconfig', name);
    const type = textField('debugconfigs', body, 'type');
    if (!TYPES.includes(type)) throw apiError('cascade.debugconfig.type', 'debugconfigs', 'type', `none of ${TYPES.join(', ')}`);
    const fields = checkFields(DEBUGCONFIGS, body, 'refused');
    const value = getOwn(fields, 'value');
    if (type === 'log' && !(typeof value === 'string' && Object.hasOwn(LEVELS, value)))
      throw apiError('cascade.debugconfig.value', 'debugconfigs', 'value', `none of ${Object.keys(LEVELS).join(', ')}`);
    const resources = checkResources(getOwn(fields, 'resources') ?? []);
    const isGlobal = getOwn(fields, 'isGlobal') === true;
    if (isGlobal && resources.length > 0)
      throw apiError('cascade.debugconfig.global', 'debugconfigs', 'isGlobal', 'a global one names no resources');
    const expiresAt = dateIn(fields) ?? new DateTime(space.clock.now() + LASTS_MS);
    return { name, object: { ...fields, resources, isGlobal, expiresAt }, apply: () => undefined };
  },
  async remove() {
    return { apply: () => undefined };
  },
};

function checkResources(resources: Value): Value[] {
  if (Array.isArray(resources) && resources.every((one) => typeof one === 'string' && /^\/(rules|procedures)\/.+/.test(one)))
    return resources;
  throw invalidField('debugconfigs', 'resources', 'neither /rules/… nor /procedures/…');
}

function dateIn(fields: ObjectValue): DateTime | null {
  const value = getOwn(fields, 'expiresAt');
  try {
    return convert(value, { type: 'DateTime' }, 'property') as DateTime | null;
  } catch {
    throw invalidField('debugconfigs', 'expiresAt', 'no DateTime'); // any error means an invalid time
  }
}

/** The level from which messages of this rule or procedure are stored: the most verbose of the configs in force. */
export function logLevelOf(space: Pick<Namespace, 'catalog'>, resource: string, now: number): number {
  let level: number | undefined;
  for (const [, config] of space.catalog.definitions.list('debugconfigs')) {
    if (getOwn(config, 'type') !== 'log' || isExpired(config, now) || !concerns(config, resource)) continue;
    const given = LEVELS[String(getOwn(config, 'value'))] ?? WITHOUT_CONFIG;
    level = level === undefined ? given : Math.min(level, given);
  }
  return level ?? WITHOUT_CONFIG;
}

/** Whether runs of a rule are recorded even if they succeed. */
export function isTraced(space: Pick<Namespace, 'catalog'>, resource: string, now: number): boolean {
  return space.catalog.definitions
    .list('debugconfigs')
    .some(
      ([, config]) =>
        getOwn(config, 'type') === 'trace' &&
        getOwn(config, 'value') === 'enabled' &&
        !isExpired(config, now) &&
        concerns(config, resource),
    );
}

/** Whether a config applies to a program; the name of a rule covers all its versions. */
function concerns(config: ObjectValue, resource: string): boolean {
  if (getOwn(config, 'isGlobal') === true) return true;
  const resources = getOwn(config, 'resources');
  return Array.isArray(resources) && resources.some((one) => one === resource || resource.startsWith(`${String(one)}:`));
}

export function isExpired(config: ObjectValue, now: number): boolean {
  const expiresAt = getOwn(config, 'expiresAt');
  return expiresAt instanceof DateTime && expiresAt.ms <= now;
}
