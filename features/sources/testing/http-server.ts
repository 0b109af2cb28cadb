// An HTTP server for tests: it records requests, and answers as the test decides.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure, type ServerOptions } from 'node:https';
import { listening } from './listening.ts';

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** All requests so far. */
  readonly sent: Sent[];
}

export type Answer = (sent: Sent, response: ServerResponse) => void;

export const answerJson = (response: ServerResponse, value: unknown, status = 200, headers: Record<string, string | string[]> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

export async function openHttpServer(answer: Answer, tls?: ServerOptions): Promise<HttpServer> {
  const sent: Sent[] = [];
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      sent.push(one);
      answer(one, response);
    });
  };
  const server = tls ? createSecure(tls, take) : createServer(take);
  const { port, close } = await listening(server);
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, port, sent, [Symbol.asyncDispose]: close };
}
