// The door of sources (integrations.md 1): what their definitions must be like, what arrives at them, what is sent to them and asked of them.
export { receive } from './inbound.ts';
export { checkConfig, DIRECTIONS, type Direction, SOURCE_KINDS } from './kinds.ts';
export { publishToSource, querySource, sourceNamed } from './outbound.ts';
export { isSecret, sealed, splitConfig, wholeConfig } from './secrets.ts';
export { own, SourceCounts, sourcesUp, stateOf, statusOfSource } from './state.ts';
