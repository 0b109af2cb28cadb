// A message comes in, starts a rule, and the rule sends one out: how many a second, and how late each is at a steady 1,000 a second. Beside it a script by
// hand with mqtt.js and Node-RED, against the same mosquitto, in turn. What comes at level 1 is stored here before it is acknowledged; in the others it is not.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import mqtt from 'mqtt';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { startMosquitto } from '../../scripts/brokers/index.ts';
import type { Effort } from '../compare.ts';
import { startNodeRed } from '../node-red.ts';
import { cpuSeconds, expectOk } from '../processes.ts';
import { type Figure, median, progress, timesAsMuch } from '../report/index.ts';
import { latency, ready, type Route, throughput } from './drive.ts';
import { mqttFlow } from './flow.ts';

const RATE = 1_000;
const LEVELS = [0, 1] as const;
const OURS = 'cascade';

export async function* mqttBench({ rounds, seconds }: Effort): AsyncIterable<Figure> {
  await using broker = await startMosquitto();
  if (!broker) throw new Error('this needs mosquitto (apt-get install mosquitto)');
  await using service = await startService({ args: ['--outbound-addresses', '127.0.0.1'], expects: 'any' });
  await defineSources(service.url, service.user, service.password, broker.port);
  await using nodeRed = await startNodeRed(mqttFlow(broker.port));
  const script = fileURLToPath(new URL('./script.js', import.meta.url));
  const scripts = LEVELS.map((qos) => spawn(process.execPath, [script, String(broker.port), String(qos)], { stdio: 'ignore' }));
  const pids: Record<string, (qos: 0 | 1) => number> = {
    [OURS]: () => service.process.pid ?? 0,
    script: (qos) => scripts[qos]?.pid ?? 0,
    'node-red': () => nodeRed.process.pid ?? 0,
  };
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`);
  try {
    for (const qos of LEVELS) {
      const routeOf = (name: string): Route => ({ client, inTopic: `${name}/${qos}/in`, outTopic: `${name}/${qos}/out`, qos });
      const names = Object.keys(pids);
      for (const name of names) await ready(routeOf(name));
      const perSecond: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
      const late: Record<string, { p50: number[]; p99: number[]; max: number[] }> = {};
      const cpu: Record<string, number[]> = {};
      for (let round = 0; round <= rounds; round++)
        for (const name of names) {
          progress(`MQTT, level ${qos}: ${name}, ${round === 0 ? 'warming' : `round ${round} of ${rounds}`}`);
          const before = await cpuSeconds(pids[name]!(qos));
          const count = await throughput(routeOf(name), seconds);
          const spent = (await cpuSeconds(pids[name]!(qos))) - before;
          const { p50, p99, max } = await latency(routeOf(name), seconds, RATE);
          if (round === 0) continue;
          perSecond[name]?.push(count);
          (cpu[name] ??= []).push((spent / (count * seconds)) * 1e6);
          const noted = (late[name] ??= { p50: [], p99: [], max: [] });
          noted.p50.push(p50);
          noted.p99.push(p99);
          noted.max.push(max);
        }
      const besides = Object.fromEntries(names.map((name) => [name, { 'µs of CPU a message': median(cpu[name] ?? []) }]));
      yield {
        name: `MQTT level ${qos}: in, rule, out`,
        unit: 'messages a second',
        rounds: perSecond,
        besides,
        aims: [...timesAsMuch(perSecond, OURS, 'script', 0.7), ...timesAsMuch(perSecond, OURS, 'node-red', 1)],
      };
      const p50s = Object.fromEntries(names.map((name) => [name, (late[name]?.p50 ?? []).map((ms) => ms * 1_000)]));
      const [own, theirs] = [median(late[OURS]?.p50 ?? []), median(late['node-red']?.p50 ?? [])];
      yield {
        name: `MQTT level ${qos}: in, rule, out at ${RATE} a second (open loop)`,
        unit: 'µs late, p50',
        rounds: p50s,
        besides: Object.fromEntries(
          names.map((name) => [name, { 'p99 ms': median(late[name]?.p99 ?? []), 'max ms': median(late[name]?.max ?? []) }]),
        ),
        aims: qos === 1 ? [{ what: 'p50 cascade / node-red', is: own / theirs, side: 'atMost', bound: 0.5 }] : [],
      };
    }
  } finally {
    for (const one of scripts) one.kill('SIGKILL');
    await client.endAsync(true);
  }
}

async function defineSources(url: string, user: string, password: string, brokerPort: number): Promise<void> {
  const client = new RestClient(url);
  await client.login(user, password);
  for (const qos of LEVELS) {
    const config = { serverURI: `mqtt://127.0.0.1:${brokerPort}`, topics: [`cascade/${qos}/in`], qos, maxInflight: 1_000 };
    const source = JSON.stringify({ name: `bench${qos}`, type: 'MQTT', config });
    await expectOk(client, 'POST', '/sources', { text: source, headers: { 'Content-Type': 'application/json' } });
    const out = `{ topic: "cascade/${qos}/out", qos: "${qos === 1 ? 'AT_LEAST_ONCE' : 'AT_MOST_ONCE'}" }`;
    const text = `RULE forwards${qos} WHEN MESSAGE ARRIVES FROM bench${qos} AS m PUBLISH { message: { n: m.n, at: m.at } } TO SOURCE bench${qos} USING ${out}`;
    await expectOk(client, 'POST', '/rules', { text, headers: { 'Content-Type': 'text/plain' } });
  }
  client.close();
}
