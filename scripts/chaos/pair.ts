// Two processes serve one database and one NATS, and one after the other stands still (SIGSTOP) for longer than its lease while clients work with both. The
// other one takes over what it had begun; who wakes must find that out, say so, and store nothing more. Then it is started again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedService } from '../../conformance/client/index.ts';
import { isServing, signal, STOP_BEYOND_LEASE_MS } from './disturb.ts';
import { chaosOf } from './processes.ts';
import type { ChaosOptions, ChaosOutcome } from './run.ts';

/** So soon a process that wakes knows. */
const KNOWS_WITHIN_MS = 15_000;
/** Clients ask a process that knows so long. */
const ASKED_FOR_MS = 3_000;
const BETWEEN_MS = 4_000;
/** When a lease is over, and a bit later: it may wake while the other one is taking over, or before. */
const LEASE_ENDS_MS = 28_000;
const TAKEN_WITHIN_MS = 8_000;

/** @param options.kills how often one of the two stands still */
export const chaosOfTwo = (options: ChaosOptions): Promise<ChaosOutcome> =>
  chaosOf(2, options, async (services, ledger, random) => {
    const { kills, onStep = () => undefined } = options;
    for (let done = 0; done < kills; done++) {
      await sleep(BETWEEN_MS + random() * BETWEEN_MS);
      onStep(`${done + 1}: the ${done % 2 === 0 ? 'first' : 'second'} process stands still`);
      const service = services[done % 2] as StartedService;
      if (done % 4 < 2) await standStill(service, LEASE_ENDS_MS + random() * TAKEN_WITHIN_MS);
      else if (!(await standStill(service, STOP_BEYOND_LEASE_MS))) ledger.unclear.push('a process that was taken over says that it serves');
      if (!(await isServing(service))) {
        await sleep(ASKED_FOR_MS);
        await service.kill();
        await service.restart();
      }
    }
  });

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
