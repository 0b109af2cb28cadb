// The policies of features on access to instances and on changes of any resource. Features register policies (feature.ts); the gate in
// resources/access asks all of them, wherever instances are read and wherever a change is about to be committed.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import type { InstanceResource, Namespace, Resource } from './types.ts';

/** A right that a profile grants for a type (resources-and-api.md 7.1). UPDATE and PATCH need `update`, a subscription needs `select`. */
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
  /** The stored state, with system properties; null for an insert. */
  readonly before: ObjectValue | null;
  /** The state to be stored, with system properties; null for a delete. */
  readonly after: ObjectValue | null;
  /** Whether the change is one of many by one statement. */
  readonly isOneOfMany?: true;
  /** The author of the change; `identity.ofService` is the service itself. */
  readonly initiator: Initiator;
}

export interface Policy {
  readonly name: string;
  /**
   * The restriction on the instances that the caller may touch. It becomes a part of the query in the store; a single instance that is
   * about to be inserted, updated or deleted is checked against it. Never asked for the service itself.
   * @returns a where-object, maybe with substitutions; null: all instances
   * @throws cascade.authorization.denied: none at all
   */
  restrict?(space: Namespace, access: Access): ObjectValue | null;
  /** All where-objects by which it may restrict the instances of a type; absent: they name no property of its own. */
  constraints?(space: Namespace, type: TypeDefinition): Iterable<ObjectValue>;
  /**
   * Refuses the use of a definition by throwing: of the instances of a type, of a procedure, topic or source. Never asked for the service
   * itself.
   * @param operation the operation that uses it, as errors name it
   * @throws cascade.authorization.denied
   */
  use?(space: Namespace, definition: ObjectValue, operation: string, caller: Identity): void;
  /**
   * Refuses a change by throwing. A promise delays every change of the resource, so a policy answers at once wherever possible. Not asked
   * for dependents that are deleted together with an instance.
   */
  admit?(space: Namespace, change: Change): MaybePromise<void>;
  /** Writes and events that are committed together with the change, or not at all; null: none. */
  accompany?(space: Namespace, change: Change): Pick<UnitOfWork, 'writes' | 'events'> | null;
}
