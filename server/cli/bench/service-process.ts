// A service in a process of its own for `cascade bench`: on an empty database in a folder that it removes at its end. It sends its
// measurements of rules by messages, in full, since /metrics has few bounds.
import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { openService } from '../../service.ts';
import type { ServiceAnswer, ServiceQuestion, ServiceSettings } from './service.ts';

/** Measures all rules of the project by name, since they belong to the caller. */
const ALL_BY_NAME = { rules: 2_000, inAll: 2_000, namespaces: 2 };

const { dataDir, password, lanes } = JSON.parse(process.argv[2] ?? '{}') as ServiceSettings;
const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }));
const answer = (message: ServiceAnswer): void => void (process.connected && process.send?.(message));

// A Ctrl-C at the terminal reaches all processes of a command: this one ends when its parent ends it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
const parentGone = new Promise<void>((resolve) => process.once('disconnect', resolve));
try {
  await using service = await openService(
    {
      dataDir,
      host: '127.0.0.1',
      port: 0,
      ...(lanes !== undefined && { lanes }),
      firstStart: { adminPassword: password, systemPassword: password },
      announce: () => undefined,
    },
    log,
  );
  const { stages, activations } = service.counters;
  const carryOut: Record<ServiceQuestion['ask'], () => Promise<ServiceAnswer> | ServiceAnswer> = {
    settle: async () => {
      await service.settled();
      return { answer: 'settled' };
    },
    reset: () => {
      stages.reset(ALL_BY_NAME);
      activations.clear();
      return { answer: 'reset' };
    },
    rules: () => ({
      answer: 'rules',
      stages: [...stages.all()].map(({ rule, stages: of }) => ({
        rule,
        stages: Object.fromEntries([...of].map(([stage, one]) => [stage, one.toJSON()])),
      })),
      failed: Object.fromEntries(
        [...activations.values()].filter(({ outcome }) => outcome === 'failed').map(({ rule, count }) => [rule, count]),
      ),
    }),
  };
  process.on('message', ({ ask }: ServiceQuestion) => {
    void Promise.resolve(carryOut[ask]()).then(answer);
  });
  answer({ answer: 'ready', url: service.url });
  await parentGone;
} catch (error) {
  answer({ answer: 'failed', reason: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
  if (process.connected) process.disconnect();
}
