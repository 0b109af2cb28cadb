// What a rule may say of the event that it runs for (builtins.md 22). Without reliable events nothing waits for an acknowledgement
// and nothing is delivered twice.
import type { Declaration } from './declaration.ts';

export const events: readonly Declaration[] = [
  {
    call: 'Event.ack() => null',
    forms: 'S',
    about: 'Acknowledges the event of a reliable source or topic.',
    effect: 'suspends',
  },
  {
    call: 'Event.isRedelivered() => Boolean',
    forms: 'S',
    about: 'Whether the event was delivered before.',
    effect: 'suspends',
  },
  {
    call: 'Event.reply(response: any|null) => Boolean',
    forms: 'S',
    about: 'Answers an event that came from a request; whether it did.',
    effect: 'suspends',
  },
  {
    call: 'Event.request(serviceEventName: String, data: any|null, timeout?: Integer) => any',
    forms: 'S',
    about: 'Publishes an event of a service and waits for the reply of a rule, for so many milliseconds at most.',
    errors: ['cascade.lang.range', 'cascade.builtin.timeout', 'cascade.service.event.direction', 'cascade.resource.not.found'],
    effect: 'suspends',
  },
];
