// Who keeps the thread is named: within `run` for certain, else by what came before.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type Stall, Stalls } from './stalls.ts';

/** As if this process had had a processor all the time, whatever the machine does besides. */
const processorMs = (): number => performance.now();

function spin(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** The first such stall; the work is done anew as long as the machine's other work hides what it is. */
async function next(stalls: Stalls, work: () => void, isIt: (stall: Stall) => boolean): Promise<Stall> {
  let found: Stall | undefined;
  stalls.onStall = (stall) => {
    if (isIt(stall)) found ??= stall;
  };
  while (!found) {
    work();
    await sleep(50);
  }
  return found;
}

test('work that keeps the thread is told of with its namespace, in the log once', async () => {
  const lines: Record<string, unknown>[] = [];
  using stalls = new Stalls({
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    processorMs,
    quietMs: 3_600_000,
  });
  // Besides, a busy machine may keep the thread just behind it.
  const isOurs = ({ cause, namespace }: Stall): boolean => cause === 'request' && namespace === 'loud';
  const work = (): void => stalls.run('request', 'loud', 'execute procedures', () => spin(120));
  expect(await next(stalls, work, isOurs)).toMatchObject({ what: 'execute procedures' });
  expect((await next(stalls, work, isOurs)).ms).toBeGreaterThanOrEqual(120);
  expect(lines.filter(({ cause, namespace }) => cause === 'request' && namespace === 'loud')).toHaveLength(1);
});

test('what nobody named is told of with what was begun last', async () => {
  using stalls = new Stalls({ log: pino({ level: 'silent' }), processorMs });
  stalls.run('program', 'quiet', 'answers of programs', () => undefined);
  const stall = await next(
    stalls,
    () => spin(120),
    ({ cause }) => cause === 'other',
  );
  expect(stall).toMatchObject({ namespace: 'quiet', what: 'after: answers of programs' });
});

test('the cause is the largest part: a thread that had no processor for most of the time', async () => {
  using stalls = new Stalls({ log: pino({ level: 'silent' }), processorMs: () => performance.now() * 0.3 });
  const work = (): void => stalls.run('request', 'loud', 'execute procedures', () => spin(120));
  const stall = await next(stalls, work, ({ cause }) => cause === 'processor');
  expect(stall).toMatchObject({ namespace: null, what: 'this thread had to wait for it' });
});

test('the cause is the largest part: the collector, also within the work of somebody', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  using stalls = new Stalls({ log: pino({ level: 'silent' }), processorMs });
  const collectFor = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until; ) collect();
  };
  const work = (): void => stalls.run('request', 'loud', 'execute procedures', () => collectFor(120));
  const stall = await next(stalls, work, ({ cause }) => cause === 'garbage');
  expect(stall).toMatchObject({ namespace: 'loud', what: 'execute procedures' });
});
