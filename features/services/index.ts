// The door of services.
export { services } from './feature.ts';
export { ImplementedEvents } from './implemented-events.ts';
export { IMPLEMENTED_EVENTS } from './namespace-state.ts';
export { publishServiceEvent, serviceHandledBy } from './service-events.ts';
export { openState, servicesWithState, stateChanged, stateNamesOf } from './service-state.ts';
export { SERVICES } from './services-kind.ts';
