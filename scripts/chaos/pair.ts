// Two processes serve one database and one NATS, and one after the other stands still (SIGSTOP) for longer than its lease while clients work with both. The
// other one takes over what it had begun; who wakes must find that out, say so, and store nothing more. Then it is started again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { startNats } from '../brokers/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { check } from './check.ts';
import { isServing, signal, STOP_BEYOND_LEASE_MS } from './disturb.ts';
import { type ChaosOptions, type ChaosOutcome, outcomeOf, randomFrom } from './run.ts';
import { CLIENTS, install, largeBulk, newLedger, work } from './workload.ts';

/** A request to a process that stands still is given up. */
const ANSWER_WITHIN_MS = 5_000;
/** So soon a process that wakes knows. */
const KNOWS_WITHIN_MS = 15_000;
/** Clients ask a process that knows so long. */
const ASKED_FOR_MS = 3_000;
const BETWEEN_MS = 4_000;
/** When a lease is over, and a bit later: it may wake while the other one is taking over, or before. */
const LEASE_ENDS_MS = 28_000;
const TAKEN_WITHIN_MS = 8_000;

/** @param kills how often one of the two stands still */
export async function chaosOfTwo({ kills, seed, program, onOutput, onStep = () => undefined }: ChaosOptions): Promise<ChaosOutcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cascade-chaos-'));
  try {
    await using mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'silent' }) });
    await using nats = await startNats();
    if (!nats) throw new Error('Several processes need nats-server, which is not installed here (apt install nats-server).');
    const args = ['--mongo', mongod.uri, '--nats', `nats://127.0.0.1:${nats.port}`];
    const options = { args, expects: 'any' as const, ...(program && { program }), ...(onOutput && { onOutput }) };
    await using first = await startService(options);
    await using second = await startService(options);
    const services = [first, second];
    const clients = services.map(({ url }) => new RestClient(url, 16, ANSWER_WITHIN_MS));
    const [ours, other] = clients as [RestClient, RestClient];
    const ledger = newLedger();
    const random = randomFrom(seed);
    const stop = new AbortController();
    for (const client of clients) await client.login(first.user, first.password);
    await install(ours);
    while ((await other.send('POST', '/procedures/Chaos.tally')).status !== 200) await sleep(50); // it hears of changes in their order
    const working = Promise.all([
      largeBulk(ours, ledger),
      ...clients.map((client, at) => work(client, ledger, randomFrom(seed + 1 + at), stop.signal, at * CLIENTS)),
    ]);
    working.catch(() => undefined); // awaited below
    try {
      for (let done = 0; done < kills; done++) {
        await sleep(BETWEEN_MS + random() * BETWEEN_MS);
        onStep(`${done + 1}: the ${done % 2 === 0 ? 'first' : 'second'} process stands still`);
        const service = services[done % 2] as StartedService;
        if (done % 4 < 2) await standStill(service, LEASE_ENDS_MS + random() * TAKEN_WITHIN_MS);
        else if (!(await standStill(service, STOP_BEYOND_LEASE_MS)))
          ledger.unclear.push('a process that was taken over says that it serves');
        if (!(await isServing(service))) {
          await sleep(ASKED_FOR_MS);
          await service.kill();
          await service.restart();
        }
      }
    } finally {
      stop.abort();
    }
    await working;
    onStep('looks at what is there');
    const verdict = await check(ours, ledger);
    for (const client of clients) client.close();
    return outcomeOf(verdict, kills, ledger);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Whether it says that it does not serve any more, when it has woken. */
async function standStill(service: StartedService, ms: number): Promise<boolean> {
  const pid = service.process.pid as number;
  signal(pid, 'SIGSTOP');
  await sleep(ms);
  signal(pid, 'SIGCONT');
  const until = performance.now() + KNOWS_WITHIN_MS;
  while ((await isServing(service)) && performance.now() < until) await sleep(50);
  return !(await isServing(service));
}
