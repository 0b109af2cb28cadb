// `log` (builtins.md 17): what a message becomes; where it goes is the driver's.
import { CascadeError } from '../errors.ts';
import { cutText, shown, text, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';

const LEVELS = { error: 40, warn: 30, info: 20, debug: 10, trace: 0 } as const;
const MOST_CHARACTERS = 32_768;

/** The text of a value; of one that has none, or too long or deep a one, that of what is shown of it: logging never fails a rule. */
function textOf(value: Value): string {
  try {
    return text(value);
  } catch (error) {
    if (error instanceof CascadeError) return text(shown(value));
    throw error;
  }
}

/** Each `{}` takes the next argument; `\{}` is a plain `{}`, `\\{}` a backslash and the argument. What is missing leaves `{}`. */
export function formatLogMessage(message: Value, args: Value): string {
  const values = args === null ? [] : Array.isArray(args) ? args : [args];
  let next = 0;
  const filled = textOf(message).replace(/(\\{0,2})\{\}/g, (place, backslashes: string) => {
    if (backslashes === '\\') return '{}';
    if (next >= values.length) return place;
    return (backslashes === '' ? '' : '\\') + textOf(values[next++] ?? null);
  });
  return filled.length > MOST_CHARACTERS ? `${cutText(filled, MOST_CHARACTERS - 1)}…` : filled;
}

export const logging: readonly Declaration[] = Object.entries(LEVELS).map(([name, level]) => ({
  call: `log.${name}(message: any|null, args?: any) => null`,
  forms: 'S',
  about: `Records a message of level ${name.toUpperCase()}; each {} takes the next of args.`,
  contents: true as const,
  ofRun: true as const,
  errors: ['cascade.lang.range'] as const,
  run: (context: BuiltinContext, message: Value, args: Value) => {
    if (context.logs(level)) context.log(level, formatLogMessage(message, args));
    return null;
  },
}));
