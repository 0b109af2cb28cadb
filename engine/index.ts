// The door of the runtime: the engine, and what the bindings need to speak with it.

export type { ApiReply, ApiRequest, Engine, Health, Identity, Notice, Operation, Subscription } from '../resources/api.ts';
export { readBuild } from '../platform/about/index.ts';
export { type Clock, systemClock, type Timer, VirtualClock } from '../platform/clock/index.ts';
export { openEngine, type EngineConfig } from './engine.ts';
