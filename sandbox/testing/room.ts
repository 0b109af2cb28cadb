// A sandbox for a test, and runs in it as promises.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { openSandbox } from '../index.ts';
import type { OpenRun, Program, Reply, RunFailure, RunRequest, Sandbox, SandboxOptions } from '../types.ts';
import { FAKE_BUNDLE } from './fake-bundle.ts';

export interface Asked {
  site: string;
  nth: number;
  kind: string;
  payload: unknown;
}

export interface Ended {
  value?: unknown;
  failure?: RunFailure;
  ops: Asked[];
  logs: string[];
}

/** Short limits, one that an innocent step never meets, also when the machine is busy. */
export function openRoom(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return openSandbox({
    lanes: 2,
    heartbeatMs: 250,
    stepTimeoutMs: 500,
    memoryLimitMb: 64,
    bundle: FAKE_BUNDLE,
    log: pino({ level: process.env.SANDBOX_LOG ?? 'silent' }),
    resolveProcedure: () => Promise.resolve(null),
    ...options,
  });
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @param body the statements of `function* ($, ...args)` */
export function program(body: string, constants: unknown[] = []): Program {
  const source = `(function ($rt) { 'use strict'; return function* ($, a, b) { ${body} } })`;
  const constantsJson = JSON.stringify(constants);
  return { id: sha(source + constantsJson), module: { hash: sha(source), source }, constantsJson };
}

let count = 0;

/** @param answer gives the reply to an operation; without it, operations are answered by their payload */
export function run(
  sandbox: Sandbox,
  body: string | Program,
  more: Partial<RunRequest> & { args?: unknown[] } = {},
  answer: (asked: Asked) => Reply | Promise<Reply> = ({ payload }) => ({ ok: JSON.stringify(payload) }),
): Promise<Ended> & { open: OpenRun } {
  const { args, ...request } = more;
  count += 1;
  const id = request.id ?? `run-${count}`;
  const ops: Asked[] = [];
  const logs: string[] = [];
  let open!: OpenRun;
  const ended = new Promise<Ended>((resolve) => {
    open = sandbox.start({
      id,
      namespace: 'main',
      program: typeof body === 'string' ? program(body) : body,
      argsJson: JSON.stringify(args ?? []),
      at: 1,
      seed: id,
      opts: { namespace: 'main', username: 'tester', resource: '/rules/test' },
      observer: {
        op: (site, nth, kind, payloadJson) => {
          const asked: Asked = { site, nth, kind, payload: JSON.parse(payloadJson) };
          ops.push(asked);
          void Promise.resolve(answer(asked)).then((reply) => sandbox.answer(open, reply));
        },
        log: (_k, _level, text) => logs.push(text),
        done: (valueJson) => resolve({ value: JSON.parse(valueJson), ops, logs }),
        fail: (failure) => resolve({ failure, ops, logs }),
      },
      ...request,
    });
  });
  return Object.assign(ended, { open });
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether a process of this id exists. */
/** The state letter of a process that Linux tells of ('T' is stopped, 'Z' a zombie); null when there is none. */
export function stateOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? null;
  } catch {
    return null;
  }
}

export function exists(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}
