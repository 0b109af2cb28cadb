// The door of HTTP to the outside. The client, with its library, is loaded by the first that opens one.
import type { HttpClient } from './client.ts';
import type { HttpClientOptions } from './types.ts';

export type { HttpClient } from './client.ts';
export { type HttpAnswer, type HttpAsk, HttpFailure } from './types.ts';
export { basic, headerPairs } from './headers.ts';

export const openHttpClient = async (options: HttpClientOptions): Promise<HttpClient> =>
  new (await import('./client.ts')).HttpClient(options);
