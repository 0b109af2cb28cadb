// The stored form of a journal row. A batch has up to a thousand events, which mostly share path, user, rules and programs: a head with
// these is stored once, and each event is one text. Completion marks are one text.

import type { RowId, RunId, Step, StoredEvent, JournalRow } from './types.ts';

/** What consecutive events have in common. */
interface Head extends Omit<StoredEvent, 'uuid' | 'at' | 'value' | 'chain' | 'deliveries'> {
  readonly chain: Omit<StoredEvent['chain'], 'root'>;
}

export interface StoredRow extends Pick<JournalRow, 'order' | 'idSecond' | 'low' | 'closed' | 'closedAt'> {
  readonly _id: RowId;
  readonly heads: readonly Head[];
  /** Lines of each: uuid, number of its head, time in milliseconds, root of its chain unless itself, its value unless it overflows. */
  readonly events: readonly string[];
  readonly steps: readonly Step[];
  /** One text with a run a line; empty: no run has ended. */
  readonly done: readonly string[];
}

/** Stands in no uuid, name or number. */
const LINE = '\n';

/** An emptied row, which keeps its place. */
export const EMPTY: Pick<StoredRow, 'heads' | 'events' | 'steps' | 'done'> = { heads: [], events: [], steps: [], done: [] };

/** @param row its events have null in place of values that overflow */
export function storedRow({ _id, order, events, steps, done, idSecond }: JournalRow): StoredRow {
  const heads: Head[] = [];
  const texts: string[] = [];
  let last: StoredEvent | undefined;
  for (const event of events) {
    if (!last || !haveOneHead(last, event)) heads.push(headOf(event));
    last = event;
    const { uuid, at, chain, value } = event;
    const root = chain.root === uuid ? '' : chain.root;
    const text = `${uuid}${LINE}${heads.length - 1}${LINE}${at.getTime()}${LINE}${root}`;
    texts.push(value === null ? text : text + LINE + value);
  }
  return { _id, order, heads, events: texts, steps, done: done.length > 0 ? [done.join(LINE)] : [], ...(idSecond && { idSecond }) };
}

export function rowOf({ _id, order, heads, events, steps, done }: StoredRow): JournalRow {
  return {
    _id,
    order,
    events: events.map((text) => eventOf(text, heads)),
    steps,
    done: runsIn(done),
  };
}

export const runsIn = (done: StoredRow['done']): RunId[] => done.flatMap((runs) => runs.split(LINE));

/** A condition for rows that hold one of these events. */
export const holdsEvents = (uuids: readonly string[]) => ({ events: { $regex: `^(?:${uuids.map(quoted).join('|')})${LINE}` } });

const quoted = (text: string): string => text.replace(/[^\w-]/g, '\\$&');

function headOf({
  uuid: _,
  at: _at,
  value: _value,
  chain: { root: _root, ...chain },
  deliveries: _deliveries,
  ...head
}: StoredEvent): Head {
  return { ...head, chain };
}

function eventOf(text: string, heads: readonly Head[]): StoredEvent {
  const parts: string[] = [];
  let from = 0;
  for (let end = text.indexOf(LINE); parts.length < 4 && end >= 0; end = text.indexOf(LINE, from)) {
    parts.push(text.slice(from, end));
    from = end + 1;
  }
  const [uuid = '', head, at, root = text.slice(from)] = parts;
  const common = heads[Number(head)];
  if (!common) throw new Error(`a journal row lacks the head ${head} of the event ${uuid}`);
  const value = parts.length < 4 ? (null as never) : text.slice(from);
  return { ...common, uuid, value, at: new Date(Number(at)), chain: { root: root === '' ? uuid : root, ...common.chain } };
}

/** Whether two events share a head. Only the usual members are compared, which is enough. */
function haveOneHead(a: StoredEvent, b: StoredEvent): boolean {
  if (a.path !== b.path || a.by !== b.by || a.chain.depth !== b.chain.depth) return false;
  if (a.chain.via !== b.chain.via || a.chain.hop !== b.chain.hop || a.chain.ends !== b.chain.ends) return false;
  if (isUnusual(a) || isUnusual(b) || a.runs.length !== b.runs.length) return false;
  for (const [index, one] of a.runs.entries()) {
    const other = b.runs[index];
    if (one.rule !== other?.rule || one.program !== other.program || one.binds !== other.binds) return false;
    if (one.places || one.asks || other.places || other.asks) return false;
  }
  return true;
}

const isUnusual = ({ attempt, sequence, redelivered, order, transport }: StoredEvent): boolean =>
  attempt !== undefined || sequence !== undefined || redelivered !== undefined || order !== undefined || transport !== undefined;
