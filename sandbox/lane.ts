// The task of one lane's thread: takes batches from the lane's pipe, steps the isolate of each, answers. Lasts until the pipe closes.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { frameReader, writeFrame } from './frames.ts';
import { IsolateHost } from './isolate-host.ts';
import { type BatchHeader, DESCRIPTORS, type LaneHeader, type LaneSettings, MARK_BYTES } from './wire.ts';

export interface LaneTask {
  lane: number;
  descriptor: number;
  settings: LaneSettings;
  /** The script that every isolate is made from, and as the engine has compiled it. */
  bundle: string;
  compiled: ArrayBuffer;
}

export default function serveLane({ lane, descriptor, settings, ...script }: LaneTask): Promise<void> {
  const isolates = new IsolateHost(script, settings);
  const pipe = new Socket({ fd: descriptor, readable: true, writable: true });
  const send = (header: LaneHeader, text: string): void => writeFrame(pipe, header, text);
  pipe.on(
    'data',
    frameReader<BatchHeader>((header, items) => {
      for (const key of header.close ?? []) isolates.close(key);
      if (header.batch === 0) return;
      mark(lane, header.batch);
      const { text, ...reply } = isolates.step(header, items);
      send({ kind: 'batch', batch: header.batch, ...reply }, text);
    }),
  );
  send({ kind: 'ready' }, '');
  setImmediate(() => isolates.warmUp());
  return new Promise((resolve, reject) => {
    pipe.on('error', reject);
    pipe.on('close', resolve);
  });
}

function mark(lane: number, batch: number): void {
  const record = Buffer.allocUnsafe(MARK_BYTES);
  record.writeUInt32LE(lane, 0);
  record.writeUInt32LE(batch, 4);
  try {
    writeSync(DESCRIPTORS.marks, record);
  } catch (error) {
    // A full pipe (the service is busy): the batch stays unmarked, which only makes a later death harder to attribute.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
}
