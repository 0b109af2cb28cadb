// The door of the deliveries: events of reliable resources until they are acknowledged, and persistent subscriptions.
export { Deliveries, type DeliveriesOptions } from './deliveries.ts';
export { DELIVERIES } from './stored-delivery.ts';
