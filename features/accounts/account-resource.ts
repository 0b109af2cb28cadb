// What users, tokens, namespaces and organizations have in common: a resource of the installation.
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Identity } from '../../resources/api.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Audited } from './along.ts';

/** How one of them is listed and changed; what is absent is not offered. */
export interface AccountResource {
  readonly name: 'users' | 'tokens' | 'namespaces' | 'organizations';
  readonly type: TypeDefinition;
  /** What the caller may see, as it is shown. */
  list(space: Namespace, caller: Identity): Promise<ObjectValue[]>;
  /** Whether this id means that object. */
  isAt(space: Namespace, id: string, object: ObjectValue): Promise<boolean> | boolean;
  insert?(space: Namespace, body: ObjectValue, caller: Identity, along: Audited): Promise<ObjectValue>;
  update?(space: Namespace, stored: ObjectValue, changes: ObjectValue, caller: Identity, how: HowChanged): Promise<void>;
  /** Whether an UPSERT is offered (4.22). */
  readonly upserts?: true;
  /** Its changes are not audited (4.22). */
  readonly unaudited?: true;
  /** What may be updated, but not patched (4.22). */
  readonly unpatched?: true;
  remove?(space: Namespace, stored: ObjectValue, caller: Identity, along: Audited): Promise<void>;
  /** Each is for one that is named. */
  readonly removesOneByOne?: true;
  readonly commands?: Readonly<Record<string, AccountCommand>>;
  /**
   * Who may do an operation to any at all (7.5): who may not is refused before it is looked whether there is such a one. Absent: which they are
   * is the operation's own matter.
   */
  readonly needs?: Readonly<Partial<Record<'read' | 'insert' | 'update' | 'delete' | 'command', Need>>>;
}

type Need = (space: Namespace, caller: Identity) => boolean;

export interface HowChanged {
  /** Of the client, where one asks. */
  readonly address: string | null;
  /** That it must be changed from; undefined: any. */
  readonly version: bigint | undefined;
  readonly along: Audited;
}

/** @returns `user` whom it has let in or out, as its event tells */
export type AccountCommand = (
  space: Namespace,
  stored: ObjectValue,
  data: Value,
  actor: Actor,
  along: Audited,
) => Promise<{ result: Value; user?: ObjectValue }>;
