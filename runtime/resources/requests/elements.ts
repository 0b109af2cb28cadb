// The value of a procedure, sent element by element (`stream=true`, resources-and-api.md 2.11).

import { isInteger, type Value } from '../../../stdlib/values/index.ts';
import type { Pieces } from '../../api.ts';
import { fault } from '../../faults.ts';
import { toJson } from '../../values/index.ts';

const BUFFER_BYTES = 65_536;

/** Of a request, checked. */
export interface Flushing {
  /** Bytes that are sent together. */
  readonly bufferBytes: number;
  /** Whether each element is sent for itself. */
  readonly each: boolean;
}

/** @throws request.parameter.invalid */
export function flushingOf(parameters: Readonly<Record<string, Value>>): Flushing {
  const whole = (name: string, least: number, fallback: number): number => {
    const value = parameters[name] ?? fallback;
    if (!isInteger(value) || value < least) throw fault('cascade.request.parameter.invalid', name, value);
    return Number(value);
  };
  return { bufferBytes: whole('maxBufferSize', 1, BUFFER_BYTES), each: whole('maxFlushInterval', -1, 0) === -1 };
}

/** The texts of the elements are made as they are taken. */
export function elementsOf(values: readonly Value[], { bufferBytes, each }: Flushing): Pieces {
  let next = 0;
  let isEnded = false;
  return {
    next: () => {
      if (isEnded) return Promise.resolve(null);
      let text = next === 0 ? '[' : '';
      while (next < values.length) {
        text += `${next === 0 ? '' : ','}${toJson(values[next++] ?? null)}`;
        if (each || text.length >= bufferBytes) return Promise.resolve(text);
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
