// The door of HTTP to the outside.
export { type HttpAnswer, type HttpAsk, HttpClient, HttpFailure } from './client.ts';
export { basic, headerPairs } from './headers.ts';
