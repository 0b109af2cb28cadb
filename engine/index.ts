// The door of engine/: the engine, and the types that the bindings need to use it.

export type { ApiReply, ApiRequest, Engine, Health, Identity, Notice, Operation, Subscription } from '../resources/api.ts';
export { readBuild } from '../platform/about/index.ts';
export { type Clock, systemClock, type Timer, VirtualClock } from '../platform/clock/index.ts';
export { openEngine, type EngineConfig } from './engine.ts';
