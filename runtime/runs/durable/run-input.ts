// What the sandbox is told of a run: its program, its event or arguments, and how it runs. The same in each attempt.

import type { Identity } from '../../../identity/index.ts';
import type { RunRequest } from '../../../sandbox/index.ts';
import { eventObjectJson } from '../../events/index.ts';
import type { Executable } from '../../programs/index.ts';
import {
  attemptOf,
  type Completion,
  isRedelivered,
  readCompletion,
  type RunReference,
  type StoredEvent,
} from '../../transactions/index.ts';
import type { Given as Held } from '../decision.ts';
import type { RunLimits } from '../run-limits.ts';
import type { RunHost } from '../types.ts';
import { EventText } from './event-text.ts';
import { sharedOptions } from './shared-options.ts';

export type SandboxInput = Omit<RunRequest, 'id' | 'at' | 'seed' | 'observer'>;

export class RunInput {
  readonly #host: RunHost;
  readonly #event: StoredEvent;
  readonly #reference: RunReference;
  readonly #limits: RunLimits;
  /** EXECUTE ASYNC: the caller, once looked up. */
  #caller: Identity | null = null;

  constructor(host: RunHost, event: StoredEvent, reference: RunReference, limits: RunLimits) {
    this.#host = host;
    this.#event = event;
    this.#reference = reference;
    this.#limits = limits;
  }

  identityOf({ identity, procedure }: Executable): Identity {
    if (procedure === undefined) return identity;
    return (this.#caller ??= callerOf(this.#event, identity));
  }

  /** @param executable the version of the rule that runs */
  of(executable: Executable): SandboxInput {
    const { namespace } = this.#host;
    const completion = this.#reference.binds === 'arguments' ? readCompletion(this.#event.value) : null;
    const opts = sharedOptions(
      executable,
      {
        level: this.#host.logLevel(executable.resource),
        namespace,
        username: this.identityOf(executable).username,
        service: this.#host.serviceOf(this.#event, executable),
      },
      this.#limits,
    );
    const { cpuTimeMs } = this.#limits;
    return {
      namespace,
      ...this.#body(executable, completion),
      opts: completion
        ? { ...opts, eventArgs: completion.eventArgs }
        : executable.procedure
          ? { ...opts, ...statementOf(this.#event) }
          : opts,
      ...(cpuTimeMs !== undefined && { cpuTimeMs }),
    };
  }

  /** The values of its variables. */
  get held(): Held {
    const { binds } = this.#reference;
    if (binds === 'value') return { args: [this.#event.value], events: [] };
    if (binds === 'event') return { args: [this.#eventJson()], events: [0] };
    const { argsJson, eventArgs } = readCompletion(this.#event.value);
    return { args: (JSON.parse(argsJson) as unknown[]).map((arg) => JSON.stringify(arg)), events: eventArgs };
  }

  #body(
    { program, procedure }: Executable,
    completion: Completion | null,
  ): Pick<RunRequest, 'program' | 'procedure' | 'entry' | 'argsJson' | 'namedJson' | 'event'> {
    const event = this.#event;
    if (procedure !== undefined) return callOf(this.#host, procedure, event);
    if (completion) return { program, entry: completion.entry, argsJson: completion.argsJson };
    const binds = this.#reference.binds === 'value' ? 'value' : 'event';
    const key = binds === 'value' ? event.uuid : `${event.uuid}/${attemptOf(event)}${event.redelivered ? 'r' : ''}`;
    const json = (): string => (binds === 'value' ? event.value : this.#eventJson());
    return { program, argsJson: '[]', event: new EventText(key, binds, event, json) };
  }

  #eventJson(): string {
    const event = this.#event;
    const deliveryCount = attemptOf(event);
    const redelivered = isRedelivered(event);
    const { uuid, path, at, transport } = event;
    const facts = { uuid, path, atMs: at.getTime(), redelivered, deliveryCount, ...(transport && { transport }) };
    return eventObjectJson(facts, event.value, this.#host.namespace);
  }
}

/** The caller of EXECUTE ASYNC, with the profiles that limit the call; its event holds both. */
function callerOf({ by, value }: StoredEvent, { namespace }: Identity): Identity {
  const { profiles = [], restricted, lent, ofToken } = JSON.parse(value) as Partial<Identity>;
  const limits = { ...(restricted && { restricted }), ...(lent && { lent }) };
  return { username: by, namespace, profiles, ...limits, ...(ofToken !== undefined && { ofToken }) };
}

/** What the event of EXECUTE ASYNC holds. */
interface AsyncCall extends Pick<RunRequest['opts'], 'executed'> {
  readonly args: unknown[] | null;
  readonly named: Record<string, unknown> | null;
  readonly service?: string | null;
  readonly builtin?: true;
}

/** Where the statement EXECUTE ASYNC stood, and the partition that it names; nothing for other calls, which have no statement. */
function statementOf({ value }: StoredEvent): Partial<Pick<RunRequest['opts'], 'service' | 'executed'>> {
  const { service = null, executed, builtin } = JSON.parse(value) as AsyncCall;
  if (builtin) return { service };
  return executed ? { service, executed } : {};
}

/** The call of EXECUTE ASYNC with its arguments, which its event holds. */
function callOf(host: RunHost, name: string, event: StoredEvent): Pick<RunRequest, 'program' | 'procedure' | 'argsJson' | 'namedJson'> {
  const { args, named, builtin } = JSON.parse(event.value) as AsyncCall;
  if (!builtin) {
    const namedJson = named === null ? null : JSON.stringify(named);
    return { program: null, procedure: name, argsJson: JSON.stringify(args ?? []), namedJson };
  }
  const values = named ? Object.values(named) : (args ?? []);
  return {
    program: host.programFor({ builtin: name, args: values, discarded: true, ...(named && { named: Object.keys(named) }) }),
    argsJson: JSON.stringify(values),
  };
}
