// One run: clients at work, so many kills at moments that a seed decides, stops, slowness and a full disk in between; then the verdict.
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { check, type Verdict } from './check.ts';
import { kill, KILLS, openDisk, type Part, pause, pauseBeyondLease, serving, slow } from './disturb.ts';
import type { Outages } from './outages.ts';
import { install, largeBulk, type Ledger, newLedger, work } from './workload.ts';

const BETWEEN_MS = 1_500;
/** One stop that is longer than the lease of a process among so many kills: none in short runs. */
const KILLS_A_LONG_STOP = 50;
const PARTS: readonly Part[] = ['service', 'database', 'sandbox'];

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** Another build of the command `cascade`. */
  readonly program?: string;
  readonly onOutput?: (text: string) => void;
  /** Told what is done. */
  readonly onStep?: (line: string) => void;
}

export interface ChaosOutcome extends Verdict {
  readonly kills: number;
  readonly promised: number;
  /** Requests whose answer did not come. */
  readonly perhaps: number;
  /** What was answered with neither success nor a precise "not now". */
  readonly unclear: string[];
  readonly refusals: ReadonlyMap<string, number>;
  readonly outages: Outages;
}

export async function chaos({ kills, seed, program, onOutput, onStep = () => undefined }: ChaosOptions): Promise<ChaosOutcome> {
  using disk = openDisk();
  await using service = await startService({
    folder: disk.folder,
    expects: 'any',
    ...(program && { program }),
    ...(onOutput && { onOutput }),
  });
  const client = new RestClient(service.url, 16);
  const ledger = newLedger();
  const random = randomFrom(seed);
  const stop = new AbortController();
  try {
    await client.login(service.user, service.password);
    await install(client);
    const working = Promise.all([largeBulk(client, ledger), work(client, ledger, randomFrom(seed + 1), stop.signal)]);
    working.catch(() => undefined); // awaited below
    const filledAt = 1 + Math.floor(random() * Math.max(1, kills - 1));
    try {
      for (let done = 0; done < kills; done++) {
        await sleep(random() * BETWEEN_MS);
        if (random() < 0.5) {
          const part = PARTS[Math.floor(random() * PARTS.length)] as Part;
          const disturb = random() < 0.5 ? pause : slow;
          onStep(`${disturb === pause ? 'stops' : 'slows'} the ${part}`);
          await disturb(service, part, random);
        }
        if (done % 25 === filledAt % 25) {
          onStep('fills the disk');
          await disk.fill(service);
        }
        if ((done + 1) % KILLS_A_LONG_STOP === 0) {
          onStep('stops the service for longer than its lease');
          await pauseBeyondLease(service);
          await serving(service); // nobody else has its database, so it goes on
        }
        const parts = KILLS[Math.floor(random() * KILLS.length)] as readonly Part[];
        onStep(`${done + 1}: kills ${parts.join(' and ')}`);
        await kill(service, parts, random, parts.includes('sandbox') ? undefined : () => ledger.outages.begin());
      }
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

export function outcomeOf(verdict: Verdict, kills: number, { orders, messages, unclear, refusals, outages }: Ledger): ChaosOutcome {
  const all = [...messages.values()].flatMap((known) => [...known.values()]);
  const perhaps = all.filter((one) => one === 'perhaps').length;
  return { ...verdict, kills, promised: orders.length + all.length - perhaps, perhaps, unclear, refusals, outages };
}

/** Mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
