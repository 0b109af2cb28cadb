// The processes that a benchmark compares: started, found, asked for what they have cost.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RestClient } from '../conformance/client/index.ts';

const TICKS_A_SECOND = 100;

export interface Baseline {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a program as `node PROGRAM PORT ARGUMENTS…` and waits until it answers. */
export async function startBaseline(program: URL, args: readonly string[]): Promise<Baseline> {
  const port = await freePort();
  const child = spawn(process.execPath, [fileURLToPath(program), String(port), ...args], { stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  try {
    await answers(url);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { url, process: child };
}

export async function expectOk(
  client: RestClient,
  method: string,
  path: string,
  options: Parameters<RestClient['send']>[2],
): Promise<void> {
  const reply = await client.send(method, path, options);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
}

export async function tokenOf(url: string, user: string, password: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const reply = await fetch(`${url}/authenticate`, { headers: { authorization } });
  return ((await reply.json()) as { accessToken: string }).accessToken;
}

/** CPU seconds of a process and its children so far (Linux). */
export async function cpuSeconds(pid: number): Promise<number> {
  let sum = 0;
  for (const one of await treeOf(pid)) {
    const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    sum += (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_A_SECOND;
  }
  return sum;
}

/** The process and all that it has started, and they (Linux). */
export const treeOf = async (pid: number): Promise<number[]> => [pid, ...(await childrenOf(pid))];

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(childrenOf))).flat()];
}

/** Memory of one process in MB: now, and at most since the last `forgetPeak` (Linux). */
export async function memory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { now: mb('VmRSS'), peak: mb('VmHWM') };
}

/** From now on the peak is counted anew. */
export const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5');

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      await fetch(url);
      return;
    } catch {
      await sleep(50); // it is still starting
    }
  }
  throw new Error(`${url} does not answer`);
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
