// The door of the runtime: the engine, and what the bindings need to speak with it.

export type { ApiReply, ApiRequest, Engine, Health, Identity, Notice, Operation, Subscription } from './api.ts';
export { openEngine, type EngineConfig } from './engine.ts';
