// The value of a procedure in pieces: element by element where the client asked for that (`stream=true`, resources-and-api.md 2.11), else by length.

import { isInteger, type Value } from '../../stdlib/values/index.ts';
import type { Pieces } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { innerInPieces, toJson } from '../../model/values/index.ts';
import { longWork } from '../../platform/structures/index.ts';

const BUFFER_BYTES = 65_536;

/** The checked options of a request for when to flush. */
export interface Flushing {
  /** Bytes that are sent together. */
  readonly bufferBytes: number;
  /** Milliseconds between flushes; 0: after each element; Infinity: by size only. */
  readonly everyMs: number;
}

/** @throws request.parameter.invalid */
export function flushingOf(parameters: Readonly<Record<string, Value>>): Flushing {
  const whole = (name: string, least: number, fallback: number): number => {
    const value = parameters[name] ?? fallback;
    if (!isInteger(value) || value < least) throw apiError('cascade.request.parameter.invalid', name, value);
    return Number(value);
  };
  const interval = whole('maxFlushInterval', -1, 0);
  return { bufferBytes: whole('maxBufferSize', 1, BUFFER_BYTES), everyMs: interval === 0 ? Infinity : Math.max(interval, 0) };
}

/** The elements of an array; their texts are made while they are sent. */
export function elementsOf(values: readonly Value[], { bufferBytes, everyMs }: Flushing): Pieces {
  let next = 0;
  let isEnded = false;
  return {
    next: () => {
      if (isEnded) return Promise.resolve(null);
      const begun = performance.now();
      let text = next === 0 ? '[' : '';
      while (next < values.length) {
        text += `${next === 0 ? '' : ','}${toJson(values[next++] ?? null)}`;
        if (text.length >= bufferBytes || performance.now() - begun >= everyMs) return Promise.resolve(text);
      }
      isEnded = true;
      return Promise.resolve(`${text}]`);
    },
    close: () => {
      isEnded = true;
      return Promise.resolve();
    },
  };
}

/** A long value of a procedure, which is inner JSON, in pieces that are made in turn with others' work. @param owner see `longWork` */
export function piecesOf(owner: string, inner: string): Pieces {
  const pieces = innerInPieces(inner, BUFFER_BYTES);
  const work = longWork(owner);
  return {
    async next() {
      for (;;) {
        await work.next();
        const { value, done } = pieces.next();
        if (value !== '') return done ? null : value; // a piece of nothing would end the stream
      }
    },
    async close() {
      pieces.return(undefined);
      work[Symbol.dispose]();
    },
  };
}
