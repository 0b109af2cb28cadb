// What a batch of the committer consists of, and what a journal row holds. Shapes and errors only.

import type { Document, ObjectId } from 'mongodb';
import type { ConditionData, TriggerSpec } from '../../compiler/index.ts';
import type { WireError } from '../../stdlib/isolate/index.ts';
import type { Pending } from './pending.ts';

/** One change of one stored document. Replace and delete are conditional on the version that was read. */
export type Write = { collection: string } & (
  | {
      op: 'insert';
      document: Document & { _id: ObjectId };
      /** A new instance with a fresh `_id`: until it is stored nobody else can refer to it. */
      isNew?: true;
      /** Upper bound of its BSON size; absent: unknown. */
      mostBytes?: number | undefined;
    }
  | {
      op: 'replace';
      id: ObjectId;
      version: bigint;
      document: Document;
      /** Approximate size: the length of its text. Absent: small. */
      bytes?: number;
    }
  | { op: 'delete'; id: ObjectId; version: bigint }
);

/** `<event uuid>/<rule>/<attempt>`, for children `…/<site>.<nth>/<rule>`. */
export type RunId = string;

/** A run that an event starts: the rule with the program text it had when the event was stored. */
export interface RunReference {
  readonly rule: string;
  /** Key of the `programs` collection. */
  readonly program: string;
  /** 'event': the variable holds the event object; 'value': the event's value (language.md 6.1); 'arguments': the value is a Completion. */
  readonly binds: 'event' | 'value' | 'arguments';
  /**
   * The rule waits for further events: these of its triggers the event satisfies. Such a run stays open for as long as the event is
   * needed to know what the rule waits for.
   */
  readonly places?: readonly number[];
  /** Programs decide when the run begins whether the rule runs at all; absent: it runs. */
  readonly asks?: Undecided;
}

/** Conditions that a program decides in part. */
export interface Undecided {
  readonly triggers: readonly TriggerSpec[];
  readonly condition: ConditionData | null;
  /** When it holds, nothing runs: it is a deadline, and this version has no TIMEOUT. */
  readonly runsNothing?: boolean;
  /** The version that runs if this one does not. */
  readonly next: RunReference | null;
}

export interface StoredEvent {
  readonly uuid: string;
  readonly path: string;
  /** The value as inner JSON text. */
  readonly value: string;
  readonly at: Date;
  /** The user who caused it. */
  readonly by: string;
  readonly chain: CausalChain;
  /** Empty: only subscribers get the event, and it is not stored. */
  readonly runs: readonly RunReference[];
  /** Which delivery this is to its rules: 1 when absent (integrations.md 12.3). */
  readonly attempt?: number;
  /** For events of reliable resources: the sequence number within a partition. The event is delivered until it is acknowledged. */
  readonly sequence?: { readonly partitionId: number; readonly sequenceId: number };
  /** The receiver may have seen it before. */
  readonly redelivered?: true;
  /** Its order among the events of its process, where compaction moved it to another row than that of its commit. */
  readonly order?: number;
  /** For messages: the topic, and inner JSON of the transport's properties (integrations.md 1.7). */
  readonly transport?: { readonly topic: string | null; readonly properties: string };
  /** Delivery records for those who must acknowledge the event, stored in the same commit, never in the row. */
  readonly deliveries?: readonly Write[];
}

/** Position in a chain of rules: the root event, the number of rules that ran since, and the names of the last ones. */
export interface CausalChain<Root = string> {
  readonly root: Root;
  readonly depth: number;
  readonly via?: readonly string[];
  /** Number of installations that the causing statement has passed through (integrations.md 11.3); absent: none. */
  readonly hop?: number;
  /** Number of chains that were too long and whose end, one after the other, has set this one going; absent: none. */
  readonly ends?: number;
}

export const attemptOf = (event: StoredEvent): number => event.attempt ?? 1;

/** Whether its rules may have seen it before; never for events that are not reliable (builtins.md 22). */
export const isRedelivered = (event: StoredEvent): boolean => event.sequence !== undefined && (event.redelivered ?? attemptOf(event) > 1);

/** The run of a rule that a run belongs to: itself, or the run that has started it. */
export const rootOf = (run: RunId): RunId => run.split('/').slice(0, 3).join('/');

/** The recorded result of one effect of a run, with the reads since the effect before. */
export interface Step {
  readonly run: RunId;
  readonly site: string;
  readonly nth: number;
  readonly at: Date;
  /** What now() gave at the start of the run. */
  readonly startedAt: Date;
  readonly answer: Answer;
  /** Names the request that was answered (runs/history.ts); absent in records of an earlier version. */
  readonly request?: string | undefined;
  /** The versions of the instances that the answer showed to the program (runs/history.ts); absent: none. */
  readonly seen?: string | undefined;
  readonly reads: readonly Read[];
}
export type Read = Pick<Step, 'site' | 'nth' | 'at' | 'answer' | 'request' | 'seen'>;
/** What a request of a run is answered with: inner JSON text of a value, of the rows of a result list (language.md Q7), or an error. */
export type Answer = { readonly ok: string } | { readonly list: string } | { readonly error: WireError };

/** A copy of the answer with its text in memory: a getter may compute it only when it is read. */
export const keptAnswer = (answer: Answer): Answer => ('ok' in answer ? { ok: answer.ok } : answer);

/** A log message of a run, written with the batch that carries the run's next step or its end. */
export interface LogEntry {
  readonly _id: ObjectId;
  readonly [name: string]: unknown;
}

/** Commits or fails as a whole. The committer looks at units again and again: `uniform` gives all of them the same shape. */
export interface UnitOfWork {
  readonly writes: readonly Write[];
  readonly events: readonly StoredEvent[];
  readonly steps?: readonly Step[];
  /** Runs that end with this unit. */
  readonly done?: readonly RunId[];
  readonly logs?: readonly LogEntry[];
  /** Collections of types that this unit creates: a block does not hold it back for these, and `refuses` does not look at them. */
  readonly makes?: ReadonlySet<string>;
  /** Marks of keys (`<collection>/key …`) that the run which stores it had looked for in vain, and that it gives to an instance. */
  readonly keysTaken?: readonly string[];
  /** A compaction copy: subscribers were notified by the original. */
  readonly isCompaction?: true;
  /** Recovered events, committed by another process or an earlier batch: subscribers have been notified of them. */
  readonly isRecovered?: true;
  /** The change that later units may follow before it is stored. */
  readonly pending?: Pending;
  /** The pending changes that it follows: it is stored with these or after them. */
  readonly after?: readonly Pending[];
}

export interface RowId {
  readonly epoch: number;
  readonly slot: number;
  readonly seq: number;
}
/** One row a transaction: journal, progress log and completion mark at once. `order` rises over all slots of an epoch. */
export interface JournalRow {
  readonly _id: RowId;
  readonly order: number;
  readonly events: readonly StoredEvent[];
  readonly steps: readonly Step[];
  readonly done: readonly RunId[];
  /** The second of the newest `_id` that the process had given; absent in rows of an earlier version. */
  readonly idSecond?: number | undefined;
  /** Low-water mark: rows of this epoch with a lower order are void, whether or not they are removed yet. */
  readonly low?: number;
  /** Set by the next owner: no later batch of this epoch and slot can commit. */
  readonly closed?: boolean;
  readonly closedAt?: Date;
}

/** A unit with a duplicate key in the unique index of that name. */
export class DuplicateKey extends Error {
  readonly collection: string;
  readonly index: string;
  constructor(collection: string, index: string) {
    super(`duplicate key of ${index} in ${collection}`);
    this.collection = collection;
    this.index = index;
  }
}
/** A unit with a document that the store refuses, for example for a shape that an index cannot hold. */
export class DocumentRefused extends Error {
  readonly collection: string;
  /** The store's error code. */
  readonly code: number;
  constructor(collection: string, code: number, message: string) {
    super(message);
    this.collection = collection;
    this.code = code;
  }
}
/** A replace or delete whose document no longer has the expected version, or is gone. */
export class VersionConflict extends Error {
  readonly collection: string;
  readonly id: ObjectId;
  constructor(collection: string, id: ObjectId) {
    super(`version of ${collection}/${id.toHexString()} has changed`);
    this.collection = collection;
    this.id = id;
  }
}

type Quota = 'waitingWrites' | 'waitingRuns' | 'waitingRequests' | 'execution';

/** A queue is full: the client gets 429. */
export class QueueFull extends Error {
  readonly quota: Quota;
  readonly limit: number;
  constructor(quota: Quota, limit: number) {
    super(`too many ${quota}`);
    this.quota = quota;
    this.limit = limit;
  }
}
/** Another process owns the namespace now: nothing may be committed any more. */
export class Fenced extends Error {}
