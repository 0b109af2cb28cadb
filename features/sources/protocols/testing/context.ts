// The context of a source, for tests of a protocol alone: delivered messages are collected in memory, and the test decides when they count
// as stored.
import { Egress } from '../../../../platform/egress/index.ts';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/api-errors.ts';
import type { Caller, Inbound, InboundValue, Outcome, SourceContext } from '../protocol.ts';

export interface TestContext extends SourceContext {
  readonly delivered: (Inbound | InboundValue)[];
  readonly losses: unknown[];
  /** Why messages were refused that the protocol could not read. */
  readonly refused: string[];
  /** Aborts the context's `signal`. */
  abort(): void;
  /** Aborts the context's `abandoned`. */
  abandon(): void;
}

/** A caller without documents. */
export const NOBODY: Caller = {
  readDocument: async (name) => Promise.reject(apiError('cascade.resource.not.found', `/documents/${name}`)),
  requireSavable: () => undefined,
  saveDocument: async () => undefined,
};

/**
 * The context of a test.
 * @param config the config of the source, with secrets
 * @param take decides the outcome of each message; by default it is stored at once
 */
export function contextOf(
  config: ObjectValue,
  {
    consumes = true,
    isReliable = false,
    take = async (): Promise<Outcome> => 'stored' as const,
    ...rest
  }: Partial<Pick<SourceContext, 'consumes' | 'isReliable' | 'room' | 'namespace' | 'source'>> & {
    take?: (message: Inbound | InboundValue) => Promise<Outcome>;
  } = {},
): TestContext {
  const [aborting, abandoning] = [new AbortController(), new AbortController()];
  const delivered: (Inbound | InboundValue)[] = [];
  const losses: unknown[] = [];
  const refused: string[] = [];
  const records = new Map<string, string>();
  const egress = new Egress({ allowed: ['127.0.0.0/8'] });
  return {
    namespace: 'main',
    source: 'feed',
    direction: 'BOTH',
    isReliable,
    config,
    openConfig: config,
    consumes,
    outlet: egress.outletOf('main'),
    tls: {},
    signal: aborting.signal,
    abandoned: abandoning.signal,
    now: () => Date.now(),
    deliver(message) {
      delivered.push(message);
      return take(message);
    },
    malformed: async (reason) => {
      refused.push(reason);
      return 'refused';
    },
    room: async () => undefined,
    lost: (error) => void losses.push(error),
    troubled: () => undefined,
    recovered: () => undefined,
    log: () => undefined,
    audit: () => undefined,
    keep: async (key, text) => void (text === null ? records.delete(key) : records.set(key, text)),
    kept: async (key) => records.get(key) ?? null,
    polledAt: async () => null,
    poll: (poll) => poll().then(() => true),
    creator: async () => NOBODY,
    other: async () => null,
    store: { put: async () => undefined, get: async () => null, remove: async () => undefined, all: async () => [] },
    delivered,
    losses,
    refused,
    abort: () => aborting.abort(),
    abandon: () => abandoning.abort(),
    ...rest,
  };
}
