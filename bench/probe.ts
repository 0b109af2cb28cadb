// One request at a time at even intervals, from a thread of its own: what the load's thread does meanwhile is not counted. A latency counts from
// when the request was to be sent, so that a stall is felt by all that would have come meanwhile.

import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { HTTP } from './load.ts';

const EVERY_MS = 10;

export interface Probe {
  readonly url: string;
  /** As it is written to the socket. */
  readonly request: string;
  readonly seconds: number;
}

/** The 99th percentile in milliseconds of single requests. */
export async function probe(one: Probe): Promise<number> {
  const [p99] = (await once(new Worker(new URL(import.meta.url), { workerData: one }), 'message')) as [number];
  return p99;
}

async function measure({ url, request, seconds }: Probe): Promise<number> {
  const latencies = createHistogram();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  await once(socket, 'connect');
  const begun = performance.now();
  const count = Math.ceil((seconds * 1_000) / EVERY_MS);
  for (let n = 0; n < count; n++) {
    const due = begun + n * EVERY_MS;
    while (performance.now() < due) await sleep(Math.max(1, due - performance.now()));
    socket.write(request);
    let answer = Buffer.alloc(0);
    while (HTTP.answerEnd(answer) === 0) answer = Buffer.concat([answer, ((await once(socket, 'data')) as [Buffer])[0]]);
    latencies.record(Math.max(1, Math.round((performance.now() - due) * 1_000)));
  }
  socket.destroy();
  return latencies.percentile(99) / 1_000;
}

if (!isMainThread) parentPort?.postMessage(await measure(workerData as Probe));
