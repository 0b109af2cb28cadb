// What a feature may say about access to instances and about changes of any resource. Features register policies (feature.ts); the
// gate beside this file asks all of them, wherever instances are read and wherever a change is about to be committed.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import type { InstanceResource, Namespace, Resource } from './types.ts';

/** What a profile grants for a type (resources-and-api.md 7.1). UPDATE and PATCH are `update`, a subscription is `select`. */
export type Capability = 'select' | 'aggregate' | 'insert' | 'update' | 'delete';

export interface Access {
  readonly resource: InstanceResource;
  readonly capability: Capability;
  readonly caller: Identity;
}

/** A change that is about to be committed, after BEFORE rules and all checks of the instance or definition itself. */
export interface Change {
  readonly operation: 'insert' | 'update' | 'delete';
  readonly resource: Resource;
  /** As stored, with its system properties; null for an insert. */
  readonly before: ObjectValue | null;
  /** As it will be stored, with its system properties; null for a delete. */
  readonly after: ObjectValue | null;
  /** It is one of many that one statement changes. */
  readonly isOneOfMany?: true;
  /** Who changes it; `identity.ofService` is the service itself. */
  readonly initiator: Initiator;
}

export interface Policy {
  readonly name: string;
  /**
   * Which instances the caller may touch. It becomes a part of the query that the store runs; a single instance that is about to be inserted,
   * updated or deleted is checked against it. Never asked for the service itself.
   * @returns a where-object, maybe with substitutions; null: all instances
   * @throws cascade.authorization.denied: none at all
   */
  restrict?(space: Namespace, access: Access): ObjectValue | null;
  /**
   * Refuses the use of a definition by throwing: of the instances of a type, of a procedure, topic or source. Never asked for the service itself.
   * @param operation that it is used for, as the error says it
   * @throws cascade.authorization.denied
   */
  use?(space: Namespace, definition: ObjectValue, operation: string, caller: Identity): void;
  /**
   * Refuses a change by throwing. It may wait, but what it waits for delays every change of the resource: answer at once wherever possible.
   * Not asked for what is deleted together with an instance that it depends on.
   */
  admit?(space: Namespace, change: Change): MaybePromise<void>;
  /** Writes and events that are committed together with the change, or not at all; null: none. */
  accompany?(space: Namespace, change: Change): Pick<UnitOfWork, 'writes' | 'events'> | null;
}
