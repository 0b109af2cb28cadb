// Who keeps the thread is named: within `run` for certain, else by what came before.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type Stall, Stalls } from './stalls.ts';

/** Work of the processor, not of the clock: else a machine that has none to give would be to blame. */
function spin(ms: number): void {
  const begun = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(begun);
    if (user + system > ms * 1_000) return;
  }
}

/** The first such stall; the work is done anew as long as the machine's other work hides what it is. */
async function next(stalls: Stalls, work: () => void, isIt: (stall: Stall) => boolean): Promise<Stall> {
  let found: Stall | undefined;
  stalls.heard = (stall) => {
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
  using stalls = new Stalls(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
  const isOurs = ({ namespace }: Stall): boolean => namespace === 'loud';
  const work = (): void => stalls.run('request', 'loud', 'execute procedures', () => spin(120));
  expect(await next(stalls, work, isOurs)).toMatchObject({ cause: 'request', what: 'execute procedures' });
  expect((await next(stalls, work, isOurs)).ms).toBeGreaterThanOrEqual(120 * 0.9);
  expect(lines.filter(({ namespace }) => namespace === 'loud')).toHaveLength(1);
});

test('what nobody named is told of with what was begun last', async () => {
  using stalls = new Stalls(pino({ level: 'silent' }));
  stalls.run('program', 'quiet', 'answers of programs', () => undefined);
  const stall = await next(
    stalls,
    () => spin(120),
    ({ cause }) => cause === 'other',
  );
  expect(stall).toMatchObject({ namespace: 'quiet', what: 'after: answers of programs' });
});
