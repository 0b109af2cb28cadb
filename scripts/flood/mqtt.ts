// Messages of level 1 by a real broker, at a steady rate, each of which runs a rule; one in a hundred is stored by it.
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { startMosquitto } from '../brokers/index.ts';
import { growth, LOOK_EVERY_MS, residentMb } from './memory.ts';

const ONE_IN = 100;
const STUCK_MS = 60_000;
/** Of the rate that was asked for: less, and the service does not keep up. */
const KEPT_UP = 0.98;
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** @returns what is wrong @throws where there is no mosquitto */
export async function floodByMqtt({ seconds, rate }: { seconds: number; rate: number }): Promise<string[]> {
  await using broker = await startMosquitto();
  if (!broker) throw new Error('this needs mosquitto (apt-get install mosquitto)');
  await using service = await startService({ args: ['--outbound-addresses', '127.0.0.1'], expects: 'any' });
  const client = new RestClient(service.url);
  await client.login(service.user, service.password);
  const post = async (path: string, text: string, headers?: Record<string, string>): Promise<void> => {
    const reply = await client.send('POST', path, { text, ...(headers && { headers }) });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  };
  const config = { serverURI: `mqtt://127.0.0.1:${broker.port}`, topics: ['meters/+'], qos: 1, maxInflight: 1_000 };
  await post('/types', JSON.stringify({ name: 'Kept', properties: { n: { type: 'Integer' } } }), JSON_TYPE);
  await post('/rules', `RULE keeps WHEN MESSAGE ARRIVES FROM meters AS m\nIF (m.n % ${ONE_IN} == 0) { INSERT Kept(n: m.n) }`);
  await post('/sources', JSON.stringify({ name: 'meters', type: 'MQTT', config }), JSON_TYPE);

  const publisher = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`);
  const kept = async (): Promise<number> => {
    const reply = await client.send('GET', '/custom/Kept', { query: { limit: '1', count: 'true', props: '["_id"]' } });
    return Number(reply.headers['x-total-count']);
  };
  const wrong: string[] = [];
  for (let tries = 0; (await kept()) === 0; tries++) {
    if (tries > 100) throw new Error('nothing arrives');
    await publisher.publishAsync('meters/probe', '{"n":0}', { qos: 1 });
    await sleep(100);
  }
  const probes = await kept();

  const whole = Math.floor(seconds * rate);
  const memory: number[] = [];
  const begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) / 1_000;
  const look = async (sent: number): Promise<void> => {
    const [megabytes, stored] = [residentMb(service.process.pid ?? 0), ((await kept()) - probes) * ONE_IN];
    memory.push(megabytes);
    const at = elapsed().toFixed(0).padStart(4);
    console.log(`${at} s  sent ${sent}  acknowledged by the broker ${acknowledged}  through the rule ${stored}  ${megabytes} MB`);
  };
  let acknowledged = 0;
  let looking: Promise<void> = Promise.resolve();
  let lookAt = LOOK_EVERY_MS;
  for (let sent = 0; sent < whole; ) {
    const due = Math.min(whole, Math.floor(elapsed() * rate));
    for (; sent < due; sent++) publisher.publish(`meters/${sent % 50}`, `{"n":${sent}}`, { qos: 1 }, (error) => !error && acknowledged++);
    if (performance.now() - begun > lookAt) {
      lookAt += LOOK_EVERY_MS;
      looking = looking.then(() => look(sent));
    }
    await sleep(2);
  }
  await looking;
  const expected = Math.ceil(whole / ONE_IN) + probes;
  let found = 0;
  for (let since = performance.now(); found < expected && performance.now() - since < STUCK_MS; await sleep(50)) {
    const now = await kept();
    if (now > found) since = performance.now();
    found = now;
  }
  const lasted = elapsed();
  if (found !== expected) wrong.push(`${found - probes} are stored in place of ${expected - probes}`);
  if (lasted > seconds / KEPT_UP + 1) wrong.push(`what was sent in ${seconds} s went through in ${lasted.toFixed(1)} s`);
  const { first, last, wrong: grown } = growth(memory);
  wrong.push(...grown);
  console.log(`${whole} messages in ${lasted.toFixed(1)} s: ${Math.round(whole / lasted)}/s; memory ${first} to ${last} MB`);
  await publisher.endAsync(true);
  client.close();
  return wrong;
}
