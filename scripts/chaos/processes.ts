// Several processes serve one database and one NATS, while clients work with each of them: what every run of the crash test over processes shares, and the run
// in which three of them are killed, stopped in order and made to stand still.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { startNats } from '../brokers/index.ts';
import { check } from './check.ts';
import { pause, pauseBeyondLease, serving, signal } from './disturb.ts';
import { type ChaosOptions, type ChaosOutcome, outcomeOf, randomFrom } from './run.ts';
import { CLIENTS, install, largeBulk, type Ledger, newLedger, work } from './workload.ts';

/** A request to a process that stands still is given up. */
const ANSWER_WITHIN_MS = 5_000;
/** Longer than the service may take for an orderly stop (docs/operations.md). */
const STOPPED_WITHIN_MS = 40_000;
const BETWEEN_MS = 1_500;

/** Ends of processes in one turn: three kills, then what else may happen to one. */
const KILLS_A_TURN = 3;
/** One stand beyond the lease among so many ends. */
const ENDS_A_LONG_STAND = 100;

/** @param disturb what is done to the processes while the clients work; the verdict is of what is there afterwards */
export async function chaosOf(
  count: number,
  { kills, seed, program, onOutput, onStep = () => undefined }: ChaosOptions,
  disturb: (services: readonly StartedService[], ledger: Ledger, random: () => number) => Promise<void>,
): Promise<ChaosOutcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cascade-chaos-'));
  try {
    await using mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'silent' }) });
    await using nats = await startNats();
    if (!nats) throw new Error('Several processes need nats-server, which is not installed here (apt install nats-server).');
    const args = ['--mongo', mongod.uri, '--nats', `nats://127.0.0.1:${nats.port}`];
    const options = { args, expects: 'any' as const, ...(program && { program }), ...(onOutput && { onOutput }) };
    await using started = await startServices(count, options);
    const { services } = started;
    const clients = services.map(({ url }) => new RestClient(url, 16, ANSWER_WITHIN_MS));
    const [first] = services as [StartedService];
    const [ours, ...others] = clients as [RestClient, ...RestClient[]];
    const ledger = newLedger();
    const stop = new AbortController();
    for (const client of clients) await client.login(first.user, first.password);
    await install(ours);
    // The others hear of definitions in their order: who knows the last one knows all.
    for (const other of others) while ((await other.send('POST', '/procedures/Chaos.tally')).status !== 200) await sleep(50);
    const working = Promise.all([
      largeBulk(ours, ledger),
      ...clients.map((client, at) => work(client, ledger, randomFrom(seed + 1 + at), stop.signal, at * CLIENTS)),
    ]);
    working.catch(() => undefined); // awaited below
    try {
      await disturb(services, ledger, randomFrom(seed));
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

interface Started extends AsyncDisposable {
  readonly services: readonly StartedService[];
}

/** One after the other: the first one makes the accounts. */
async function startServices(count: number, options: Parameters<typeof startService>[0]): Promise<Started> {
  const services: StartedService[] = [];
  const close = async (): Promise<void> => {
    for (const service of services.toReversed()) await service[Symbol.asyncDispose]();
  };
  try {
    while (services.length < count) services.push(await startService(options));
    return { services, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param options.kills how many processes end in all: of four, three are killed; the fourth is stopped in order, or stands still */
export const chaosOfProcesses = (options: ChaosOptions): Promise<ChaosOutcome> =>
  chaosOf(3, options, async (services, ledger, random) => {
    const { kills, onStep = () => undefined } = options;
    for (let done = 0; done < kills; done++) {
      await sleep(random() * BETWEEN_MS);
      const at = Math.floor(random() * services.length);
      const service = services[at]!;
      if (done % (KILLS_A_TURN + 1) < KILLS_A_TURN) {
        onStep(`${done + 1}: kills process ${at + 1}`);
        await service.kill();
        ledger.outages.begin();
        await service.restart();
      } else if ((done + 1) % ENDS_A_LONG_STAND === 0) {
        onStep(`${done + 1}: process ${at + 1} stands still for longer than its lease`);
        await pauseBeyondLease(service);
        await restart(service);
      } else if (random() < 0.5) {
        onStep(`${done + 1}: stops process ${at + 1}`);
        await stopInOrder(service);
        await service.restart();
      } else {
        onStep(`${done + 1}: process ${at + 1} stands still`);
        await pause(service, 'service', random);
      }
      await serving(service);
    }
  });

/** SIGTERM. @throws when it does not end with code 0 and in time */
async function stopInOrder({ process: child }: StartedService): Promise<void> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  signal(child.pid as number, 'SIGTERM');
  const code = await Promise.race([ended, sleep(STOPPED_WITHIN_MS, 'late' as const)]);
  if (code !== 0) throw new Error(`a process did not stop in order: ${code === 'late' ? 'it is still there' : `exit code ${code}`}`);
}

/** One that was taken for dead: it has ended, or is about to. */
async function restart(service: StartedService): Promise<void> {
  await service.kill();
  await service.restart();
}
