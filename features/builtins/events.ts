// Requests by service events (builtins.md 22): the caller waits for the reply of a rule that the event starts. Pending requests are kept in
// memory: a run that is replayed after a crash sends its request again.
import { committing } from '../../runtime/context/index.ts';
import { asError } from '../../platform/structures/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { publishServiceEvent } from '../services/index.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { outOfRange } from '../../resources/operations/index.ts';

/** Callers that wait for a reply, by namespace and event. */
const waiting = new WeakMap<Namespace, Map<string, (reply: Value) => void>>();

const waitingIn = (space: Namespace): Map<string, (reply: Value) => void> => {
  const known = waiting.get(space) ?? new Map<string, (reply: Value) => void>();
  waiting.set(space, known);
  return known;
};

/** `<service>/<event>`, also as the path `/services/<service>/<event>`. */
const NAME = /^(?:\/services\/)?([^/]+)\/([^/]+)$/;

const request: HostBuiltin = async (space, [name = null, data = null, timeout = null], actor) => {
  const [, service, event] = NAME.exec(String(name)) ?? [];
  if (service === undefined || event === undefined) throw outOfRange('serviceEventName', name);
  if (timeout !== null && Number(timeout) < 0) throw outOfRange('timeout', timeout);
  const replies = waitingIn(space);
  const expired = () => langError('cascade.builtin.timeout', 'Event.request', timeout ?? 0);
  return new Promise<Answer>((resolve, reject) => {
    const asked: string[] = [];
    const timer = timeout === null ? null : space.clock.at(space.clock.now() + Number(timeout), () => settle(() => reject(expired())));
    const settle = (end: () => void): void => {
      timer?.cancel();
      for (const uuid of asked) replies.delete(uuid);
      end();
    };
    const listening = committing(actor, (unit) => {
      // Registered before the commit: the rule may reply before its result is known.
      for (const { uuid } of unit.events) {
        asked.push(uuid);
        replies.set(uuid, (reply) => settle(() => resolve({ ok: encodeInner(reply) })));
      }
      return actor.commit(unit);
    });
    publishServiceEvent(space, service, event, data, listening).then(
      () => asked.length === 0 && timeout === null && settle(() => reject(expired())), // no rule listens, so that no reply will come
      (error: unknown) => settle(() => reject(asError(error))),
    );
  });
};

export const events: HostBuiltins = {
  'Event.request': request,
  'Event.reply': (space, [response = null], actor) => {
    const uuid = actor.event?.event.uuid;
    const answered = uuid === undefined ? undefined : waitingIn(space).get(uuid);
    answered?.(response);
    return { ok: String(answered !== undefined) };
  },
};
