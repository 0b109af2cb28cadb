// A service on a replica set of three members: primaries are killed, step down and stand still while another is elected, secondaries, the service and its
// sandbox are killed; then the verdict. And clocks: those of the service jump while it works.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { check } from './check.ts';
import { kill, serving } from './disturb.ts';
import { openReplicaSet, type ReplicaSet } from './replica-set.ts';
import { type ChaosOptions, type ChaosOutcome, outcomeOf, randomFrom } from './run.ts';
import { install, largeBulk, newLedger, work } from './workload.ts';

const BETWEEN_MS = 3_000;
/** What becomes of the set; the kills of the service and its sandbox come beside. */
const TO_THE_SET = [
  'killPrimary',
  'killPrimary',
  'stepDown',
  'freezePrimary',
  'partitionPrimary',
  'killSecondary',
] as const satisfies readonly (keyof ReplicaSet)[];
/** Seconds by which the service's clock is wrong from then on. */
const STEPS = [0, 0, 2, -2, 45, -45, 3_600, -3_600];
const FAKETIME = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((arch) => `/usr/lib/${arch}/faketime/libfaketimeMT.so.1`);

/** @param kills of members, or other ends of a primary; of the service and the sandbox half as many more */
export async function chaosOfMembers({ kills, seed, program, onOutput, onStep = () => undefined }: ChaosOptions): Promise<ChaosOutcome> {
  await using set = await openReplicaSet();
  using clock = openClock();
  onStep(clock ? 'the clock of the service jumps, too' : 'without libfaketime (apt-get install libfaketime) clocks are as they are');
  await using service = await startService({
    args: ['--mongo', set.uri],
    env: clock?.env ?? {},
    expects: 'any',
    ...(program && { program }),
    ...(onOutput && { onOutput }),
  });
  const client = new RestClient(service.url, 16);
  const ledger = newLedger();
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const stop = new AbortController();
  try {
    await client.login(service.user, service.password);
    await install(client);
    const working = Promise.all([largeBulk(client, ledger), work(client, ledger, randomFrom(seed + 1), stop.signal)]);
    working.catch(() => undefined); // awaited below
    try {
      for (let done = 0; done < kills; done++) {
        await sleep(random() * BETWEEN_MS);
        const what = pick(TO_THE_SET);
        onStep(`${done + 1}: ${what}`);
        const ending = set[what]();
        if (random() < 0.3) {
          const part = pick(['service', 'sandbox'] as const);
          await sleep(random() * 2_000);
          onStep(`kills the ${part} meanwhile`);
          await kill(service, [part], random);
        }
        await ending;
        if (clock && random() < 0.5) {
          const seconds = pick(STEPS);
          onStep(`the clock of the service is ${seconds} s off`);
          clock.set(seconds);
        }
      }
      clock?.set(0);
      await serving(service);
    } finally {
      stop.abort();
    }
    await working;
    onStep('looks at what is there');
    return outcomeOf(await check(client, ledger), kills, ledger);
  } finally {
    client.close();
  }
}

interface Clock extends Disposable {
  readonly env: Record<string, string>;
  /** The time of day differs by so many seconds from now on; what counts up goes on as it was. */
  set(seconds: number): void;
}

/** @returns null where libfaketime is not installed */
function openClock(): Clock | null {
  const library = FAKETIME.find((path) => existsSync(path));
  if (library === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), 'cascade-clock-'));
  const file = join(folder, 'offset');
  const set = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
