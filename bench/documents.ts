// A large document up and down: how fast, and by how much the service's greatest memory so far grows. The naive way is beside it: the time that the
// machine takes to hash as many bytes.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { startService } from '../conformance/client/index.ts';
import { tokenOf } from './processes.ts';
import { type Figure, progress } from './report/index.ts';

const MIB = 1024 * 1024;
const SIZES_MIB = [100, 2048];
/** What the service's greatest memory may grow by. */
const MOST_RAISED_MIB = 50;
const PASSWORD = 'password of the bench';

export async function documents(): Promise<Figure[]> {
  await using service = await startService({
    args: ['--document-limit', '4G'],
    env: { CASCADE_ADMIN_PASSWORD: PASSWORD },
  });
  const token = await tokenOf(service.url, service.user, PASSWORD);
  const figures: Figure[] = [];
  for (const size of SIZES_MIB) {
    progress(`${size} MiB`);
    const before = await greatestMiB(service.process.pid ?? 0);
    const up = await seconds(() => upload(service.url, token, size));
    const middle = await greatestMiB(service.process.pid ?? 0);
    const down = await seconds(() => download(service.url, token, size));
    const after = await greatestMiB(service.process.pid ?? 0);
    const hashing = await seconds(async () => hashOf(size));
    figures.push({
      name: `a document of ${size} MiB`,
      unit: 'MiB/s',
      rounds: { 'up and down': [(2 * size) / (up + down)], 'hashing alone': [size / hashing] },
      besides: { 'up and down': { 'up MiB/s': size / up, 'down MiB/s': size / down, 'greatest memory MiB': after } },
      aims: [
        { what: 'MiB raised by the upload', is: middle - before, side: 'atMost', bound: MOST_RAISED_MIB },
        { what: 'MiB raised by both', is: after - before, side: 'atMost', bound: MOST_RAISED_MIB },
      ],
    });
  }
  return figures;
}

const piece = Buffer.alloc(MIB, 'cascade ');

/** In pieces: nothing here holds the document either. */
async function* multipart(sizeMiB: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('--bench\r\nContent-Disposition: form-data; name="bench.bin"\r\n\r\n');
  for (let i = 0; i < sizeMiB; i++) yield piece;
  yield Buffer.from('\r\n--bench--\r\n');
}

async function upload(url: string, token: string, sizeMiB: number): Promise<void> {
  const answer = await fetch(`${url}/api/v1/resources/documents`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'multipart/form-data; boundary=bench' },
    body: multipart(sizeMiB) as never,
    duplex: 'half',
  });
  const stored = (await answer.json()) as { contentSize?: number };
  if (stored.contentSize !== sizeMiB * MIB) throw new Error(`the upload was answered ${answer.status} ${JSON.stringify(stored)}`);
}

async function download(url: string, token: string, sizeMiB: number): Promise<void> {
  const answer = await fetch(`${url}/docs/bench.bin`, { headers: { Authorization: `Bearer ${token}` } });
  let length = 0;
  for await (const part of answer.body ?? []) length += (part as Uint8Array).byteLength;
  if (length !== sizeMiB * MIB) throw new Error(`the download has ${length} bytes`);
}

function hashOf(sizeMiB: number): void {
  const hash = createHash('sha256');
  for (let i = 0; i < sizeMiB; i++) hash.update(piece);
  hash.digest();
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

/** The greatest resident memory that a process has had. */
async function greatestMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
