// Which names the kinds of resources may have (resources-and-api.md 1.8, integrations.md 9.1).
import { type CascadeError, apiError } from '../errors/index.ts';
import { BASE_TYPES } from './definition.ts';

/** All system resources of resources-and-api.md 1.2: no type may be called so. */
export const SYSTEM_RESOURCES: ReadonlySet<string> = new Set(
  (
    'audits collaborations configurations deadletters debugconfigs deployconfigs deploystatus documents groups logs namespaces nodes ' +
    'organizations procedures profiles projects rules scalars scheduledevents secrets services sources tokens topics types users'
  ).split(' '),
);

/** Whom everybody is that calls a public procedure (resources-and-api.md 7.6): no user, so the one name with an upper-case letter. */
export const PUBLIC_EXECUTOR = 'publicExecutor';

/** The form in which a username is stored; a path (a group's member may be a token) stays as it is. */
export function storedUsername(name: string): string {
  if (name.startsWith('/')) return name;
  const lower = name.toLowerCase();
  return lower === PUBLIC_EXECUTOR.toLowerCase() ? PUBLIC_EXECUTOR : lower;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DOTTED = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const LOOSE = /^[A-Za-z_][A-Za-z0-9_ .-]*$/;
const PROPERTY = /^[A-Za-z][A-Za-z0-9_]*$/;
const NAMESPACE = /^[A-Za-z0-9][A-Za-z0-9_]*$/;
const USER = /^[A-Za-z0-9]([A-Za-z0-9_.@-]*[A-Za-z0-9])?$/;
const TOPIC = /^(\/[A-Za-z0-9_.-]+)+$/;
const RULE_VERSION = /^[A-Za-z0-9._-]+$/;
const RESERVED_TOPICS = new Set(['type', 'property', 'system', 'types', 'source', 'sources']);

/** The code is for ever the same, so the kinds are told apart by their check alone; null = the name will do. */
type Check = (name: string) => CascadeError | null;

const invalid = (name: string, reason: string): CascadeError => apiError('cascade.resource.name.invalid', name, reason);

const shaped =
  (pattern: RegExp, maxLength = 128): Check =>
  (name) =>
    name.length > maxLength ? invalid(name, `longer than ${maxLength} characters`) : pattern.test(name) ? null : invalid(name, 'syntax');

/** Of programs and sources: `ars_…` and `system.…` belong to the service. */
const program: Check = (name) =>
  shaped(DOTTED)(name) ??
  (name.startsWith('ars_') || name.split('.').some((part) => part.startsWith('ars_')) || name.split('.', 1)[0] === 'system'
    ? apiError('cascade.resource.name.reserved', name, 'reserved')
    : null);

const type: Check = (name) =>
  shaped(DOTTED)(name) ??
  (/^(Ars|ars_)/.test(name) ||
  name.split('.', 1)[0] === 'system' ||
  SYSTEM_RESOURCES.has(name) ||
  (BASE_TYPES as readonly string[]).includes(name)
    ? apiError('cascade.type.name.reserved', name)
    : null);

const property: Check = (name) => {
  if (/^(_|ars_)/.test(name)) return apiError('cascade.type.property.name.reserved', name);
  return name.length <= 128 && PROPERTY.test(name) ? null : apiError('cascade.type.property.name.invalid', name);
};

const user: Check = (name) =>
  name.length <= 128 && USER.test(name) ? null : apiError('cascade.user.name.invalid', 'users', 'username', 'syntax');

const topic: Check = (name) => {
  if (name.length > 256 || !TOPIC.test(name)) return apiError('cascade.topic.name.invalid', name, 'syntax');
  if (name.endsWith('/publish')) return apiError('cascade.topic.name.invalid', name, 'the last segment is publish');
  return RESERVED_TOPICS.has(name.split('/')[1] as string) ? apiError('cascade.topic.name.reserved', name, 'reserved') : null;
};

const document: Check = (name) => {
  const refused = (reason: string): CascadeError => apiError('cascade.document.name.invalid', name, reason);
  if (name === '' || name.startsWith('/')) return refused('syntax');
  if (Buffer.byteLength(name) > 1024) return refused('longer than 1024 bytes');
  if (name.includes('\0')) return refused('NUL');
  if (name.split('/').includes('..')) return refused('a segment is ..');
  return name.startsWith('system/') ? apiError('cascade.document.name.reserved', name, 'reserved') : null;
};

const CHECKS = {
  type,
  property,
  rule: program,
  procedure: program,
  service: program,
  source: program,
  profile: shaped(IDENTIFIER),
  scalar: shaped(IDENTIFIER),
  group: shaped(LOOSE),
  node: shaped(LOOSE),
  debugconfig: shaped(LOOSE),
  configuration: shaped(LOOSE),
  scheduledevent: shaped(LOOSE),
  namespace: shaped(NAMESPACE, 64),
  organization: shaped(NAMESPACE, 64),
  user,
  topic,
  document,
} as const satisfies Record<string, Check>;

export type NameKind = keyof typeof CHECKS;

/**
 * Refuses a name that its kind cannot have. That a procedure is not called like a built-in is checked by the compiler, which knows them.
 * @throws CascadeError
 */
export function checkName(kind: NameKind, name: string): void {
  const problem = CHECKS[kind](name);
  if (problem) throw problem;
}

/** Of a rule without its version: all versions are one rule (language.md V2). */
export const baseNameOf = (fullName: string): string => fullName.split(':', 1)[0] ?? fullName;

/** `[A-Za-z0-9._-]+`; the compiler reports others as rule.version.invalid. */
export const isRuleVersion = (version: string): boolean => RULE_VERSION.test(version);
