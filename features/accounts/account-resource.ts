// The common interface of users, tokens, namespaces and organizations, the resources of the installation.
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Identity } from '../../resources/api.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Audited } from './along.ts';

/** How such a resource is listed and changed; an absent member is an operation that it does not support. */
export interface AccountResource {
  readonly name: 'users' | 'tokens' | 'namespaces' | 'organizations';
  readonly type: TypeDefinition;
  /** The objects that the caller may see, in their shown form. */
  list(space: Namespace, caller: Identity): Promise<ObjectValue[]>;
  /** That of all objects at an address (resources-and-api.md 1.2): `byKey`, where keys are unique. @throws cascade.resource.ambiguous */
  at(
    space: Namespace,
    all: readonly ObjectValue[],
    id: string,
    caller: Identity,
  ): Promise<ObjectValue | undefined> | ObjectValue | undefined;
  insert?(space: Namespace, body: ObjectValue, caller: Identity, along: Audited): Promise<ObjectValue>;
  update?(space: Namespace, stored: ObjectValue, changes: ObjectValue, caller: Identity, how: HowChanged): Promise<void>;
  /** UPSERT is supported (4.22). */
  readonly upserts?: true;
  /** Changes are not audited (4.22). */
  readonly unaudited?: true;
  /** UPDATE is supported, PATCH is not (4.22). */
  readonly unpatched?: true;
  remove?(space: Namespace, stored: ObjectValue, caller: Identity, how: Omit<HowChanged, 'address'>): Promise<void>;
  /** DELETE needs an id: a condition must not remove several. */
  readonly removesOneByOne?: true;
  readonly commands?: Readonly<Record<string, AccountCommand>>;
  /**
   * The capability that an operation needs on any object (7.5): it is checked before the object is looked up. Absent: the operation itself
   * checks rights.
   */
  readonly needs?: Readonly<Partial<Record<'read' | 'insert' | 'update' | 'delete' | 'command', Need>>>;
}

/** The object with this key, else the one with this `_id`. */
export const byKey =
  (key: string, spelled = (id: string): string => id): AccountResource['at'] =>
  (_space, all, id) =>
    all.find((object) => getOwn(object, key) === spelled(id)) ?? all.find((object) => getOwn(object, '_id') === id);

type Need = (space: Namespace, caller: Identity) => boolean;

export interface HowChanged {
  /** The address of the client; null where the service or a program makes the change. */
  readonly address: string | null;
  /** The expected version of the object; undefined: any. */
  readonly version: bigint | undefined;
  readonly along: Audited;
}

/** @returns `user` whose access the command granted or revoked, for its event */
export type AccountCommand = (
  space: Namespace,
  stored: ObjectValue,
  data: Value,
  actor: Actor,
  along: Audited,
) => Promise<{ result: Value; user?: ObjectValue }>;
