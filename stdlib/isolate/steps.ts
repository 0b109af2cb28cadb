// How running code waits: a generator yields when its request is in the outbox, and is resumed with what the host sent.
import type { Value } from '../values/index.ts';
import type { WireError } from './protocol.ts';
import { chargeRows } from './result-lists.ts';
import type { Run } from './run.ts';
import { errorFromWire } from './wire-errors.ts';

/** Code that may wait. What is yielded says nothing: the request is in the outbox already. */
export type Steps<T> = Generator<void, T, Reply>;
/** What the host sent: a value, a failure, or the sign to go on. */
export type Reply =
  | { readonly value: Value }
  | { readonly rows: Value[] }
  | { readonly error: WireError }
  | { readonly heapBytes: number | undefined };

/** Gives way. */
export function* slice(run: Run): Steps<void> {
  run.refuel();
  run.outbox.push(`["slice",${run.idJson},${run.fuelUsed},${run.charged}]`);
  const reply = yield;
  if ('error' in reply) {
    run.dead = true; // a limit: nothing of the program may catch it
    throw errorFromWire(reply.error);
  }
  const heapBytes = 'heapBytes' in reply ? reply.heapBytes : undefined;
  if (run.charged <= run.memoryLimit) return;
  if (heapBytes === undefined || heapBytes > run.memoryLimit) run.exceed('cascade.execution.memory', run.memoryLimit);
  run.charged = Math.min(run.charged, heapBytes);
}

/** Asks the host for an operation; the payload is JSON text. An error is made here, so that its stack is the program's. */
export function* request(run: Run, site: string, kind: string, payload: string, tail: boolean): Steps<Value> {
  if (run.flush !== null && kind !== 'state') yield* run.flush();
  run.outbox.pushWith(`["op",${run.idJson},${JSON.stringify(site)},${run.nth(site)},"${kind}",`, payload, `,${tail}]`);
  const reply = yield;
  if ('error' in reply) throw errorFromWire(reply.error);
  if ('rows' in reply) chargeRows(run, reply.rows);
  return 'rows' in reply ? reply.rows : 'value' in reply ? reply.value : null;
}

/** Asks for a procedure; the driver resumes when it knows. */
export function* waitForProcedure(run: Run, name: string): Steps<void> {
  run.awaits = name;
  run.outbox.push(`["resolve",${run.idJson},${JSON.stringify(name)}]`);
  yield;
}
