// The door of subscriptions: clients listen on events without a rule (resources-and-api.md 8.4).

export { endWithRights, mayListenIn, presentIn, subscribe, unsubscribe } from './subscribe.ts';
export { Subscribers } from '../../runtime/events/index.ts';
