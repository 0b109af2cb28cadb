// A model of one namespace in several partitions (docs/partitions.md), by discrete events: what it would do per second, and whether its protocol keeps
// the order of changes. Times are in microseconds of a clock that jumps from event to event.

export interface Costs {
  /** Of a process's main thread for one event and the run of its rule. */
  readonly mainThread: number;
  /** Of the other partition's main thread for a unit that changes an instance there, too. */
  readonly prepare: number;
  /** One way between two processes. */
  readonly hop: number;
  /** Of a core of the primary for a transaction, and for each unit in it. */
  readonly primaryFixed: number;
  readonly primaryPerUnit: number;
  /** The primary's wait for its disk. */
  readonly sync: number;
}

export interface Load {
  readonly partitions: number;
  /** Cores of the machine with the primary. */
  readonly primaryCores: number;
  /** Clients that each wait for their reply, a partition. */
  readonly clients: number;
  /** How many of a hundred units change an instance of another partition. */
  readonly crossing: number;
  /** Instances that are changed, a partition. */
  readonly keys: number;
  readonly events: number;
  readonly seed: number;
}

/** A unit of work: the keys that it changes, by partition in ascending order. */
export interface Unit {
  readonly id: number;
  readonly keys: readonly string[];
  readonly partitions: readonly number[];
}

export interface Result {
  readonly perSecond: number;
  /** Latency of the median event, in microseconds. */
  readonly median: number;
  /** Of the time in which all cores of the primary could have worked. */
  readonly primaryBusy: number;
  /** Units in the order in which their transactions committed, and for each key the order in which they took their place in its line. */
  readonly committed: readonly Unit[];
  readonly lines: ReadonlyMap<string, readonly number[]>;
}

const UNITS_IN_A_TRANSACTION = 1_000;
const SLOTS = 2;

/** Something with so many servers, which serve in the order of arrival. */
class Servers {
  busy = 0;
  readonly #freeAt: number[];
  constructor(servers: number) {
    this.#freeAt = new Array<number>(servers).fill(0);
  }

  /** When a job that arrives now is done. */
  serve(now: number, time: number): number {
    const at = this.#freeAt.indexOf(Math.min(...this.#freeAt));
    const end = Math.max(now, this.#freeAt[at]!) + time;
    this.#freeAt[at] = end;
    this.busy += time;
    return end;
  }
}

/** Jobs by the time at which they are due; those of one time in the order in which they were put. */
class Agenda {
  now = 0;
  readonly #due: { at: number; order: number; run: () => void }[] = [];
  #order = 0;

  at(time: number, run: () => void): void {
    const entry = { at: time, order: this.#order++, run };
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#due[middle]!.at > time) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, entry);
  }

  run(): void {
    for (let entry; (entry = this.#due.pop()); entry.run()) this.now = entry.at;
  }
}

/** Who is before whom, by key. */
class Lines {
  /** All that ever joined, in their order. */
  readonly taken = new Map<string, number[]>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param first called once the unit is the first in the line */
  join(key: string, id: number, first: () => void): void {
    this.taken.set(key, [...(this.taken.get(key) ?? []), id]);
    const line = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, line);
    if (line.push(first) === 1) first();
  }

  leave(key: string): void {
    const line = this.#waiting.get(key)!;
    line.shift();
    line[0]?.();
  }
}

export function simulate(load: Load, costs: Costs): Result {
  const random = generator(load.seed);
  const agenda = new Agenda();
  const primary = new Servers(load.primaryCores);
  const mains = Array.from({ length: load.partitions }, () => new Servers(1));
  const queues = Array.from({ length: load.partitions }, (): Unit[] => []);
  const inFlight = new Array<number>(load.partitions).fill(0);
  const lines = new Lines();
  const begun = new Map<number, number>();
  const home = new Map<number, number>();
  const committed: Unit[] = [];
  const latencies: number[] = [];
  let asked = 0;

  const ask = (partition: number): void => {
    if (asked === load.events) return;
    const id = asked++;
    const isCrossing = load.partitions > 1 && random(100) < load.crossing;
    const other = (partition + 1 + random(load.partitions - 1)) % load.partitions;
    const partitions = isCrossing ? [partition, other].sort((a, b) => a - b) : [partition];
    const unit: Unit = { id, partitions, keys: partitions.map((one) => `${one}/${random(load.keys)}`) };
    begun.set(id, agenda.now);
    home.set(id, partition);
    agenda.at(mains[partition]!.serve(agenda.now, costs.mainThread), () => take(unit, 0));
  };
  /**
   * Takes its places line by line, the lowest partition's first, and goes on to the next one when it is the first in its line. Units that went on at once
   * would wait for each other in a circle of three partitions.
   */
  const take = (unit: Unit, at: number): void => {
    lines.join(unit.keys[at]!, unit.id, () => placed(unit, at));
  };
  const placed = (unit: Unit, at: number): void => {
    if (at + 1 < unit.keys.length) {
      const next = unit.partitions[at + 1]!;
      agenda.at(agenda.now + costs.hop, () => agenda.at(mains[next]!.serve(agenda.now, costs.prepare), () => take(unit, at + 1)));
      return;
    }
    // The unit is committed by the lowest of its partitions.
    const [owner = 0] = unit.partitions;
    agenda.at(agenda.now + (unit.keys.length > 1 ? costs.hop : 0), () => {
      queues[owner]!.push(unit);
      commit(owner);
    });
  };
  const commit = (partition: number): void => {
    if (inFlight[partition]! >= SLOTS) return;
    const ready = queues[partition]!.splice(0, UNITS_IN_A_TRANSACTION);
    if (ready.length === 0) return;
    inFlight[partition]!++;
    const rows = ready.reduce((sum, { keys }) => sum + keys.length, 0);
    const end = primary.serve(agenda.now, costs.primaryFixed + rows * costs.primaryPerUnit) + costs.sync;
    agenda.at(end, () => {
      inFlight[partition]!--;
      for (const unit of ready) {
        committed.push(unit);
        for (const key of unit.keys) lines.leave(key);
        latencies.push(agenda.now - begun.get(unit.id)!);
        ask(home.get(unit.id)!);
      }
      commit(partition);
    });
  };
  for (let partition = 0; partition < load.partitions; partition++) for (let client = 0; client < load.clients; client++) ask(partition);
  agenda.run();
  return {
    perSecond: (committed.length / agenda.now) * 1_000_000,
    median: latencies.sort((a, b) => a - b)[latencies.length >> 1] ?? 0,
    primaryBusy: primary.busy / (agenda.now * load.primaryCores),
    committed,
    lines: lines.taken,
  };
}

/** Whole numbers below a bound, the same for the same seed. */
function generator(seed: number): (bound: number) => number {
  let state = seed >>> 0 || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
}
