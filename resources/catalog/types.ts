// The types that operations work with: a namespace, its resources, and the ways to store the members of a resource.

import type { Db } from 'mongodb';
import type { Logger } from 'pino';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { CascadeError } from '../../stdlib/errors.ts';
import type { About } from '../../platform/about/index.ts';
import type { Actor, Initiator } from '../../runtime/context/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Answer, Committer, Write } from '../../runtime/transactions/index.ts';
import type { Correlations } from '../../runtime/correlation/index.ts';
import type { Directory, Identity, IdentityStore, RightsOf, SecurityLog } from '../../identity/index.ts';
import type { NamespaceKeys } from '../../platform/keys/index.ts';
import type { Contention, RunHost } from '../../runtime/runs/index.ts';
import type { Executable, CompilationCache, ProgramStore } from '../../runtime/programs/index.ts';
import type { EqualityReads, PointReads, RowReader } from '../../platform/mongo/index.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { TriggerIndex } from '../../runtime/triggers/index.ts';
import type { KnownNames, ScalarDefinition, TypeDefinition, Cipher } from '../../model/types/index.ts';
import type { StateStore } from '../../runtime/shared-state/index.ts';
import type { EventTakers, ReliableEvents, Subscribers } from '../../runtime/events/index.ts';
import type { FeatureRegistry } from './feature.ts';
import type { FeatureStates } from '../states.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import type { Quotas } from '../quotas/index.ts';
import type { DefinitionStore } from './definition-store.ts';
import type { TypesInForce } from './types-in-force.ts';

/** The parts that all namespaces share. */
export interface Installation {
  readonly identity: IdentityStore;
  readonly directory: Directory;
  readonly keys: NamespaceKeys;
  readonly security: SecurityLog;
  readonly quotas: Quotas;
  readonly rightsOf: RightsOf;
  readonly about: About;
  /** Whether this process certainly holds its lease, by its own monotonic clock: no other one can do its work. */
  isSure(): boolean;
  /** The database of `system`, which is never deleted: it takes the audits that would be deleted with their namespace. */
  readonly lasting: Db;
  /** The database of a namespace, whichever process owns it. */
  databaseOf(namespace: string): Db;
  /** Closes an open namespace and opens it anew, so that what its database holds is in force. */
  reopen(namespace: string): Promise<void>;
  /** Takes what a user has by its name in a namespace from it, as FeatureRegistry does, whichever process owns the namespace. */
  forgetUser(namespace: string, username: string, by: Identity): Promise<void>;
  /** Closes a namespace that was deleted and removes its data. */
  drop(namespace: string): Promise<void>;
}

/** The storage of a namespace's data. */
export interface Storage {
  readonly db: Db;
  /** Reads query results in batches; reads by id and by text share requests. */
  readonly rows: RowReader;
  readonly points: PointReads;
  readonly equals: EqualityReads;
  /** The cipher of encrypted properties; null while no type of the namespace has any. */
  cipher: Cipher | null;
}

/** The definitions of a namespace, by name. */
export interface Catalog {
  readonly features: FeatureRegistry;
  readonly types: TypesInForce;
  readonly scalars: Map<string, ScalarDefinition>;
  readonly definitions: DefinitionStore;
  /** Names of types that a batch is going to have, so that its types may refer to each other in circles. */
  readonly announced?: ReadonlySet<string>;
}

/** The scope for names in a type, and the cipher of its encrypted properties. */
export interface NameScope {
  readonly catalog: Catalog;
  readonly storage: Pick<Storage, 'cipher'>;
}

export const knownNames = ({ catalog, storage: { cipher } }: NameScope): KnownNames => ({
  // The structures of properties are looked up later: a batch's catalog is another one then (definitions/definition-batch.ts).
  types: { get: (name) => catalog.types.get(name), has: (name) => catalog.types.has(name) || catalog.announced?.has(name) === true },
  scalars: catalog.scalars,
  cipher,
});

/** The names for a definition that is stored: types may refer to each other in circles, and to types that are deleted or not yet loaded. */
export function storedNames(scope: NameScope): KnownNames {
  const { types, ...known } = knownNames(scope);
  const { definitions } = scope.catalog;
  const has = (name: string): boolean => types.has(name) || definitions.get('types', name) !== undefined;
  return { ...known, types: { get: types.get, has }, isStored: true };
}

/** The parts that run programs. */
export interface Execution {
  readonly sandbox: Sandbox;
  readonly runs: RunHost;
  readonly contention: Contention;
  /** Compiled rules, by rule and program: those in force, and those that open events name. */
  readonly executables: Map<string, Executable>;
  readonly programs: ProgramStore;
  /** Results of compilations, kept across starts. */
  readonly compilations: CompilationCache;
  /** State of services between calls, and objects that runs share. */
  readonly sharedState: StateStore;
}

/** The receivers of events. */
export interface Events extends EventTakers {
  /** BEFORE rules by event path and condition. */
  readonly before: TriggerIndex;
  readonly correlations: Correlations;
  readonly deliveries: ReliableEvents;
  readonly subscribers: Subscribers;
}

/** An open namespace. Features keep their own state in `states`, under their keys. */
export interface Namespace {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly transactions: Committer;
  readonly execution: Execution;
  readonly events: Events;
  readonly installation: Installation;
  readonly states: FeatureStates;
}

/** Instances of a type, stored in a collection of its own. */
export interface InstanceResource {
  readonly kind: 'instances';
  readonly name: string;
  readonly type: TypeDefinition;
  readonly collection: string;
  /** The operations of clients; fewer where only the service writes (logs, snapshots). */
  readonly operations: ReadonlySet<string>;
  /** The order without `sort`. */
  readonly defaultSort: Readonly<Record<string, 1 | -1>>;
  /** The collection is made with the first instance, not with the namespace: most namespaces never need it. */
  readonly isLazy?: true;
  /** REST's answer to a write of one: the instance, for a system resource with this value; else an array of it. */
  readonly answers?: 'object';
  readonly guard?: InstanceGuard;
  /** Uploads or downloads over HTTP (`ApiRequest.transfer`). */
  transfer?(space: Namespace, resource: InstanceResource, request: ApiRequest, actor: Actor): Promise<ApiReply>;
  /** Whether it is addressed as types are, under `custom/`. */
  readonly asType?: true;
  /**
   * Completes what a client or program submits with the properties that only the service sets.
   * @param isNew it is a whole instance (INSERT, UPSERT), not changes of one
   * @throws CascadeError when it is invalid
   */
  receive?(body: Value, initiator: Initiator, isNew: boolean): Value;
  /** The view of an instance for users with rights on their own part only; absent: the whole instance. */
  readonly seen?: {
    /** Properties of which only a part is seen. Their conditions and sort orders are refused: the answer would tell of the rest. */
    readonly inPart: readonly string[];
    instance(shown: ObjectValue, username: string): ObjectValue;
    /** The same view as stages of an aggregation. */
    stages(username: string): Value[];
  };
  /** Removes an instance, where that is more than a deletion. @param name as stored */
  end?(space: Namespace, name: string): Promise<void>;
}

/** Special handling of a system resource's instances, for every way to change them. */
export interface InstanceGuard {
  /** Replaces the usual INSERT and UPSERT. */
  insert?(space: Namespace, resource: InstanceResource, body: Value, actor: Actor, upsert: boolean): Promise<ObjectValue | null>;
  /** Refuses properties that an update may not set. @throws CascadeError */
  change?(stored: ObjectValue, changes: ObjectValue): void;
  /** Writes that are stored with the deletion of these. */
  along?(space: Namespace, gone: readonly ObjectValue[]): Promise<Write[]>;
}

/** Definitions: few, all in memory, stored by kind and name in one collection. */
export interface DefinitionResource {
  readonly kind: 'definitions';
  readonly name: string;
  readonly systemType: string;
  readonly operations: ReadonlySet<string>;
  /** The effect of a POST on an existing name: an update, or a refusal with 409. */
  readonly onExisting: 'update' | 'conflict' | ((stored: ObjectValue) => 'update' | 'conflict');
  /** Refuses to change a stored one, whatever the change names. @throws CascadeError */
  readonly requireChangeable?: (stored: ObjectValue) => void;
  /** Lists whose elements a patch removes by value (2.8), with the form in which elements are compared. */
  readonly removedByValue?: Readonly<Record<string, (element: Value) => Value>>;
  /** Alternatives: a change that sets a property removes these stored ones, unless it sets them, too. */
  readonly replaces?: Readonly<Record<string, readonly string[]>>;
  /** A definition from a project's file, which may be older than the stored one, as it is to be taken now. */
  readonly fromFile?: (given: ObjectValue, stored: ObjectValue | undefined, nowMs: number) => ObjectValue;
  /** Whether it is kept in memory only, so that a restart forgets it. */
  readonly isTransient?: (stored: ObjectValue) => boolean;
  /** Each change of one is audited (8.3). */
  readonly audited?: true;
  /** The shape for conditions and sorting. */
  readonly type: TypeDefinition;
  /**
   * Checks and completes a definition: gives the stored object, and the steps that put it in force.
   * @param body as submitted (merged with the stored one for updates); @param stored null when it is new
   * @throws CascadeError, CascadeErrors when it is invalid
   */
  define(space: Namespace, body: ObjectValue, stored: ObjectValue | null, actor: Actor): Promise<Defined>;
  /** In its place for what the statement of another node inserts. */
  ofNodes?(): DefinitionResource;
  /** The type as `types` lists it, where some properties are hidden. */
  readonly listed?: TypeDefinition;
  /** Definitions of the service itself, by name: listed with the others, never changed. */
  builtIn?(space: Namespace): ReadonlyMap<string, ObjectValue>;
  /** Whether a change of a definition of the service is stored for the namespace: `define` decides what may be changed. */
  readonly storesBuiltIn?: true;
  /** The error for changes and deletions of the service's own definitions; absent: cascade.authorization.denied. */
  refuseBuiltIn?(name: string): CascadeError;
  /**
   * Reads a definition of a batch (definitions/definition-batch.ts). @param space the copy that only the batch sees
   * @returns makes it visible in a space: to others of the batch before it is in force, then to all
   */
  foresee?(space: Namespace, object: ObjectValue): (space: Namespace) => void;
  /** Puts a definition in force that another process has stored, or takes it out of force. @param object null: it was deleted */
  enforce?(space: Namespace, name: string, object: ObjectValue | null): void | Promise<void>;
  /** Whether the caller may know that it exists, on every way in; absent: all that may read the kind. */
  maySee?(space: Namespace, stored: ObjectValue, caller: Identity): boolean;
  /** A stored property that is hidden from everybody, on every way in. */
  readonly hidden?: string;
  /**
   * The definition with its secrets sealed anew; absent: it has none.
   * @param again converts a sealed text, in base64; it gets the place that the text is sealed for
   */
  resealed?(object: ObjectValue, again: (sealed: string, place: string) => string): ObjectValue;
  /** The representation, where it has more than what is stored. */
  show?(space: Namespace, stored: ObjectValue): ObjectValue;
  /** Handles a body posted to the collection that is not a definition (2.13); null: it is one. */
  onCollection?(space: Namespace, body: ObjectValue, actor: Actor): Promise<ApiReply | null>;
  /**
   * Prepares a deletion: refuses it, or gives the steps that take the definition out of force. It changes nothing itself.
   * @param leaving addresses of definitions that are deleted before it, whose use of it is no reason to refuse
   */
  remove(
    space: Namespace,
    stored: ObjectValue,
    actor: Actor,
    leaving?: ReadonlySet<string>,
  ): Promise<Pick<Defined, 'prepare' | 'apply' | 'settle'>>;
}

export interface Defined {
  /** The key of the stored row: the name, for all but versioned rules. */
  readonly name: string;
  readonly object: ObjectValue;
  /** Additional members of the stored row. */
  readonly beside?: (object: ObjectValue) => Readonly<Record<string, string>>;
  /** Work on the store before the definition is stored (collections, indexes, programs). The object has its system properties. */
  readonly prepare?: (object: ObjectValue) => Promise<void>;
  /** Puts the definition in force in memory, right after the commit and before the answer. The object has its system properties. */
  readonly apply: (object: ObjectValue) => void;
  /** Work on the store once the definition is in force, before the answer. */
  readonly settle?: () => Promise<void>;
  /** Called instead of `apply`, when the definition could not be stored after `prepare` had begun. */
  readonly abandon?: () => void;
  /** Changes of other definitions that it brings about, where these are there: a batch stores them in its own commit. */
  readonly along?: readonly ChangeAlong[];
}

export interface ChangeAlong {
  readonly kind: DefinitionResource;
  readonly name: string;
  readonly changes: ObjectValue;
}

/** A resource of the installation, not of a namespace (users, tokens, namespaces). Its changes are commits of their own. */
export interface InstallationResource {
  readonly name: string;
  readonly type: TypeDefinition;
  readonly operations: ReadonlySet<string>;
  /** The names of its custom commands. */
  readonly commands: readonly string[];
  /** Whether clients may subscribe to its events. */
  readonly hasEvents: boolean;
  carryOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply>;
  /** The members that the caller may see and that satisfy the condition, in their external form. */
  matching(space: Namespace, where: Value, caller: Identity): Promise<ObjectValue[]>;
  /** Carries out INSERT and UPSERT of programs. */
  put(space: Namespace, values: ObjectValue | Value[], upserts: boolean, actor: Actor): Promise<Answer>;
  /** @param onError the answer is that of an UPDATE with ON ERROR (operations/on-error.ts) */
  update(space: Namespace, values: ObjectValue, where: Value, actor: Actor, onError: boolean): Promise<Answer>;
  remove(space: Namespace, where: Value, actor: Actor): Promise<Answer>;
}

export type Resource = InstanceResource | DefinitionResource;
