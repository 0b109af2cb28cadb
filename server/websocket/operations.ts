// The operations of messages (resources-and-api.md 2.15, 2.17). The description of the API is made of these tables.
import type { ApiRequest } from '../../engine/index.ts';
import type { ParameterName } from '../http/index.ts';

export const LOGINS = ['authenticate', 'validate'] as const;

/** Operations on the connection itself, which the engine does not know. */
export const OWN = ['subscribe', 'unsubscribe', 'acknowledge', 'cancel'] as const;
export type Own = (typeof OWN)[number];

/** How a request on a resource is read. */
export interface Reading {
  /** The engine's name of the operation, where it differs. */
  readonly op?: ApiRequest['op'];
  readonly id?: 'required' | 'none';
  readonly object?: 'required' | 'none';
  readonly parameters: readonly ParameterName[];
}

export const READINGS = {
  select: { object: 'none', parameters: ['where', 'props', 'sort', 'page', 'limit', 'count'] },
  selectOne: { object: 'none', parameters: ['where', 'props'] },
  insert: { id: 'none', object: 'required', parameters: ['count', 'upsert', 'active'] },
  update: { id: 'required', object: 'required', parameters: [] },
  upsert: { id: 'none', object: 'required', parameters: ['count', 'active'] },
  delete: { object: 'none', parameters: ['where', 'count'] },
  deleteOne: { op: 'delete', object: 'none', parameters: ['where', 'count'] },
  patch: { id: 'required', object: 'required', parameters: [] },
  aggregate: { parameters: ['pipeline'] },
  publish: { id: 'required', parameters: [] },
  execute: { id: 'required', parameters: [] },
  query: { id: 'required', object: 'required', parameters: [] },
} as const satisfies Readonly<Record<string, Reading>>;

/** Another installation updates instances by a condition (integrations.md 11.3). */
export const UPDATE_WHERE: Reading = { id: 'none', object: 'required', parameters: ['where'] };

/** Custom commands (2.13): the operation is the command, its data the object. */
export const COMMAND: Reading = { parameters: [] };

/** @param op any other one than those of the tables is a command */
export const readingOf = (op: string): Reading => (Object.hasOwn(READINGS, op) ? READINGS[op as keyof typeof READINGS] : COMMAND);

const named = <const T extends string>(names: readonly T[]): ((op: string | undefined) => op is T) => {
  const all: ReadonlySet<string | undefined> = new Set(names);
  return (op): op is T => all.has(op);
};
export const isLoginOperation = named(LOGINS);
export const isOwn = named(OWN);
