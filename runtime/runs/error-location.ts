// Maps errors to lines and columns of the rule's or procedure's text.

import { originalPosition } from '../../compiler/index.ts';
import type { Frame, WireError } from '../../stdlib/isolate/index.ts';
import type { RunError, RunHost } from './types.ts';
import type { Executable } from '../programs/index.ts';

/** The running program. Its map is looked up first: rules that differ only in literals share a module, but not their text. */
export type Own = Pick<Executable, 'resource'> & Partial<Pick<Executable, 'map' | 'program'>>;

/** Maps the frames of emitted code back. Frames of unknown modules are left out. */
export function locate(error: WireError & { frames?: readonly Frame[] }, own: Own, host: Pick<RunHost, 'mapOf'>): RunError {
  const stack: { resource: string; line: number; column: number }[] = [];
  for (const frame of error.frames ?? []) {
    const known =
      frame.mod === own.program?.module.hash && own.map !== undefined ? { map: own.map, resource: own.resource } : host.mapOf(frame.mod);
    const place = known && originalPosition(known.map, frame.line, frame.column);
    if (known && place) stack.push({ resource: known.resource, line: place.line, column: place.column });
  }
  const [top] = stack;
  return {
    code: error.code,
    message: error.message,
    params: error.params,
    status: error.status,
    line: top?.line ?? null,
    column: top?.column ?? null,
    stack,
  };
}

/** `code: message (line 3, column 5)`, as it stands in logs. */
export function describe(error: RunError): string {
  const [top, ...callers] = error.stack;
  const where = top ? ` (line ${top.line}, column ${top.column}${callers.length > 0 ? ` of ${top.resource}` : ''})` : '';
  const called = callers.map((caller) => `, called in line ${caller.line} of ${caller.resource}`).join('');
  return `${error.code}: ${error.message}${where}${called}`;
}
