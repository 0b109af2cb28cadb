// The door of delivery: events of reliable resources, persistent subscriptions and dead letters.
export { Deliveries, type DeliveriesOptions } from './deliveries.ts';
export { isTooLong } from './filters.ts';
export { wrongRedelivery, redeliveryOf } from './reliability.ts';
export { DELIVERIES } from './stored-delivery.ts';
export { type DeadReason, deadLetter, keptIn, trimDeliveryRecords } from './dead-letters.ts';
export { DEAD_LETTERS } from './delivery-types.ts';
export { delivery } from './feature.ts';
export { DELIVERIES_STATE, deliveriesOf } from './namespace-state.ts';
