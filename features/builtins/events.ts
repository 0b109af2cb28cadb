// Requests by service events (builtins.md 22): the caller waits for the reply of a rule that the event starts. Pending requests are kept in
// memory: a run that is replayed after a crash sends its request again. A run that restarts in this process gets the answers that it had.
import { committing } from '../../runtime/context/index.ts';
import { asError } from '../../platform/structures/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { toWireError } from '../../runtime/runs/index.ts';
import { publishServiceEvent } from '../services/index.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { outOfRange } from '../../resources/operations/index.ts';

interface Waiting {
  /** By event: takes the reply. */
  readonly replies: Map<string, (reply: Value) => void>;
  /** By run: ends its requests. Only what a run waits for is here. */
  readonly runs: Map<string, Set<() => void>>;
}
const waiting = new WeakMap<Namespace, Waiting>();

const waitingIn = (space: Namespace): Waiting => {
  const known = waiting.get(space) ?? { replies: new Map<string, (reply: Value) => void>(), runs: new Map<string, Set<() => void>>() };
  waiting.set(space, known);
  return known;
};

/** The run has ended, or must: it waits for no reply any more. */
export function releaseRequests(space: Namespace, run: string): void {
  for (const end of [...(waiting.get(space)?.runs.get(run) ?? [])]) end();
}

/** `<service>/<event>`, also as the path `/services/<service>/<event>`. */
const NAME = /^(?:\/services\/)?([^/]+)\/([^/]+)$/;

const request: HostBuiltin = async (space, [name = null, data = null, timeout = null, from = null], actor) => {
  const [, service, event] = NAME.exec(String(name)) ?? [];
  if (service === undefined || event === undefined) throw outOfRange('serviceEventName', name);
  if (timeout !== null && Number(timeout) < 0) throw outOfRange('timeout', timeout);
  const { replies, runs } = waitingIn(space);
  const run = actor.state?.run ?? '';
  const expired = () => langError('cascade.builtin.timeout', 'Event.request', timeout ?? 0);
  return new Promise<Answer>((resolve, reject) => {
    const asked: string[] = [];
    const own = runs.get(run) ?? new Set<() => void>();
    let isOver = false;
    const settle = (end: () => void): void => {
      isOver = true;
      timer?.cancel();
      for (const uuid of asked) replies.delete(uuid);
      own.delete(giveUp);
      if (own.size === 0 && runs.get(run) === own) runs.delete(run);
      end();
    };
    const giveUp = () => settle(() => reject(expired()));
    // An event that is published stays so: a restart gets the answer to it, and publishes no further one.
    const answered = (answer: Answer) => {
      actor.state?.keep(answer);
      resolve(answer);
    };
    const timer =
      timeout === null
        ? null
        : space.clock.at(space.clock.now() + Number(timeout), () => settle(() => answered({ error: toWireError(expired()) })));
    runs.set(run, own.add(giveUp));
    const listening = committing(actor, (unit) => {
      // Registered before the commit: the rule may reply before its result is known.
      for (const { uuid } of isOver ? [] : unit.events) {
        asked.push(uuid);
        replies.set(uuid, (reply) => settle(() => answered({ ok: encodeInner(reply) })));
      }
      return actor.commit(unit);
    });
    publishServiceEvent(space, service, event, data, listening, typeof from === 'string' ? from : null).then(
      () => asked.length === 0 && timeout === null && giveUp(), // no rule listens, so that no reply will come
      (error: unknown) => settle(() => reject(asError(error))),
    );
  });
};

export const events: HostBuiltins = {
  'Event.request': request,
  'Event.reply': (space, [response = null], actor) => {
    const uuid = actor.event?.event.uuid;
    const reply = uuid === undefined ? undefined : waitingIn(space).replies.get(uuid);
    reply?.(response);
    const answer = { ok: String(reply !== undefined) };
    actor.state?.keep(answer); // given again after a restart, it would tell that nobody waits
    return answer;
  },
};
