// Takes inbound messages of a source (integrations.md 1.6): size, content type, unwinding, the rules of the pipeline, then one event for
// rules and subscribers.
import { randomUUID } from 'node:crypto';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import { DuplicateKey, type LogEntry, type StoredEvent, type UnitOfWork } from '../../runtime/transactions/index.ts';
import { eventObject, raise, type Raising, bindsOn, programIn } from '../../runtime/events/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { decided } from '../../resources/instances/index.ts';
import { creatorOf } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { serviceMessage } from '../diagnostics/index.ts';
import { ContentError, ContentTooLarge, decodeContent } from './content/index.ts';
import type { Inbound, InboundValue, Outcome } from './protocols/index.ts';
import { own } from './protocols/fields.ts';
import { isActive, pipelineOf, unresolvedRule } from './state.ts';
import { sourcesOf } from './namespace-state.ts';

export const sourcePath = (name: string): string => `/sources/${name}/publish`;

type Transport = NonNullable<Raising['transport']>;

/** A source with so many messages without an outcome, or so many bytes of them, reads no more from its transport. */
const MOST_WAITING = 1_000;
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
const DEFAULT_SIZE = 1_048_576;
/** The log shows so many bytes of a malformed message. */
const SHOWN_BYTES = 256;
const FULL_RETRY_MS = 10;

/**
 * Handles one message as if the source had received it, and raises its event, or one per element where the source unwinds arrays.
 * @throws cascade.source.direction, .inactive; cascade.source.pipeline.unresolved; cascade.source.pipeline.failed of a reliable source: the
 *   sender delivers the message again
 */
export async function receive(space: Namespace, source: ObjectValue, message: Value, transport: Transport, actor: Actor): Promise<void> {
  const name = String(own(source, 'name'));
  if (own(source, 'direction') === 'SINK') throw apiError('cascade.source.direction', name, 'it only sends');
  if (!isActive(source)) throw apiError('cascade.source.inactive', name, 'it is not active');
  requireResolved(space, source);
  sourcesOf(space).counts.add(name, 'received', space.clock.now());
  await actor.commit({ writes: [], events: await eventsOf(space, source, message, transport, actor) }, { ok: 'null' });
}

/** Failures that are counted and logged already. */
const NOTED = new WeakSet<Error>();
export const isNoted = (error: unknown): boolean => error instanceof Error && NOTED.has(error);

/** Takes the messages of a source's connection in order, and no faster than the store commits them. */
export class Inbox {
  readonly #space: Namespace;
  readonly #source: ObjectValue;
  readonly #name: string;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;
  readonly #wakes: (() => void)[] = [];

  constructor(space: Namespace, source: ObjectValue) {
    this.#space = space;
    this.#source = source;
    this.#name = String(own(source, 'name'));
  }

  /** Resolves when fewer than a thousand messages, and less than 16 MiB of them, have no outcome. */
  room(): Promise<void> {
    return this.#hasRoom() ? Promise.resolve() : new Promise((resolve) => this.#wakes.push(resolve));
  }

  /** See SourceContext.deliver. */
  async deliver(message: Inbound | InboundValue): Promise<Outcome> {
    const bytes = 'payload' in message ? message.payload.byteLength : 0;
    this.#waiting++;
    this.#waitingBytes += bytes;
    const taken = this.#tail.then(() => this.#take(message));
    this.#tail = taken.catch(() => undefined);
    try {
      return await (await taken).outcome;
    } catch (error) {
      void this.#noteFailure(error).catch(() => undefined); // the store may be gone, for which the message failed
      throw this.#forSender(error);
    } finally {
      this.#waiting--;
      this.#waitingBytes -= bytes;
      if (this.#hasRoom()) for (const wake of this.#wakes.splice(0)) wake();
    }
  }

  /** See SourceContext.malformed. */
  async malformed(reason: string): Promise<Outcome> {
    sourcesOf(this.#space).counts.add(this.#name, 'received', this.#space.clock.now());
    await this.#drop(apiError('cascade.source.message.malformed', this.#name, reason));
    return 'refused';
  }

  /** Not every sender is told that a message failed, and some send it again and again. */
  async #noteFailure(error: unknown): Promise<void> {
    const { code, message } = error instanceof CascadeError ? error : apiError('cascade.server.unavailable');
    if (code === 'cascade.source.pipeline.failed') return; // noted where it failed
    sourcesOf(this.#space).counts.add(this.#name, 'failed', this.#space.clock.now());
    await logOnce(this.#space, this.#name, code, message);
  }

  /** For whom the source acts, and what programs of its pipeline say, is in the logs, and not for who sends. */
  #forSender(error: unknown): unknown {
    const isOurs = error instanceof CascadeError && (error.status === 403 || error.code === 'cascade.source.pipeline.failed');
    const shown = isOurs ? apiError('cascade.source.unavailable', this.#name, 'it cannot take messages now') : error;
    if (shown instanceof Error) NOTED.add(shown);
    return shown;
  }

  #hasRoom(): boolean {
    return this.#waiting < MOST_WAITING && this.#waitingBytes < MOST_WAITING_BYTES;
  }

  /** Resolves when each message has its outcome. */
  async settled(): Promise<void> {
    while (this.#waiting > 0) await this.#tail.then(() => new Promise((resolve) => setImmediate(resolve)));
  }

  /** Handles a message up to its commit, which the next messages do not wait for: the committer keeps the order of submission. */
  async #take(message: Inbound | InboundValue): Promise<{ outcome: Promise<Outcome> }> {
    await this.#paced();
    const { counts } = sourcesOf(this.#space);
    counts.add(this.#name, 'received', this.#space.clock.now());
    const value = 'value' in message ? message.value : await this.#decoded(message);
    if (value === undefined) return { outcome: Promise.resolve('refused') };
    const transport: Transport = { topic: message.topic ?? null, properties: encodeInner(message.properties ?? {}) };
    const identity = await creatorOf(this.#space, this.#source);
    const actor: Actor = { ...serviceActor(this.#space), identity };
    const events = await eventsOf(this.#space, this.#source, value, transport, actor);
    const { onceKey } = message;
    if (onceKey === undefined && events.length === 0) return { outcome: Promise.resolve('stored') };
    const unit = async (): Promise<UnitOfWork> => ({
      writes: onceKey === undefined ? [] : [await sourcesOf(this.#space).records.keyWrite(this.#name, onceKey, this.#space.clock.now())],
      events,
    });
    const first = await unit();
    while (this.#space.transactions.refusal(first)) await new Promise((resolve) => setTimeout(resolve, FULL_RETRY_MS));
    return { outcome: this.#stored(first, unit, onceKey) };
  }

  /** Waits for the organization's quota. Later messages wait in order, or at the sender where the protocol supports flow control. */
  async #paced(): Promise<void> {
    const { quotas } = this.#space.installation;
    for (;;) {
      const waitMs = (await quotas.of(this.#space.name))?.messageWaitMs() ?? 0;
      if (waitMs === 0) return;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  async #stored(first: UnitOfWork, unit: () => Promise<UnitOfWork>, onceKey: string | undefined): Promise<Outcome> {
    for (let next = first; ; next = await unit())
      try {
        await this.#space.transactions.submit(next, true);
        return 'stored';
      } catch (error) {
        if (!(error instanceof DuplicateKey) || onceKey === undefined) throw error;
        if (await sourcesOf(this.#space).records.countsStill(this.#name, onceKey, this.#space.clock.now())) return 'repeated';
      }
  }

  /** The decoded value; undefined where the message was dropped and the reason logged. */
  async #decoded({ payload, contentType }: Inbound): Promise<Value | undefined> {
    const config = own(this.#source, 'config') as ObjectValue;
    const most = Number(own(config, 'maxMessageSize') ?? DEFAULT_SIZE);
    if (payload.byteLength > most) {
      await this.#drop(
        apiError('cascade.source.message.too.large', this.#name, `a message of ${payload.byteLength} bytes; ${most} are allowed`),
      );
      return undefined;
    }
    try {
      return await decodeContent(this.#space.name, contentType, payload);
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      if (error instanceof ContentTooLarge) {
        await this.#drop(apiError('cascade.source.message.too.large', this.#name, `a message of ${error.message}`));
        return undefined;
      }
      const shown = Buffer.from(payload.subarray(0, SHOWN_BYTES)).toString('utf8');
      await this.#drop(apiError('cascade.source.message.malformed', this.#name, `${error.message}; it begins: ${shown}`));
      return undefined;
    }
  }

  async #drop(why: CascadeError): Promise<void> {
    sourcesOf(this.#space).counts.add(this.#name, 'dropped', this.#space.clock.now());
    await logOnce(this.#space, this.#name, why.code, why.message, ''); // the message tells of what came, which differs each time
  }
}

/**
 * The events of a message; none where a rule of the pipeline drops it, or nothing listens on the path. One that is unwound is received once, and
 * so dropped once at most, however many of its elements are.
 */
async function eventsOf(space: Namespace, source: ObjectValue, message: Value, transport: Transport, actor: Actor): Promise<StoredEvent[]> {
  const name = String(own(source, 'name'));
  const path = sourcePath(name);
  const events = [];
  let hasDropped = false;
  for (const one of own(source, 'autoUnwind') === true && Array.isArray(message) ? message : [message]) {
    const value = await throughPipeline(space, source, one, transport, actor);
    if (value === undefined) hasDropped = true;
    else events.push(...raise(space, path, value, actor, { except: new Set(pipelineOf(source)), transport }));
  }
  if (hasDropped) sourcesOf(space).counts.add(name, 'dropped', space.clock.now());
  return events;
}

/**
 * What is under way while a rule of the pipeline is deleted does not pass for want of it.
 * @throws cascade.source.pipeline.unresolved
 */
function requireResolved(space: Namespace, source: ObjectValue): void {
  if (unresolvedRule(space, source) !== null)
    throw apiError('cascade.source.pipeline.unresolved', String(own(source, 'name')), 'a rule of its pipeline is not there');
}

/** The message after the rules of the pipeline; undefined where one of them drops it. */
async function throughPipeline(
  space: Namespace,
  source: ObjectValue,
  message: Value,
  transport: Transport,
  actor: Actor,
): Promise<Value | undefined> {
  const name = String(own(source, 'name'));
  const path = sourcePath(name);
  let current = message;
  for (const ruleName of pipelineOf(source)) {
    const facts = { uuid: randomUUID(), path, atMs: space.clock.now(), transport };
    const event = (): ObjectValue => eventObject(facts, current, space.name);
    const chosen = space.events.when.match(path, current, event, actor.identity.username).find(({ rule }) => rule.name === ruleName);
    if (!chosen) {
      requireResolved(space, source);
      continue; // the rule's WHERE is false: the message passes unchanged
    }
    const binds = bindsOn(chosen.rule, path);
    const taken = binds === 'event' ? event() : current;
    const executable = chosen.asks ? await decided(space, chosen, path, taken, actor, binds) : programIn(chosen.rule).executable;
    if (!executable) continue;
    try {
      const json = await runDirect(space.execution.runs, {
        executable,
        body: { program: executable.program },
        argsJson: encodeInner([taken]),
        identity: executable.identity,
        caller: actor,
        snapshot: 'always',
      });
      current = decodeInner(json);
    } catch (error) {
      const detail = `the rule ${ruleName} of the pipeline failed: ${error instanceof Error ? error.message : String(error)}`;
      const failed = apiError('cascade.source.pipeline.failed', name, detail);
      sourcesOf(space).counts.add(name, 'failed', space.clock.now());
      await logOnce(space, name, failed.code, failed.message);
      if (own(source, 'isReliable') === true) throw failed;
      return undefined;
    }
    if (current === null) return undefined;
  }
  return current;
}

/**
 * Writes an error to the logs of the namespace, at most once a minute for the same error.
 * @param same what makes two errors of a code the same
 */
export async function logOnce(space: Namespace, source: string, code: string, message: string, same = message): Promise<void> {
  const line = sourcesOf(space).counts.lineOf(source, code, message, same, space.clock.now());
  if (line !== null) await logLine(space, source, 'ERROR', line);
}

/** Writes an entry to the logs of the namespace, with the source's name as its invocation id (integrations.md 1.8). */
export const logLine = (space: Namespace, source: string, level: 'WARN' | 'ERROR', message: string): Promise<void> =>
  space.transactions.submit({ writes: [], events: [], logs: [logOf(space, source, level, message)] }, true);

/** A log entry for a caller that commits it in a unit of its own. */
export const logOf = (space: Namespace, source: string, level: 'WARN' | 'ERROR', message: string): LogEntry =>
  serviceMessage(space, { level, message, resource: { resource: 'sources', resourceId: source } });
