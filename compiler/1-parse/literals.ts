// Literals (language.md 1.1): numbers with their ranges, intervals, arrays, objects.
import type { ArrayLiteral, Expression, IntegerLiteral, IntervalLiteral, ObjectLiteral, ObjectMember, RealLiteral } from '../ast.ts';
import { type Cursor, quoted } from './cursor.ts';
import { UNIT_MS } from './keywords.ts';
import { INTEGER, STRING } from './tokens.ts';

const MOST = 2n ** 63n - 1n;
const LEAST_DIGITS = '9223372036854775808';

/** Digits to their value; what is past 64 bits is told of and read as 0. */
export function integerValue(p: Cursor, digits: string): bigint {
  const significant = digits.replace(/^0+(?=\d)/, '');
  const value = significant.length > 19 ? MOST + 1n : BigInt(significant);
  if (value <= MOST) return value;
  p.found.report(p.here(), 'cascade.lang.literal.range', digits.length > 40 ? `${digits.slice(0, 40)}…` : digits);
  return 0n;
}

/** `-9223372036854775808`: only with its sign is it an Integer. */
export const isLeastInteger = (p: Cursor): boolean =>
  p.at('-') && p.kind(1) === INTEGER && p.text(1).endsWith(LEAST_DIGITS) && /^0*$/.test(p.text(1).slice(0, -LEAST_DIGITS.length));

export function leastInteger(p: Cursor): IntegerLiteral {
  const start = p.start();
  p.take();
  p.take();
  return p.node(start, { type: 'Integer', value: -MOST - 1n });
}

/** An Integer, or with a unit after it on the same line an interval. */
export function integerOrInterval(p: Cursor): IntegerLiteral | IntervalLiteral {
  const start = p.start();
  const value = integerValue(p, p.text());
  const unit = p.isWord(1) && !p.isFresh(1) ? UNIT_MS.get(p.text(1)) : undefined;
  p.take();
  if (unit === undefined) return p.node(start, { type: 'Integer', value });
  p.take();
  if (p.kind() === INTEGER && !p.isFresh() && UNIT_MS.has(p.text(1)))
    p.fail('an interval has one unit', 'intervals are added: 1 hour + 30 minutes');
  const interval = p.node(start, { type: 'Interval', milliseconds: value * unit });
  if (interval.milliseconds <= MOST) return interval;
  p.found.report(interval, 'cascade.lang.literal.range', `${value} ${unit === 1n ? 'milliseconds' : `times ${unit} milliseconds`}`);
  return { ...interval, milliseconds: 0n };
}

/** `n seconds`, `5 months`: a unit that follows no literal, or is none. Told of and read over. */
export function strayUnit(p: Cursor, operand: Expression): void {
  if (!p.isWord() || p.isFresh() || p.isPlainName()) return;
  const isUnit = UNIT_MS.has(p.text());
  if (!isUnit && !(operand.type === 'Integer' && /^(month|year)s?$/.test(p.text()))) return;
  const hint = isUnit ? `an interval is an Integer literal with its unit; else write n * 1 ${p.text()}` : 'weeks are the largest unit';
  p.soft(p.here(), `${quoted(p.written())} cannot stand here`, hint);
  p.take();
}

export function real(p: Cursor): RealLiteral {
  const start = p.start();
  const value = Number(p.text());
  if (!Number.isFinite(value)) p.found.report(p.here(), 'cascade.lang.literal.range', p.text().slice(0, 40));
  p.take();
  return p.node(start, { type: 'Real', value: Number.isFinite(value) ? value : 0 });
}

export function array(p: Cursor): ArrayLiteral {
  const start = p.start();
  const elements: Expression[] = [];
  p.group(
    '[',
    () => {
      while (!p.at(']')) {
        elements.push(p.grammar.expression(p));
        if (!p.at(']') && !p.accept(',')) p.missing("',' or ']'");
      }
    },
    () => undefined,
  );
  return p.node(start, { type: 'Array', elements });
}

export function object(p: Cursor): ObjectLiteral {
  const start = p.start();
  const members: ObjectMember[] = [];
  p.group(
    '{',
    () => {
      while (!p.at('}')) {
        members.push(member(p));
        if (!p.at('}') && !p.accept(',')) p.missing("',' or '}'");
      }
    },
    () => undefined,
  );
  return p.node(start, { type: 'Object', members });
}

function member(p: Cursor): ObjectMember {
  const start = p.start();
  const keySpan = p.here();
  const isString = p.kind() === STRING;
  if (!p.isWord() && !isString) p.missing('a key', 'a key is a name or a String, never computed');
  const key = isString ? p.text() : p.written();
  p.take();
  if ((p.at(',') || p.at('}')) && !isString) {
    p.soft(keySpan, `the key ${quoted(key)} has no value`, `write ${key}: ${key}`);
    return p.node(start, { type: 'ObjectMember', key, keySpan, value: { type: 'Null', ...keySpan } });
  }
  if (p.at('=')) {
    p.soft(p.here(), "a key and its value are joined by ':'", 'write {key: value}');
    p.take();
  } else p.expect(':', 'an object is written {key: value}; a block belongs to an IF, a loop or a TRY');
  const value = p.grammar.expression(p);
  return p.node(start, { type: 'ObjectMember', key, keySpan, value });
}
