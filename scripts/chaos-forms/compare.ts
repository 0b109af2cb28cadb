// What must be true after `npm run chaos:forms`: each form has one answer, and its rule has got that one, once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../../conformance/client/index.ts';
import type { Acknowledged } from './answers.ts';

const PAGE = 1_000;
const POLL_MS = 500;

export interface Faults {
  /** Forms whose rule has got no answer. */
  readonly lost: readonly number[];
  /** Forms whose rule has got more than one. */
  readonly doubled: readonly number[];
  /** Forms of which more than one answer was acknowledged, or another one than was published or noted. */
  readonly differing: readonly number[];
  /** Forms that are still open though their answer was sent. */
  readonly open: readonly number[];
}

interface Answered {
  readonly k: number;
  readonly by: number;
  readonly n: number;
}

interface Message {
  readonly _id: string;
  readonly pendingUsers: readonly string[];
  readonly recipients: readonly { readonly status: string; readonly submitValue?: number }[];
}

/** Waits until every rule has got its answer, at most that long. */
export async function compare(
  client: RestClient,
  forms: readonly string[],
  acknowledged: Acknowledged,
  settleMs: number,
): Promise<{ faults: Faults; published: number }> {
  let rows = await all<Answered>(client, 'Answered');
  const isWhole = (): boolean => new Set(rows.map(({ k }) => k)).size === forms.length;
  for (const until = Date.now() + settleMs; Date.now() < until && !isWhole(); rows = await all<Answered>(client, 'Answered'))
    await sleep(POLL_MS);
  const messages = new Map((await all<Message>(client, 'ArsPayloadMessage')).map((message) => [message._id, message]));
  const got = Map.groupBy(rows, ({ k }) => k);
  const places = forms.map((_, k) => k);
  const isOpen = (k: number): boolean => {
    const message = messages.get(forms[k] ?? '');
    return message?.recipients[0]?.status !== 'submitted' || message.pendingUsers.length > 0;
  };
  const isDiffering = (k: number): boolean => {
    const noted = messages.get(forms[k] ?? '')?.recipients[0]?.submitValue;
    const buttons = acknowledged[k] ?? [];
    return buttons.length > 1 || buttons.some((by) => by !== noted) || (got.get(k) ?? []).some(({ by, n }) => by !== noted || n !== k);
  };
  const faults = {
    lost: places.filter((k) => !got.has(k)),
    doubled: places.filter((k) => (got.get(k)?.length ?? 0) > 1),
    differing: places.filter(isDiffering),
    open: places.filter(isOpen),
  };
  return { faults, published: rows.length };
}

async function all<Row>(client: RestClient, type: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1, length = PAGE; length === PAGE; page++) {
    const query = { sort: '{"_id":1}', limit: String(PAGE), page: String(page) };
    const reply = await client.send('GET', `/custom/${type}`, { query });
    if (reply.status !== 200) throw new Error(`${type}: ${reply.status} ${reply.text}`);
    const more = JSON.parse(reply.text) as Row[];
    rows.push(...more);
    length = more.length;
  }
  return rows;
}
