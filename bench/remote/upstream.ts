// The HTTP service that the contestants ask and tell: what a query gets, what a poll brings, and when what a poll brought came back.
import { createServer } from 'node:http';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** From now on polls of `<name>/…` bring something; those of the others are answered with 304. */
  turnOf(name: string): Turn;
}

export interface Turn {
  /** Microseconds from the answer to a poll until what was made of it is here. */
  readonly late: RecordableHistogram;
  /** How many polls brought something. */
  brought: number;
  /** How many of these came back. */
  back: number;
}

const READING = { station: 'harbour', level: 3.75, unit: 'm', at: '2026-01-01T00:00:00Z' };

/**
 * - `GET /value`: a small document.
 * - `GET /poll/<name>/<i>`: a document with a number, `n`; 304 while another has its turn.
 * - `PUT /taken/<n>`: it came back.
 */
export function openUpstream(): Promise<Upstream> {
  let next = 0;
  let current: { name: string; turn: Turn } | null = null;
  const sentAt = new Map<string, number>();
  const server = createServer((request, response) => {
    const [, what, name = ''] = (request.url ?? '').split('/');
    const json = (value: object): void => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(value));
    };
    if (what === 'taken') {
      const at = sentAt.get(name);
      if (at !== undefined && current) {
        current.turn.late.record(Math.max(1, Math.round((performance.now() - at) * 1_000)));
        current.turn.back++;
        sentAt.delete(name);
      }
      request.resume();
      response.statusCode = 204;
      response.end();
    } else if (what === 'poll' && current?.name === name) {
      current.turn.brought++;
      sentAt.set(String(next), performance.now());
      json({ n: next++, ...READING });
    } else if (what === 'poll') {
      response.statusCode = 304;
      response.end();
    } else json(READING);
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      resolve({
        url: `http://127.0.0.1:${port}`,
        turnOf(name) {
          const turn = { late: createHistogram(), brought: 0, back: 0 };
          sentAt.clear();
          current = { name, turn };
          return turn;
        },
        async [Symbol.asyncDispose]() {
          server.closeAllConnections();
          await new Promise((done) => server.close(done));
        },
      });
    });
  });
}
