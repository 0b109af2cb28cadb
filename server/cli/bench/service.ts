// The measured service, as the process that sends the load sees it.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HistogramData } from '../../../platform/structures/index.ts';
import type { Stage } from '../../../runtime/context/index.ts';

export interface ServiceSettings {
  readonly dataDir: string;
  /** The password of `admin`. */
  readonly password: string;
  readonly lanes?: number;
}

export type ServiceQuestion = { readonly ask: 'settle' | 'reset' | 'rules' };
export type ServiceAnswer =
  | { readonly answer: 'ready'; readonly url: string }
  | { readonly answer: 'failed'; readonly reason: string }
  | { readonly answer: 'settled' | 'reset' }
  | ({ readonly answer: 'rules' } & RulesMeasured);

export interface RulesMeasured {
  readonly stages: readonly { readonly rule: string; readonly stages: Readonly<Partial<Record<Stage, HistogramData>>> }[];
  /** Failed runs, by rule; rules without failures are absent. */
  readonly failed: Readonly<Record<string, number>>;
}

export interface BenchService extends AsyncDisposable {
  readonly url: string;
  readonly password: string;
  readonly pid: number;
  /** @returns false when runs are still in progress after that time */
  settle(withinMs: number): Promise<boolean>;
  /** Starts all measurements anew. */
  reset(): Promise<void>;
  rules(): Promise<RulesMeasured>;
}

/** Longest wait for its end; then it is killed. */
const END_MS = 30_000;

/** The built program, even where this file runs from its source: the worker of a test cannot start TypeScript. */
const program = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../../dist/server/cli/bench/service-process.js', import.meta.url)
    : new URL('./service-process.js', import.meta.url),
);

/** @throws Error when it does not start */
export async function openBenchService(lanes?: number): Promise<BenchService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const password = randomBytes(16).toString('hex');
  const settings: ServiceSettings = { dataDir, password, ...(lanes !== undefined && { lanes }) };
  const child = fork(program, [JSON.stringify(settings)], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    const killing = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await exited;
    clearTimeout(killing);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const { url } = await answerOf(child, 'ready');
    const ask = async <A extends ServiceAnswer['answer']>(question: ServiceQuestion['ask'], wanted: A) => {
      const answer = answerOf(child, wanted);
      child.send({ ask: question } satisfies ServiceQuestion);
      return answer;
    };
    return {
      url,
      password,
      pid: child.pid as number,
      async settle(withinMs) {
        const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), withinMs).unref());
        return Promise.race([ask('settle', 'settled').then(() => true), late]);
      },
      async reset() {
        await ask('reset', 'reset');
      },
      rules: () => ask('rules', 'rules'),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function answerOf<A extends ServiceAnswer['answer']>(child: ChildProcess, wanted: A): Promise<Extract<ServiceAnswer, { answer: A }>> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      child.off('message', onMessage);
      child.off('exit', ended);
    };
    const ended = (): void => {
      end();
      reject(new Error('the service has ended'));
    };
    const onMessage = (message: ServiceAnswer): void => {
      if (message.answer !== wanted && message.answer !== 'failed') return;
      end();
      if (message.answer === 'failed') reject(new Error(message.reason));
      else resolve(message as Extract<ServiceAnswer, { answer: A }>);
    };
    child.on('message', onMessage);
    child.once('exit', ended);
  });
}
