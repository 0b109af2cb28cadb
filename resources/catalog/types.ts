// What the operations work on: a namespace, its resources, and the two ways in which a resource keeps its instances.

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

/** What all namespaces have in common. */
export interface Installation {
  readonly identity: IdentityStore;
  readonly directory: Directory;
  readonly keys: NamespaceKeys;
  readonly security: SecurityLog;
  readonly quotas: Quotas;
  readonly rightsOf: RightsOf;
  readonly about: About;
  /** The data of `system`, which is never deleted: audits go there that would go with their namespace. */
  readonly lasting: Db;
  /** Where a namespace is stored, whoever owns it. */
  databaseOf(namespace: string): Db;
  /** Closes a namespace where it is open, and opens it anew: what its database has is in force then. */
  reopen(namespace: string): Promise<void>;
  /** Closes a namespace that was deleted and removes its data. */
  drop(namespace: string): Promise<void>;
}

/** Where the data of a namespace are. */
export interface Storage {
  readonly db: Db;
  /** Queries a batch at a time; reads by id, and by a text, that share a request. */
  readonly rows: RowReader;
  readonly points: PointReads;
  readonly equals: EqualityReads;
  /** What encrypted properties are stored with; null while no type of the namespace has any. */
  cipher: Cipher | null;
}

/** What can be named in a namespace. */
export interface Catalog {
  readonly features: FeatureRegistry;
  readonly types: TypesInForce;
  readonly scalars: Map<string, ScalarDefinition>;
  readonly definitions: DefinitionStore;
}

/** Of a namespace: what the names in a type may mean, and what its encrypted properties are stored with. */
export interface NameScope {
  readonly catalog: Catalog;
  readonly storage: Pick<Storage, 'cipher'>;
}

export const knownNames = ({ catalog: { types, scalars }, storage: { cipher } }: NameScope): KnownNames => ({ types, scalars, cipher });

/** What programs run with. */
export interface Execution {
  readonly sandbox: Sandbox;
  readonly runs: RunHost;
  readonly contention: Contention;
  /** Rules as compiled, by rule and program: those in force, and those that open events name. */
  readonly executables: Map<string, Executable>;
  readonly programs: ProgramStore;
  /** What rules compile to, kept from start to start. */
  readonly compilations: CompilationCache;
  /** What services keep between calls, and what runs share. */
  readonly sharedState: StateStore;
}

/** Who takes events. */
export interface Events extends EventTakers {
  /** BEFORE rules by event path and condition. */
  readonly before: TriggerIndex;
  readonly correlations: Correlations;
  readonly deliveries: ReliableEvents;
  readonly subscribers: Subscribers;
}

/** An open namespace. What features keep for one is found in `states` by their keys. */
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

/** Instances of a type: documents of a collection of its own. */
export interface InstanceResource {
  readonly kind: 'instances';
  readonly name: string;
  readonly type: TypeDefinition;
  readonly collection: string;
  /** False for what only the service writes (logs, snapshots). */
  readonly operations: ReadonlySet<string>;
  /** Order without `sort`. */
  readonly defaultSort: Readonly<Record<string, 1 | -1>>;
  /** The collection is made with the first instance, not with the namespace: most namespaces never need it. */
  readonly isLazy?: true;
  /** What REST answers for one: the instance, where it is a system resource with this; else an array of it. */
  readonly answers?: 'object';
  readonly guard?: InstanceGuard;
  /** Bytes in or out over HTTP (`ApiRequest.transfer`). */
  transfer?(space: Namespace, resource: InstanceResource, request: ApiRequest, actor: Actor): Promise<ApiReply>;
  /** Addressed as types are, under `custom/`. */
  readonly asType?: true;
  /**
   * What is stored for what a client or a program submits: completed by what only the service knows.
   * @param isNew it is a whole instance (INSERT, UPSERT), not changes of one
   * @throws CascadeError when it is wrong
   */
  receive?(body: Value, initiator: Initiator, isNew: boolean): Value;
  /** What of an instance users with rights to their own ones only may see; absent: all of it. */
  readonly seen?: {
    instance(shown: ObjectValue, username: string): ObjectValue;
    /** Stages of an aggregation that leave the same. */
    stages(username: string): Value[];
  };
  /** How an instance goes, where that is more than its removal. @param name as stored */
  end?(space: Namespace, name: string): Promise<void>;
}

/** What is particular to the instances of a system resource, in whatever way they are changed. */
export interface InstanceGuard {
  /** In place of the usual INSERT and UPSERT. */
  insert?(space: Namespace, resource: InstanceResource, body: Value, actor: Actor, upsert: boolean): Promise<ObjectValue | null>;
  /** Refuses what an update may not set. @throws CascadeError */
  change?(stored: ObjectValue, changes: ObjectValue): void;
  /** What is stored with the deletion of these. */
  along?(space: Namespace, gone: readonly ObjectValue[]): Promise<Write[]>;
}

/** Definitions: few, all in memory, stored by kind and name in one collection. */
export interface DefinitionResource {
  readonly kind: 'definitions';
  readonly name: string;
  readonly systemType: string;
  readonly operations: ReadonlySet<string>;
  /** POST on an existing name: it is updated, or refused with 409. */
  readonly onExisting: 'update' | 'conflict' | ((stored: ObjectValue) => 'update' | 'conflict');
  /** Lists of which a patch removes elements by their value (2.8), and the form in which these are compared. */
  readonly removedByValue?: Readonly<Record<string, (element: Value) => Value>>;
  /** Kept in memory only: a restart forgets it. */
  readonly isTransient?: (stored: ObjectValue) => boolean;
  /** Each change of one is audited (8.3). */
  readonly audited?: true;
  /** Shape for conditions and sorting. */
  readonly type: TypeDefinition;
  /**
   * Checks a definition and completes it: the stored object, and what makes it take effect.
   * @param body as submitted (merged with the stored one for updates); @param stored null when it is new
   * @throws CascadeError, CascadeErrors when it is wrong
   */
  define(space: Namespace, body: ObjectValue, stored: ObjectValue | null, actor: Actor): Promise<Defined>;
  /** The type as `types` lists it, where it has properties that nobody is shown. */
  readonly listed?: TypeDefinition;
  /** Definitions of the service itself, by name: listed with the others, never changed. */
  builtIn?(space: Namespace): ReadonlyMap<string, ObjectValue>;
  /** A change of one of the service's own stores it, changed, for the namespace: `define` says what may be changed. */
  readonly storesBuiltIn?: true;
  /** What changes and deletions of the service's own are refused with; absent: cascade.authorization.denied. */
  refuseBuiltIn?(name: string): CascadeError;
  /** What others that are stored with it see of it, before anything is in force (definitions/definition-batch.ts). @param space seen by these alone */
  foresee?(space: Namespace, object: ObjectValue): void;
  /** Puts in force here what another process has stored, or takes it out of force. @param object null: it was deleted */
  enforce?(space: Namespace, name: string, object: ObjectValue | null): void | Promise<void>;
  /** Whether somebody may know of one, in whatever way they look; absent: all that may read the kind. */
  maySee?(space: Namespace, stored: ObjectValue, caller: Identity): boolean;
  /** A stored property that nobody is shown, in whatever way they look. */
  readonly hidden?: string;
  /**
   * The same with its secrets sealed otherwise; absent: it has none.
   * @param again what is stored of one, in base64, by the place that it is sealed for
   */
  resealed?(object: ObjectValue, again: (sealed: string, place: string) => string): ObjectValue;
  /** The representation, where it has more than what is stored. */
  show?(space: Namespace, stored: ObjectValue): ObjectValue;
  /** What a body posted to the collection means besides a definition (2.13); null: it is one. */
  onCollection?(space: Namespace, body: ObjectValue, actor: Actor): Promise<ApiReply | null>;
  /** Before it goes: refuses, or gives what takes it out of effect. */
  remove(space: Namespace, stored: ObjectValue, actor: Actor): Promise<Pick<Defined, 'prepare' | 'apply' | 'settle'>>;
}

export interface Defined {
  /** The key; the name for all but versioned rules. */
  readonly name: string;
  readonly object: ObjectValue;
  /** What the stored row has beside the definition. */
  readonly beside?: (object: ObjectValue) => Readonly<Record<string, string>>;
  /** Work on the store before the definition is stored (collections, indexes, programs). The object has its system properties. */
  readonly prepare?: (object: ObjectValue) => Promise<void>;
  /** Puts it in force in memory, right after the commit and before the answer. The object has its system properties. */
  readonly apply: (object: ObjectValue) => void;
  /** Work on the store once it is in force, before the answer. */
  readonly settle?: () => Promise<void>;
  /** Instead of `apply`, when it could not be stored after `prepare` had begun. */
  readonly abandon?: () => void;
}

/** What the installation keeps, not a namespace (users, tokens, namespaces). Changes of it are commits of their own. */
export interface InstallationResource {
  readonly name: string;
  readonly type: TypeDefinition;
  readonly operations: ReadonlySet<string>;
  /** Names of its custom commands. */
  readonly commands: readonly string[];
  /** Whether clients may listen to its events. */
  readonly hasEvents: boolean;
  carryOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply>;
  /** What the caller may see of it and the condition holds for, as it is shown. */
  matching(space: Namespace, where: Value, caller: Identity): Promise<ObjectValue[]>;
  /** INSERT and UPSERT of programs. */
  put(space: Namespace, values: ObjectValue | Value[], upserts: boolean, actor: Actor): Promise<Answer>;
  update(space: Namespace, values: ObjectValue, where: Value, actor: Actor): Promise<Answer>;
  remove(space: Namespace, where: Value, actor: Actor): Promise<Answer>;
}

export type Resource = InstanceResource | DefinitionResource;
