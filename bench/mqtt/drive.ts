// Messages to a contestant and back, through the broker that all share: as many as go, or so many a second whatever becomes of them.
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MqttClient } from 'mqtt';

export interface Route {
  readonly client: MqttClient;
  readonly inTopic: string;
  readonly outTopic: string;
  readonly qos: 0 | 1;
}

const SETTLE_MS = 10_000;
const WINDOW = 500;

interface Back {
  /** Messages that came back, each once. */
  readonly seen: Set<number>;
  readonly stop: () => void;
}

async function listen({ client, outTopic, qos }: Route, arrived: (n: number) => void): Promise<Back> {
  const seen = new Set<number>();
  const take = (topic: string, payload: Buffer): void => {
    if (topic !== outTopic) return;
    const { n } = JSON.parse(payload.toString()) as { n: number };
    if (seen.has(n)) return;
    seen.add(n);
    arrived(n);
  };
  client.on('message', take);
  await client.subscribeAsync(outTopic, { qos });
  return { seen, stop: () => void client.off('message', take) };
}

/** Until the contestant answers. */
export async function ready(route: Route): Promise<void> {
  let isThere = false;
  const back = await listen(route, () => (isThere = true));
  for (let n = -1; !isThere; n--) {
    if (n < -300) throw new Error(`nothing comes from ${route.outTopic}`);
    await route.client.publishAsync(route.inTopic, JSON.stringify({ n, at: 0 }), { qos: 1 });
    await sleep(100);
  }
  await sleep(300); // the rest of these
  back.stop();
}

/** Messages a second with so many under way. */
export async function throughput(route: Route, seconds: number): Promise<number> {
  let [next, under] = [0, 0];
  let isOver = false;
  const send = (): void => {
    while (!isOver && under < WINDOW) {
      under++;
      route.client.publish(route.inTopic, JSON.stringify({ n: next++, at: 0 }), { qos: route.qos });
    }
  };
  const back = await listen(route, () => {
    under--;
    send();
  });
  const begun = performance.now();
  send();
  await sleep(seconds * 1_000);
  isOver = true;
  const [count, passed] = [back.seen.size, performance.now() - begun];
  for (const until = performance.now() + SETTLE_MS; back.seen.size < next && performance.now() < until; ) await sleep(20);
  back.stop();
  if (back.seen.size < next && route.qos > 0)
    throw new Error(`${next - back.seen.size} messages of ${next} did not come back on ${route.outTopic}`);
  return (count / passed) * 1_000;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Milliseconds from when a message should have been sent until it is back, at a steady rate. */
export async function latency(route: Route, seconds: number, rate: number): Promise<Latency> {
  const histogram = createHistogram();
  const due: number[] = [];
  const back = await listen(route, (n) => histogram.record(Math.max(1, Math.round((performance.now() - (due[n] ?? 0)) * 1_000))));
  const begun = performance.now();
  const total = Math.round(seconds * rate);
  for (let n = 0; n < total; ) {
    const at = begun + (n * 1_000) / rate;
    if (performance.now() < at) {
      await sleep(1);
      continue;
    }
    due[n] = at;
    route.client.publish(route.inTopic, JSON.stringify({ n: n++, at }), { qos: route.qos });
  }
  for (const until = performance.now() + SETTLE_MS; back.seen.size < total && performance.now() < until; ) await sleep(20);
  back.stop();
  if (back.seen.size < total && route.qos > 0) throw new Error(`${total - back.seen.size} messages did not come back on ${route.outTopic}`);
  const ms = (percentile: number): number => histogram.percentile(percentile) / 1_000;
  return { p50: ms(50), p99: ms(99), max: histogram.max / 1_000 };
}
