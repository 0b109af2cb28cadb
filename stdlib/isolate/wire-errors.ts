// Errors as they cross the border, and as CATCH sees them (language.md T2, H1).
import { toExceptionObject } from '../builtins/index.ts';
import { CascadeError } from '../errors.ts';
import { cutText, encodeInner, fromInner, type ObjectValue, shownAll, type Value } from '../values/index.ts';
import { LIMITS, limitError, limitIn, MOST_MESSAGE } from './limits.ts';
import type { Frame, WireError } from './protocol.ts';
import type { Run } from './run.ts';

/** An error that the host reported, raised at the statement that asked. */
export function errorFromWire({ code, message, params, status, errors }: WireError): CascadeError {
  return new CascadeError(code, message, params.map(fromInner), status, errors?.map(errorFromWire));
}

/** What CATCH (e) and ON ERROR (e) hold. */
export function exceptionObject(error: unknown): ObjectValue {
  return toExceptionObject(error instanceof CascadeError ? error : unexpected(error));
}

/** An error that no code of ours raised on purpose. */
function unexpected(error: unknown): CascadeError {
  const message = error instanceof Error ? error.message : String(error);
  return new CascadeError('cascade.server.error', `Unexpected condition: ${message}`, [message], 500);
}

/** The `fail` item of a run. @param params what stands for those of the error */
export function failItem(run: Run, error: unknown, params?: Value[]): string {
  const limit = limitIn(error);
  const most = limit === 'cascade.execution.depth' ? LIMITS.callDepth : LIMITS.memoryBytes;
  const known = limit === null ? error : limitError(limit, run.options.resource, most);
  const raised = known instanceof CascadeError ? known : unexpected(known);
  const errors = raised.errors ? `,"errors":[${raised.errors.map((one) => `{${wireText(one)}}`).join(',')}]` : '';
  return `["fail",${run.idJson},{${wireText(raised, params)}${errors},"frames":${JSON.stringify(framesOf(error))}},${run.fuelUsed}]`;
}

/** Params are the program's values: one that cannot be sent must not hide the error, nor may it be as large or deep as the program likes. */
const wireText = ({ code, message, params: own, status }: CascadeError, params = own): string =>
  `"code":${JSON.stringify(cutText(code, MOST_MESSAGE))},"message":${JSON.stringify(cutText(message, MOST_MESSAGE))},"params":${encodeInner(shownAll(params))},"status":${status}`;

const FRAME = /^\s*at (?:(.*?) \()?cascade:([^:)]*):(\d+):(\d+)\)?$/;
const MOST_FRAMES = 50;

/** The frames of emitted modules in an error's stack, innermost first. */
export function framesOf(error: unknown): Frame[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames: Frame[] = [];
  for (const line of stack.split('\n')) {
    const [, name = '', mod = '', row, column] = FRAME.exec(line) ?? [];
    if (row === undefined || frames.length >= MOST_FRAMES) continue;
    frames.push({ mod, line: Number(row), column: Number(column), name });
  }
  return frames;
}
