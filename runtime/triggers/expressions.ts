// Expressions of event conditions as composed closures: no code is generated, so a rule's text never reaches an eval of the host.
import type { ExpressionData } from '../../compiler/types.ts';
import { fail } from '../../stdlib/errors.ts';
import { add, div, eq, ge, gt, inArray, le, lt, mod, mul, ne, neg, not, pos, pow, sub, truth } from '../../stdlib/operators/index.ts';
import { decodeInner, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { elementOf, memberOf } from './members.ts';
import { geoAtHost, searchAtHost } from './search.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';

export type Evaluate = (context: EvaluationContext) => Value;

/** The kind of value that a variable holds: a whole event object, or an event's value. */
export type Binds = (variable: string) => 'event' | 'value' | null;

const BINARY: Readonly<Record<Extract<ExpressionData, { k: 'binary' }>['op'], (a: Value, b: Value) => Value>> = {
  '+': add,
  '-': sub,
  '*': mul,
  '/': div,
  '%': mod,
  '**': pow,
  '==': eq,
  '!=': ne,
  '<': lt,
  '<=': le,
  '>': gt,
  '>=': ge,
  in: inArray,
  regex: searchAtHost,
  geonear: geoAtHost('geonear'),
  geointersects: geoAtHost('geointersects'),
  geowithin: geoAtHost('geowithin'),
};

const UNARY: Readonly<Record<'+' | '-' | '!', (a: Value) => Value>> = { '+': pos, '-': neg, '!': not };

/** The constant of an expression, or undefined when it has none. */
export const constantOf = (data: ExpressionData): Value | undefined =>
  data.k === 'const' ? decodeInner(JSON.stringify(data.v)) : undefined;

export function compileExpression(data: ExpressionData, binds: Binds, outside: ConditionEnvironment): Evaluate {
  const compile = (inner: ExpressionData): Evaluate => compileExpression(inner, binds, outside);
  switch (data.k) {
    case 'const': {
      const value = constantOf(data) as Value;
      return () => value;
    }
    case 'path':
      return compilePath(data.root, data.p, binds);
    case 'unary': {
      const [operate, a] = [UNARY[data.op], compile(data.a)];
      return (context) => operate(a(context));
    }
    case 'binary': {
      const [operate, a, b] = [BINARY[data.op], compile(data.a), compile(data.b)];
      return (context) => operate(a(context), b(context));
    }
    case 'logical': {
      const [a, b] = [compile(data.a), compile(data.b)];
      return data.op === '&&' ? (context) => truth(a(context)) && truth(b(context)) : (context) => truth(a(context)) || truth(b(context));
    }
    case 'ternary': {
      const [condition, a, b] = [compile(data.c), compile(data.a), compile(data.b)];
      return (context) => (truth(condition(context)) ? a(context) : b(context));
    }
    case 'asked':
      return ({ asked }) => asked?.get(data.text) ?? null;
    case 'call':
      return compileCall(data.name, data.args.map(compile), outside);
    case 'array': {
      const items = data.items.map(compile);
      return (context) => items.map((item) => item(context));
    }
    case 'object': {
      const members = data.members.map(([name, value]) => [name, compile(value)] as const);
      return (context) => {
        const object: ObjectValue = {};
        for (const [name, value] of members) setOwn(object, name, value(context));
        return object;
      };
    }
    case 'index': {
      const [a, i] = [compile(data.a), compile(data.i)];
      return (context) => elementOf(a(context), i(context));
    }
  }
}

function compilePath(root: string, steps: readonly string[], binds: Binds): Evaluate {
  const bound = binds(root);
  if (bound === null) return () => null;
  const inPayload = bound === 'value' || steps[0] === 'value' || steps[0] === 'newValue';
  const rest = bound === 'value' || !inPayload ? steps : steps.slice(1);
  return (context) => {
    let value: Value = inPayload ? context.payload(root) : context.event(root);
    for (const step of rest) value = memberOf(value, step);
    return value;
  };
}

function compileCall(name: string, args: readonly Evaluate[], outside: ConditionEnvironment): Evaluate {
  return (context) => {
    const builtin = outside.builtin(name) ?? fail('cascade.lang.procedure.unknown', name);
    return builtin(...args.map((arg) => arg(context)));
  };
}
