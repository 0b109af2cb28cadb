// How a journal row stands in the store. A tick holds up to a thousand events, and what most of them have in common (the path, who caused it, the
// rules with their programs) is most of what there is to say of one: it stands once, and each event is a single text. Ends of runs are one text.

import type { RowId, RunId, Step, StoredEvent, JournalRow } from './types.ts';

/** What events that follow each other have in common. */
interface Head extends Omit<StoredEvent, 'uuid' | 'at' | 'value' | 'chain' | 'deliveries'> {
  readonly chain: Omit<StoredEvent['chain'], 'root'>;
}

export interface StoredRow extends Pick<JournalRow, 'order' | 'low' | 'closed' | 'closedAt'> {
  readonly _id: RowId;
  readonly heads: readonly Head[];
  /** Each in lines: uuid, the number of its head, its time in milliseconds, the root of its chain if it is another event, its value if the row holds it. */
  readonly events: readonly string[];
  readonly steps: readonly Step[];
  /** One text with a run a line; none: no run has ended. */
  readonly done: readonly string[];
}

/** Stands in no uuid, name or number. */
const LINE = '\n';

/** A row that holds nothing any more, but keeps its place. */
export const EMPTY: Pick<StoredRow, 'heads' | 'events' | 'steps' | 'done'> = { heads: [], events: [], steps: [], done: [] };

/** @param row whose events have null for values that stand beside it */
export function storedRow({ _id, order, events, steps, done }: JournalRow): StoredRow {
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
  return { _id, order, heads, events: texts, steps, done: done.length > 0 ? [done.join(LINE)] : [] };
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

/** A condition that the rows with these events meet. */
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

/** Whether two events differ in nothing but what their texts say: told of the usual ones only, which is enough. */
function haveOneHead(a: StoredEvent, b: StoredEvent): boolean {
  if (a.path !== b.path || a.by !== b.by || a.chain.depth !== b.chain.depth) return false;
  if (a.chain.via !== b.chain.via || a.chain.hop !== b.chain.hop) return false;
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
