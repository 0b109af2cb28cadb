// The log of the service on standard error: JSON lines for programs, or text for people at a terminal.
import { styleText } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';

export type LogFormat = 'json' | 'text';

/** Bound of what waits for room where standard error is a file on a full disk; further lines are dropped. */
const MOST_UNWRITTEN = 1_048_576;

/** Standard error for a log: that a line cannot be written there ends nothing. It is tried again with the next one. */
export function errorOutput(): DestinationStream {
  const to = pino.destination({ dest: 2, sync: true, maxLength: MOST_UNWRITTEN });
  to.on('error', () => undefined);
  return to;
}

/** @param format absent: text where standard error is a terminal */
export function openLog(level: string, format: LogFormat | undefined): Logger {
  const to = errorOutput();
  if ((format ?? (process.stderr.isTTY ? 'text' : 'json')) === 'json') return pino({ level }, to);
  const colors = process.stderr.isTTY && process.env['NO_COLOR'] === undefined;
  return pino({ level, base: null }, { write: (line) => void to.write(lineOf(line, colors)) });
}

/** A line of the log as text: the time of day, the level where it is not the usual one, the message, and its fields. */
export function lineOf(json: string, colors: boolean): string {
  const { level, time, msg, err, ...rest } = JSON.parse(json) as Line;
  const name = pino.levels.labels[level] ?? String(level);
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  const tone = level >= 50 ? 'red' : level >= 40 ? 'yellow' : 'dim';
  const about = Object.entries(rest).map(
    ([key, value]) => `${shown(key)}=${shown(typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value))}`,
  );
  const parts = [
    paint('dim', new Date(time).toTimeString().slice(0, 8)),
    ...(name === 'info' ? [] : [paint(tone, `${name}:`)]),
    shown(msg ?? err?.message ?? ''),
    ...(about.length > 0 ? [paint('dim', `(${about.join(', ')})`)] : []),
  ];
  const stack = (err?.stack ?? err?.message ?? '').split('\n').map((one) => `    ${shown(one)}`);
  const trace = err ? `${paint('dim', stack.join('\n'))}\n` : '';
  return `${parts.join(' ')}\n${trace}`;
}

/** Text that clients may have given: neither may it command the terminal nor begin a line of its own. */
const shown = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${(found.codePointAt(0) as number).toString(16)}}`);

interface Line extends Record<string, unknown> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}
