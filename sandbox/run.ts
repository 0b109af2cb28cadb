// One open run, seen from the service: where it stands, and the record from which it can be repeated in another isolate.
// A run is repeated by starting it again: what it asked for before is answered from the record (by site and nth), what it logged
// before is not logged again. Pure bookkeeping; sandbox.ts sends and tells.
import { lengthOf } from './starts.ts';
import type { Reply, RunRequest } from './types.ts';

/** Characters. More than this is not kept of one run: it then can't be repeated. */
const MAX_RECORD_LENGTH = 4 * 1024 * 1024;

/** What the records of all runs hold together: beyond `most`, the run whose record grows gives it up. */
export interface Records {
  held: number;
  readonly most: number;
}

/** A request of the run, as it came. */
export interface Request {
  site: string;
  nth: number;
  kind: string;
  payloadJson: string;
  tail: boolean;
}

/** An answer as it is sent: all but the run's id. */
interface RecordedAnswer {
  tag: 'ok' | 'list' | 'err';
  json: string;
  at: number;
}

/** What a run has asked and said so far. */
interface RequestLog {
  /** Passed on, and not answered yet. */
  open: string | null;
  /** Asked for in this life, and waited for: is `open`, except when this life went another way than the one before. */
  pending: Request | null;
  answers: Map<string, RecordedAnswer> | null;
  logged: number;
  /** now() after each slice, so that a repetition sees the same. */
  readonly turnTimes: number[];
  slices: number;
}
const newRequestLog = (): RequestLog => ({ open: null, pending: null, answers: null, logged: 0, turnTimes: [], slices: 0 });

/** Whose turn it is: the isolate's (an item for it is under way), the caller's (a request is open), or a procedure is being looked up. */
export type Turn = 'isolate' | 'caller' | 'procedure';

export class Run<Home = unknown> {
  readonly request: RunRequest;
  /** The isolate that holds it now; null when none does, and it is repeated as soon as there is something to do. */
  isolate: Home | null = null;
  /** Its name over there: another one in each life. */
  wireId = 0;
  /** Until it has ended, failed or was dropped. */
  isOpen = true;
  turn: Turn = 'isolate';
  /** It was sent to an isolate, so a new beginning is a repetition. */
  hasBegun = false;
  /** CPU time of this life, ms (a repetition uses up its own). */
  cpuMs = 0;
  /** Fuel of a slice; 0 until it first begins. */
  sliceFuel = 0;
  /** Fuel used in this life when it was last told. */
  fuel = 0;
  /** Ends of isolates or processes that this run is held to account for; from the first on it is stepped alone. */
  strikes: number;
  /** Ends by a stranger's hand during a step of this run. */
  interruptions = 0;

  /** What it has asked and said; most runs begin with nothing of that, and many end so. */
  #log: RequestLog | null = null;
  #isKept = true;
  #length = 0;
  readonly #records: Records;

  constructor(request: RunRequest, records: Records) {
    this.request = request;
    this.strikes = request.alone ? 1 : 0;
    this.#records = records;
    this.#grow(request.argsJson.length + (request.namedJson?.length ?? 0) + (request.event ? lengthOf(request.event) : 0));
  }

  get isRepeatable(): boolean {
    return this.#isKept;
  }

  get isAlone(): boolean {
    return this.strikes > 0;
  }

  begin(isolate: Home, wireId: number): void {
    this.isolate = isolate;
    this.wireId = wireId;
    this.turn = 'isolate';
    this.cpuMs = 0;
    this.fuel = 0;
    if (this.#log) {
      this.#log.pending = null;
      this.#log.slices = 0;
    }
  }

  /**
   * The isolate asks for something.
   * @returns 'pass' when the caller must be asked; the item that answers it from the record; or null: wait, it was passed on before
   */
  asks(request: Request): 'pass' | string | null {
    const log = (this.#log ??= newRequestLog());
    const key = keyOf(request);
    const known = log.answers?.get(key);
    if (known) {
      this.turn = 'isolate';
      return itemOf(known, this.wireId);
    }
    this.turn = 'caller';
    log.pending = request;
    if (log.open !== null) return null;
    log.open = key;
    return 'pass';
  }

  /**
   * The caller answers the open request.
   * @returns the item to send if this life waits for just that; 'pass' when it waits for another request, which has to be passed on
   *   now; null when there is nothing to do in this life
   */
  answered(reply: Reply, at: number): { item: string } | { pass: Request } | null {
    const log = this.#log;
    const key = log?.open ?? null;
    if (log === null || key === null) return null;
    const answer = toRecorded(reply, at);
    log.open = null;
    if (this.#isKept) (log.answers ??= new Map()).set(key, answer);
    this.#grow(answer.json.length);
    const { pending } = log;
    if (this.isolate === null || pending === null) return null;
    if (keyOf(pending) !== key) {
      log.open = keyOf(pending);
      return { pass: pending };
    }
    log.pending = null;
    this.turn = 'isolate';
    return { item: itemOf(answer, this.wireId) };
  }

  get hasOpenRequest(): boolean {
    return this.#log !== null && this.#log.open !== null;
  }

  /** @returns whether this log entry is new */
  logs(k: number): boolean {
    const log = (this.#log ??= newRequestLog());
    if (k < log.logged) return false;
    log.logged = k + 1;
    return true;
  }

  /** The time to go on with after a slice: that of the first life, if there was one. */
  goesOn(now: number): number {
    this.turn = 'isolate';
    const log = (this.#log ??= newRequestLog());
    const at = log.turnTimes[log.slices] ?? now;
    log.turnTimes[log.slices] = at;
    log.slices += 1;
    return at;
  }

  /** Frees what is kept; the run can't be repeated from here on. */
  forgetRecord(): void {
    if (this.#log) this.#log.answers = null;
    this.#isKept = false;
    this.#records.held -= this.#length;
    this.#length = 0;
  }

  #grow(length: number): void {
    if (!this.#isKept) return;
    this.#length += length;
    this.#records.held += length;
    if (this.#length > MAX_RECORD_LENGTH || this.#records.held > this.#records.most) this.forgetRecord();
  }
}

const keyOf = (request: Request): string => `${request.site}#${request.nth}`;

function toRecorded(reply: Reply, at: number): RecordedAnswer {
  if ('ok' in reply) return { tag: 'ok', json: reply.ok, at };
  if ('list' in reply) return { tag: 'list', json: reply.list, at };
  return { tag: 'err', json: JSON.stringify(reply.error), at };
}

const itemOf = (answer: RecordedAnswer, wireId: number): string => `["${answer.tag}",${wireId},${answer.json},${answer.at}]`;
