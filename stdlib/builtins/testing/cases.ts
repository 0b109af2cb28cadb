// Cases of built-ins as data: name, arguments, result or error. Both forms of a call must agree.
import { expect, test } from 'vitest';
import { CascadeError } from '../../errors.ts';
import { deepCopy, LocalValue, parseDateTime, parseDecimal, text, type Value } from '../../values/index.ts';
import type { BuiltinContext } from '../context.ts';
import { isOfArguments } from '../declaration.ts';
import { lookup } from '../index.ts';

/** What an example expects instead of a value. */
export interface Refusal {
  error: string;
  /** Looked at where they are given. */
  params?: readonly Value[];
}
export type Case = readonly [name: string, args: readonly Value[], expected: Value | Refusal];

export class TestSequence extends LocalValue {
  readonly typeName = 'Sequence';
  readonly elements: Iterable<Value>;
  constructor(elements: Iterable<Value>) {
    super();
    this.elements = elements;
  }
}

/** A context that records; its clock stands, its dice give `random`. */
export function testContext(random = 0.5): BuiltinContext & { charged: number; logged: [level: number, message: string][] } {
  const context = {
    charged: 0,
    logged: [] as [number, string][],
    now: () => 1_772_895_845_067,
    random: () => random,
    uuid: () => '00000000-0000-4000-8000-000000000000',
    sequence: (elements: Iterable<Value>) => new TestSequence(elements),
    merge: (labelled: readonly (readonly [string, Value])[]) =>
      new TestSequence(labelled.flatMap(([label, list]) => (Array.isArray(list) ? list : [list]).map((element) => ({ [label]: element })))),
    patternSteps: () => 100_000,
    spend: () => undefined,
    charge: (bytes: number) => {
      context.charged += bytes;
    },
    log: (level: number, message: string) => {
      context.logged.push([level, message]);
    },
    logs: () => true,
    warnOnce: (_: string, message: string) => {
      context.logged.push([30, message]);
    },
  };
  return context;
}

export const date = (iso: string): Value => parseDateTime(iso);
export const decimal = (digits: string): Value => parseDecimal(digits);

/** The value, or its error. */
export function outcome(run: () => Value): Value | Refusal {
  try {
    return run();
  } catch (error) {
    if (error instanceof CascadeError) return { error: error.code };
    throw error;
  }
}

/** The same with the params of the error. */
function refusal(run: () => Value): Value | Refusal {
  try {
    return run();
  } catch (error) {
    if (error instanceof CascadeError) return { error: error.code, params: error.params };
    throw error;
  }
}

/** One test a row, named by its place in the specification. What it raises is declared. */
export function expectCases(section: string, cases: readonly Case[]): void {
  for (const [name, args, expected] of cases) {
    test(`${section}: ${name}(${args.map(brief).join(', ')}) is ${brief(expected as Value)}`, () => {
      const builtin = lookup(name);
      if (!builtin) throw new Error(`there is no built-in ${name}`);
      const copies = (): Value[] => args.map((value) => deepCopy(value));
      const { forms } = builtin.info;
      expect(forms).toMatch(/^(?:F|M|FM|S)$/);
      const wanted = isRefusal(expected) ? expected : null;
      if (wanted)
        expect([name, wanted.error, isOfArguments(wanted.error) || declares(name, wanted.error)]).toEqual([name, wanted.error, true]);
      const result = wanted?.params ? refusal : outcome;
      if (/[FS]/.test(forms)) expect(result(() => builtin.call(testContext(), copies()))).toStrictEqual(expected);
      const methodRefusal = args[0] === null || args.length === 0; // no receiver
      if (forms.includes('M') && !methodRefusal) {
        const found = result(() => builtin.callMethod(testContext(), copies()));
        if (!isUnknownMethod(found, expected)) expect(found).toStrictEqual(expected);
      }
    });
  }
}

const isRefusal = (expected: Value | Refusal): expected is Refusal =>
  typeof expected === 'object' && expected !== null && typeof (expected as Refusal).error === 'string';

/** The codes of `exception` and `rethrow` are the program's. */
const declares = (name: string, code: string): boolean =>
  /^(?:exception|rethrow)$/.test(name) || lookup(name)?.overloads.some(({ errors }) => errors.includes(code as never)) === true;

/** A wrong receiver is a wrong type in function form, an unknown method in method form. */
function isUnknownMethod(result: Value | Refusal, expected: Value | Refusal): boolean {
  const code = (v: Value | Refusal): unknown => (v as Refusal | null)?.error;
  return code(result) === 'cascade.builtin.method.unknown' && code(expected) === 'cascade.procedure.parameter.type';
}

function brief(v: Value): string {
  try {
    return typeof v === 'string' ? JSON.stringify(v) : text(v);
  } catch {
    return typeof v;
  }
}
