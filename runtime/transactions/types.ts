// What goes into a tick of the committer, and what a journal row holds. Shapes and errors only.

import type { Document, ObjectId } from 'mongodb';
import type { ConditionData, TriggerSpec } from '../../compiler/index.ts';
import type { WireError } from '../../stdlib/isolate/protocol.ts';
import type { Pending } from './pending.ts';

/** One change of one stored document. Replace and delete are conditional on the version that was read. */
export type Write = { collection: string } & (
  | {
      op: 'insert';
      document: Document & { _id: ObjectId };
      /** An instance whose `_id` was made for it: until it is stored nobody else can mean it. */
      isNew?: true;
      /** It is no larger in BSON; absent where nobody knows. */
      mostBytes?: number | undefined;
    }
  | {
      op: 'replace';
      id: ObjectId;
      version: bigint;
      document: Document;
      /** About how large it is: the length of its text. Absent: it is small. */
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
  /** Whether it runs is decided when the run begins; absent: it does. */
  readonly asks?: Undecided;
}

/** Conditions of which a program has a part to tell. */
export interface Undecided {
  readonly triggers: readonly TriggerSpec[];
  readonly condition: ConditionData | null;
  /** The version that runs if this one does not. */
  readonly next: RunReference | null;
}

export interface StoredEvent {
  readonly uuid: string;
  readonly path: string;
  /** The value as inner JSON text. */
  readonly value: string;
  readonly at: Date;
  /** Who caused it. */
  readonly by: string;
  readonly chain: CausalChain;
  /** None: only subscribers listen, and nothing of the event is stored. */
  readonly runs: readonly RunReference[];
  /** Which delivery this is to its rules: 1 when absent (integrations.md 12.3). */
  readonly attempt?: number;
  /** Of a reliable resource: its place among the events of a partition. It is delivered until it is acknowledged. */
  readonly sequence?: { readonly partitionId: number; readonly sequenceId: number };
  /** It may have been seen before. */
  readonly redelivered?: true;
  /** Its place among the events of its process, where it stands in another row than that of its commit. */
  readonly order?: number;
  /** Of a message: the topic it came on, and inner JSON of what its transport told of it (integrations.md 1.7). */
  readonly transport?: { readonly topic: string | null; readonly properties: string };
  /** What is stored with the event for those who must acknowledge it, in the same commit; never in a row. */
  readonly deliveries?: readonly Write[];
}

/** Where in a chain of rules something happens: what began it, how many rules ran since, and the names of the last of them. */
export interface CausalChain<Root = string> {
  readonly root: Root;
  readonly depth: number;
  readonly via?: readonly string[];
  /** Installations that a statement has come through to begin it (integrations.md 11.3); absent: none. */
  readonly hop?: number;
}

export const attemptOf = (event: StoredEvent): number => event.attempt ?? 1;

/** Whether its rules may have seen it before; never of what is not reliable (builtins.md 22). */
export const isRedelivered = (event: StoredEvent): boolean => event.sequence !== undefined && (event.redelivered ?? attemptOf(event) > 1);

/** The run of a rule that a run belongs to: itself, or what has started it. */
export const rootOf = (run: RunId): RunId => run.split('/').slice(0, 3).join('/');

/** The recorded result of one effect of a run, with the reads it made since the effect before. */
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

/** The answer with its text at hand: it may be made only when it is asked for. */
export const keptAnswer = (answer: Answer): Answer => ('ok' in answer ? { ok: answer.ok } : answer);

/** A message of a run, written beside the tick that carries the run's next step or its end. */
export interface LogEntry {
  readonly _id: ObjectId;
  readonly [name: string]: unknown;
}

/** Fails or succeeds as a whole. The committer goes through many of them again and again: it gives all the same shape (`uniform`). */
export interface UnitOfWork {
  readonly writes: readonly Write[];
  readonly events: readonly StoredEvent[];
  readonly steps?: readonly Step[];
  /** Runs that end with this unit. */
  readonly done?: readonly RunId[];
  readonly logs?: readonly LogEntry[];
  /** Collections of types that are stored with it: it is neither held back nor refused for these. */
  readonly makes?: ReadonlySet<string>;
  /** It says once more what stands in earlier rows: its events have been told. */
  readonly isCompaction?: true;
  /** Its events were committed before, by another process or by an earlier one: who subscribes has been told of them. */
  readonly isRecovered?: true;
  /** What others may go on from before it is stored. */
  readonly pending?: Pending;
  /** What it goes on from: it is stored with these or after them. */
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
  /** Low-water mark: rows of this epoch whose order is below the highest of these hold nothing any more, whether or not they are removed yet. */
  readonly low?: number;
  /** Set by a successor: no later tick of this epoch and slot can commit. */
  readonly closed?: boolean;
  readonly closedAt?: Date;
}

/** A unit that met an existing key of the unique index of that name. */
export class DuplicateKey extends Error {
  readonly collection: string;
  readonly index: string;
  constructor(collection: string, index: string) {
    super(`duplicate key of ${index} in ${collection}`);
    this.collection = collection;
    this.index = index;
  }
}
/** A unit with a document that the store does not take: a shape that an index cannot hold, for example. */
export class DocumentRefused extends Error {
  readonly collection: string;
  /** The store's own number for the reason. */
  readonly code: number;
  constructor(collection: string, code: number, message: string) {
    super(message);
    this.collection = collection;
    this.code = code;
  }
}
/** A replace or delete whose document has another version by now, or is gone. */
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

/** More is waiting than is held: the caller answers 429. */
export class QueueFull extends Error {
  readonly quota: Quota;
  readonly limit: number;
  constructor(quota: Quota, limit: number) {
    super(`too many ${quota}`);
    this.quota = quota;
    this.limit = limit;
  }
}
/** Another process has taken over this one's journal: nothing may be committed any more. */
export class Fenced extends Error {}
