// Who does something, and within what: every operation carries one of these, from a client's request, a rule's run or a procedure.

import type { Identity } from '../../identity/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Predicate } from '../../model/query/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Answer, CausalChain, Pending, RunId, Step, StoredEvent, UnitOfWork, Write } from '../transactions/index.ts';
import type { OwnChanges } from './own-changes.ts';
import type { Since } from './stages.ts';
import type { StateUser } from '../shared-state/index.ts';

/** In whose name something is done. */
export interface Initiator {
  readonly identity: Identity;
  /** Whose things become the identity's own where it changes them; absent: the creator stays who it was. */
  readonly takesOver?: string;
  /** What time it is where this happens. */
  readonly clock: Clock;
  /** The chain that events raised here belong to; root null: they begin one of their own. */
  readonly chain: CausalChain<string | null>;
  /** From when on the stages of what follows are measured; absent: from when its events are raised. */
  readonly since?: Since | undefined;
  /** Gives the uuids of the events that are raised here, one after the other; absent: random ones. */
  readonly eventUuids?: () => string;
}

export interface Actor extends Initiator {
  /**
   * Stores a unit and resolves after its commit. Within a durable run the unit also carries the statement's result, so that a
   * repetition after a crash is answered from the record.
   * @param answer what the statement yields; absent for a part of it
   * @param part which part of it (a batch of a bulk operation, one of several instances), and what to know of it afterwards
   */
  commit(unit: UnitOfWork, answer?: Answer, part?: Checkpoint): Promise<void>;
  /** As `commit` of a unit that is all there is to a change; only where nothing is recorded with it. */
  readonly enqueue?: Enqueue | undefined;
  /** Parts of this statement that an earlier try has stored, with their notes; a repetition goes on behind them. Absent: none. */
  readonly checkpoints?: ReadonlyMap<number, string>;
  /** What the run has read, for updates that must not overwrite another's (language.md U7); null where the last writer wins. */
  readonly readSet: ReadSet | null;
  /** Ids of runs that the operation itself starts (BEFORE rules) begin with this; null: they are not recorded. */
  readonly childRunIds: ChildRunIds | null;
  /** BEFORE rules and procedures that are on the stack already. */
  readonly depth: number;
  /** The change whose BEFORE rules do this; absent: none. */
  readonly within?: OwnChanges | undefined;
  /** The event that the run was started by, and for which rule; absent in procedures that a client called. */
  readonly event?: { readonly event: StoredEvent; readonly rule: string };
  /** The run that asks, for what services keep between calls; absent where no program does. */
  readonly state?: StateUser;
  /** Aborted when who asks is gone: runs that this starts are ended. Absent: they run to their ends. */
  readonly signal?: AbortSignal;
  /** Whether nobody waits any more for what this reads; absent: somebody does. */
  readonly isGone?: (() => boolean) | undefined;
  /** The service itself acts for the identity: names that are reserved for it are its to give. */
  readonly ofService?: true;
  /** Headers of the HTTP request that called the procedure (builtins.md 20); absent where none did. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Stores a unit and tells by one of the two, without a promise. */
export type Enqueue = (unit: UnitOfWork, stored: () => void, failed: (reason: unknown) => void) => void;

export interface Checkpoint {
  readonly number: number;
  readonly note: string;
}

/** The actor with another way to store units. `enqueue` goes with the way that it belongs to. */
export const committing = (actor: Actor, commit: Actor['commit'], others: Partial<Pick<Actor, 'readSet' | 'childRunIds'>> = {}): Actor => ({
  ...actor,
  ...others,
  enqueue: undefined,
  commit,
});

/** The actor for an operation within a statement: its units are stored, and the statement's own answer is recorded elsewhere. */
export const withoutAnswers = (actor: Actor): Actor => committing(actor, (unit) => actor.commit(unit));

/** The runs that it starts have ids by this name, not by how many came before it: a repetition may leave some of these out. */
export const startingAs = (actor: Actor, name: string): Actor =>
  actor.childRunIds ? { ...actor, childRunIds: actor.childRunIds.of(name) } : actor;

/** Acts for one part of a statement: what would be the statement's answer is the part's note. */
export function checkpointing({ checkpoints: _, ...actor }: Actor, number: number): Actor {
  return committing(startingAs(actor, `#${number}`), (unit, answer) =>
    answer && 'ok' in answer ? actor.commit(unit, undefined, { number, note: answer.ok }) : actor.commit(unit, answer),
  );
}

/** What a run has read for a computed change. */
export interface ReadForChange {
  /** The condition that it was found by. */
  readonly predicate: Predicate;
  /** In its stored form. */
  readonly row: ObjectValue;
}

export interface TurnToChange extends ReadForChange {
  /** The newest change of the row that is not stored yet. */
  readonly pending: Pending | null;
  /** Others were ahead: the row that was read is probably not the newest. */
  readonly hasWaited: boolean;
}

export interface ReadSet {
  /** An instance was handed to the run at this version. */
  record(collection: string, id: string, version: bigint): void;
  /** The version an update of this instance must meet; undefined: it was not read. 0n: it was looked for and was not there. */
  expected(collection: string, id: string): bigint | undefined;
  /** Whether something of the collection was looked for and was not there. */
  hasMissed(collection: string): boolean;
  /**
   * Before a read is handed out: the run waits here while others who want a contended instance are ahead of it.
   * @returns a change of one of the instances that is not stored yet: the run may `follow` it, or waits for it and reads again
   */
  turn(collection: string, ids: readonly string[]): Promise<'read again' | 'go on' | Pending>;
  /** Whether the run may leave a computed change to the service: then it reads for it without waiting for its turn. */
  readonly mayCompute: boolean;
  /** A row was handed to the run for a computed change only. `record` has been called for it. */
  recordForChange(collection: string, id: string, read: ReadForChange): void;
  /**
   * Before a computed change: the run waits for its turn.
   * @returns what it has read, with the newest change that is not stored yet; null: the change is made as the program has computed it
   */
  turnToChange(collection: string, id: string): Promise<TurnToChange | null>;
  /** The run goes on from what this change leaves: all that it changes from now on is stored with it or after it. */
  follow(pending: Pending): void;
  /** The changes of a collection that the run goes on from and that are not stored yet. */
  followed(collection: string): readonly Pending[];
  /** Resolves when nothing that the run goes on from is still to be stored. @throws RestartRun when something of it was not */
  standing(): Promise<void>;
}

/** Ids for the runs that one operation starts, in the order in which it starts them: the same when it is repeated. */
export class ChildRunIds {
  /** Where those runs' steps are kept; absent: in the journal, under the event that all this follows from. */
  readonly stepStore: StepStore | undefined;
  readonly #prefix: string;
  #next = 0;

  constructor(prefix: string, stepStore?: StepStore) {
    this.#prefix = prefix;
    this.stepStore = stepStore;
  }

  next(): string {
    return `${this.#prefix}/${this.#next++}`;
  }

  /** Those of the next group of runs, which have names in it. */
  group(): ChildRunIds {
    return new ChildRunIds(this.next(), this.stepStore);
  }

  /** Those of one part of the operation, by its name: the same in whatever order the parts come, and whichever are left. */
  of(name: string): ChildRunIds {
    return new ChildRunIds(`${this.#prefix}/${name}`, this.stepStore);
  }
}

/** Keeps the steps of the runs that an operation starts. */
export interface StepStore {
  /** Those of an earlier try. */
  taken(run: RunId): readonly Step[];
  /** What is to be stored with the step's changes where no event of the journal stands for the run; absent: the journal has the step. */
  write?(step: Step): Write;
  /** The step is stored. */
  stored?(step: Step): void;
}

/** Ends an attempt of a run: it starts again from its event with fresh reads; what it has committed is answered from the record. */
export class RestartRun extends Error {
  /** The instance, `<collection>/<id>`. */
  readonly contended: string;
  /** The mark in the read set of a key that the instance has, and that the run may have looked for in vain; null: none. */
  readonly missed: string | null;
  constructor(contended: string, missed: string | null = null) {
    super(`the run reads ${contended} again`);
    this.contended = contended;
    this.missed = missed;
  }
}
