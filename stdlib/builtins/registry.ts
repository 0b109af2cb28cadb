// All built-ins by name: from one declaration each come the checks of a call, the compiler's table and the documentation.
// A name may have several declarations (`size` of a String, a List …): the first argument's type chooses.
import type { BuiltinInfo, BuiltinParameter, BuiltinTable } from '../../compiler/types.ts';
import { fail } from '../errors.ts';
import { getOwn, LocalValue, type ObjectValue, typeOf, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration, DeclaredCode, HostDeclaration, Implementation, PureDeclaration } from './declaration.ts';
import { nameAt, type ParameterSpec, parseSignature, positionOf } from './signature.ts';
import { type Accept, acceptor, fitting, namedTypes } from './types.ts';

/** One declaration, ready to be called. */
export interface Overload {
  readonly name: string;
  readonly forms: Declaration['forms'];
  readonly params: readonly ParameterSpec[];
  readonly result: string;
  readonly about: string;
  readonly errors: readonly DeclaredCode[];
  readonly contents: boolean;
  readonly ofRun: boolean;
  readonly mutates: boolean;
  /** Of a built-in that the host answers: gives the checked arguments. */
  readonly run: Implementation;
  readonly host: HostDeclaration | null;
  /** For each parameter what its argument becomes. */
  readonly accepts: readonly Accept[];
  /** Whether the first argument fits as it is. */
  readonly fits: (first: Value) => boolean;
}

/** One name that programs can call. */
export class Builtin {
  readonly info: BuiltinInfo;
  readonly overloads: readonly Overload[];
  /** The declaration by which the host answers it; null for one that is answered here, be it only for some receivers. */
  readonly host: HostDeclaration | null;
  readonly #first: Overload;
  readonly #single: boolean;

  constructor(overloads: readonly Overload[]) {
    const [first] = overloads;
    if (!first) throw new Error('a built-in has a declaration');
    this.overloads = overloads;
    this.#first = first;
    this.#single = overloads.length === 1;
    const asks = overloads.filter(({ host }) => host !== null).length;
    this.host = asks === overloads.length ? first.host : null;
    this.info = {
      name: first.name,
      forms: [...new Set(overloads.flatMap((overload) => [...overload.forms]))].join(''),
      params: mergedParameters(overloads),
      ...(overloads.some(({ contents }) => contents) ? { contents: true } : {}),
      effect: this.host ? 'suspends' : 'pure',
      ...(overloads.some(({ ofRun }) => ofRun) ? { ofRun: true } : {}),
      ...(asks > 0 && !this.host ? { maySuspend: true } : {}),
      ...(this.host ? {} : askedFor(overloads)),
    };
  }

  /** `f(a, b)`. */
  call(context: BuiltinContext, args: readonly Value[]): Value {
    const overload = this.#single ? this.#first : (this.#choose(args[0] ?? null) ?? this.#first);
    return run(context, overload.host ? this.#first : overload, args, this);
  }

  /** `a.f(b)`, the receiver first in `args`. */
  callMethod(context: BuiltinContext, args: readonly Value[]): Value {
    return run(context, this.#plain(this.#receivedBy(args[0] ?? null), args), args, this);
  }

  /** `f(p: a, q: b)`, or `receiver.f(q: b)` where a receiver is given; it is not among the names then. */
  callNamed(context: BuiltinContext, named: ObjectValue, receiver?: Value): Value {
    const { args } = this.#named(named, receiver, false);
    return receiver !== undefined ? this.callMethod(context, args) : this.call(context, args);
  }

  /**
   * A call for which the host may have to be asked: with what, or the value itself.
   * @param isMethod the receiver is the first of `args`
   */
  ask(
    context: BuiltinContext,
    args: readonly Value[],
    named: ObjectValue | null,
    isMethod: boolean,
  ): { readonly host: HostDeclaration; readonly args: Value[] } | { readonly value: Value } {
    const chosen = named === null ? null : this.#named(named, isMethod ? (args[0] ?? null) : undefined, true);
    const given = chosen?.args ?? args;
    const overload = isMethod ? this.#receivedBy(given[0] ?? null) : (chosen?.overload ?? this.#first);
    const result = run(context, overload, given, this);
    return overload.host ? { host: overload.host, args: result as Value[] } : { value: result };
  }

  /** The declaration for a receiver. */
  #receivedBy(receiver: Value): Overload {
    if (receiver === null) return fail('cascade.lang.null', this.#first.params[0]?.name ?? 'receiver');
    const overload = this.#single && this.#first.fits(receiver) ? this.#first : this.#choose(receiver);
    if (overload) return overload;
    refuseSequence(this, receiver);
    return fail('cascade.builtin.method.unknown', this.info.name, typeOf(receiver));
  }

  /** Where nothing can be asked (a row of a SELECT, a condition) a shared object has no methods. */
  #plain(overload: Overload, args: readonly Value[]): Overload {
    return overload.host ? fail('cascade.builtin.method.unknown', this.info.name, typeOf(args[0] ?? null)) : overload;
  }

  /** The declaration that the arguments suit, and they in the order of its parameters. @param mayAsk whether it may be the host's */
  #named(named: ObjectValue, receiver: Value | undefined, mayAsk: boolean): { overload: Overload; args: Value[] } {
    const names = Object.keys(named);
    const method = receiver !== undefined;
    const knows = ({ params }: Overload): boolean => names.every((name) => positionOf(params, name) >= 0);
    const takes = (overload: Overload): boolean => {
      if (overload.host && !method && !mayAsk) return false;
      const [first] = overload.params;
      return first === undefined || overload.fits(method ? receiver : getOwn(named, first.name));
    };
    // The argument by whose name the host is asked is that, whatever its value is.
    const isNamed = ({ host, params: [first] }: Overload): boolean =>
      host !== null && mayAsk && !method && first !== undefined && Object.hasOwn(named, first.name);
    const suits = (each: Overload): boolean => knows(each) && (takes(each) || isNamed(each));
    const overload = this.overloads.find(suits) ?? this.overloads.find(takes) ?? this.#first;
    const unknown = names.find((name) => positionOf(overload.params, name) < (method ? 1 : 0));
    if (unknown !== undefined) fail('cascade.procedure.argument.unknown', this.info.name, unknown);
    const args = overload.params.flatMap(({ name, optional, rest }, i) => {
      if (method && i === 0) return [receiver];
      if (rest) return this.#furtherNamed(named, overload.params);
      if (!Object.hasOwn(named, name) && !optional) fail('cascade.procedure.parameter.missing', this.info.name, name);
      return [getOwn(named, name)];
    });
    return { overload, args };
  }

  /** What a rest parameter takes, by the numbers of the names: none may be left out. */
  #furtherNamed(named: ObjectValue, params: readonly ParameterSpec[]): Value[] {
    const from = params.length - 1;
    const further: Value[] = [];
    for (const name of Object.keys(named)) {
      const at = positionOf(params, name);
      if (at >= from) further[at - from] = getOwn(named, name);
    }
    for (let i = 0; i < further.length; i++)
      if (!(i in further)) return fail('cascade.procedure.parameter.missing', this.info.name, nameAt(params, from + i));
    return further;
  }

  /** The declaration whose first parameter takes the value: exactly, else by widening. */
  #choose(first: Value): Overload | undefined {
    if (first === null) return this.overloads.find(({ params }) => acceptsNull(params[0]));
    return this.overloads.find(({ fits }) => fits(first)) ?? this.overloads.find(({ accepts }) => accepts[0]?.(first) !== undefined);
  }
}

function acceptsNull(parameter: ParameterSpec | undefined): boolean {
  return parameter !== undefined && (parameter.optional || parameter.types.includes('null'));
}

/** The call with its arguments checked (builtins.md 0.1, 0.2). The first four go without an array: most built-ins have no more. */
function run(context: BuiltinContext, overload: Overload, args: readonly Value[], builtin: Builtin): Value {
  const { params, name } = overload;
  const count = params.length;
  const rest = count > 0 && (params[count - 1] as ParameterSpec).rest;
  if (args.length > count && !rest) fail('cascade.procedure.argument.count', name, count + 1);
  const call = overload.run as (context: BuiltinContext, ...args: unknown[]) => Value;
  if (rest) {
    const more: unknown[] = [];
    if (count === 2) {
      // Nearly all of them are `f(a, …more)`.
      const first = checked(overload, 0, args, builtin);
      for (let i = 1; i < args.length; i++) more.push(checked(overload, 1, args, builtin, i));
      return call(context, first, more);
    }
    const fixed: unknown[] = [];
    for (let i = 0; i < count - 1; i++) fixed.push(checked(overload, i, args, builtin));
    for (let i = count - 1; i < args.length; i++) more.push(checked(overload, count - 1, args, builtin, i));
    return call(context, ...fixed, more);
  }
  if (count === 0) return call(context);
  const first = checked(overload, 0, args, builtin);
  if (count === 1) return call(context, first);
  const second = checked(overload, 1, args, builtin);
  if (count === 2) return call(context, first, second);
  const third = checked(overload, 2, args, builtin);
  if (count === 3) return call(context, first, second, third);
  const fourth = checked(overload, 3, args, builtin);
  if (count === 4) return call(context, first, second, third, fourth);
  return call(context, first, second, third, fourth, ...params.slice(4).map((_, i) => checked(overload, i + 4, args, builtin)));
}

/** The argument at `position` in the form that parameter `index` wants, or its error. */
function checked(overload: Overload, index: number, args: readonly Value[], builtin: Builtin, position = index): unknown {
  const arg = position < args.length ? (args[position] ?? null) : null;
  if (arg !== null) {
    const accepted = (overload.accepts[index] as Accept)(arg);
    if (accepted !== undefined) return accepted;
    if (position === 0) refuseSequence(builtin, arg);
  }
  const { name, types, optional, fallback, rest } = overload.params[index] as ParameterSpec;
  if (arg !== null) {
    const expected = types.filter((type) => type !== 'null').join(' or ');
    return fail('cascade.procedure.parameter.type', overload.name, name, expected, typeOf(arg));
  }
  if (optional) return position < args.length && types.includes('null') ? null : fallback;
  if (position >= args.length && !rest) fail('cascade.procedure.parameter.missing', overload.name, name);
  return types.includes('null') ? null : fail('cascade.lang.null', name);
}

/** A sequence is no List: those built-ins that take no sequence say so with a code of its own (builtins.md 8). */
function refuseSequence({ info }: Builtin, value: Value): void {
  if (value instanceof LocalValue && value.typeName === 'Sequence') fail('cascade.lang.sequence.operation', info.name);
}

/** A declaration that the host answers beside others that are answered here: as a method its receiver chooses it, else an argument's name. */
function askedFor(overloads: readonly Overload[]): Pick<BuiltinInfo, 'asksFor'> {
  const asksFor = overloads.flatMap(({ host, forms, params }) => (host && forms !== 'M' && params[0] ? params[0].name : []));
  return asksFor.length > 0 ? { asksFor } : {};
}

/** A parameter a position: where declarations differ, what any of them allows. */
function mergedParameters(overloads: readonly Overload[]): BuiltinParameter[] {
  const longest = overloads.reduce((a, b) => (b.params.length > a.params.length ? b : a));
  return longest.params.map(({ name }, i) => {
    const here = overloads.flatMap(({ params }) => params[i] ?? []);
    const any = (holds: (parameter: ParameterSpec) => boolean): boolean => here.some(holds);
    const takesSequence = ({ types }: ParameterSpec): boolean => types.includes('Sequence');
    return {
      name,
      optional: here.length < overloads.length || any(({ optional }) => optional),
      rest: any(({ rest }) => rest),
      lambda: any(({ types }) => types.includes('Function')),
      sequence: any(takesSequence),
      ...(any(takesSequence) && !here.every(takesSequence) && { marksSequence: true }),
    };
  });
}

/** All built-ins. A name's declarations are read when it is first asked for: an isolate knows hundreds and needs a few. */
export class Registry {
  readonly #declared = new Map<string, Declaration[]>();
  readonly #ready = new Map<string, Builtin>();

  constructor(areas: readonly (readonly Declaration[])[]) {
    for (const area of areas) {
      for (const declaration of area) {
        const name = declaration.call.slice(0, declaration.call.indexOf('('));
        const before = this.#declared.get(name);
        if (before) before.push(declaration);
        else this.#declared.set(name, [declaration]);
      }
    }
  }

  get(name: string): Builtin | undefined {
    let builtin = this.#ready.get(name);
    if (builtin) return builtin;
    const declarations = this.#declared.get(name);
    if (!declarations) return undefined;
    builtin = new Builtin(declarations.map(overloadOf));
    this.#ready.set(name, builtin);
    return builtin;
  }

  all(): Builtin[] {
    return [...this.#declared.keys()].map((name) => this.get(name) as Builtin);
  }

  table(): BuiltinTable {
    return new Map(this.all().map(({ info }) => [info.name, info]));
  }
}

/** A signature or type that does not exist is a mistake of ours and throws. */
function overloadOf(declaration: Declaration): Overload {
  const { call, forms, about, errors = [], contents = false, ofRun = false } = declaration;
  const { name, params, result } = parseSignature(call);
  const host = 'effect' in declaration ? declaration : null;
  const run = 'run' in declaration ? spending(declaration) : gathered;
  const mutates = 'run' in declaration && declaration.mutates === true;
  const [first] = params;
  const fits = first ? fitting(first.types) : (): boolean => false;
  return {
    name,
    forms,
    params: params.map((parameter) => ({ ...parameter, types: parameter.types.flatMap(namedTypes) })),
    result,
    about,
    errors,
    contents,
    ofRun,
    mutates,
    run,
    host,
    accepts: params.map(({ types }) => acceptor(types)),
    fits,
  };
}

/** What takes long is told before it begins. */
function spending({ run, turns }: PureDeclaration): Implementation {
  if (!turns) return run;
  return (context, ...args) => {
    context.spend(turns(...args));
    return run(context, ...args);
  };
}

const gathered: Implementation = (_context, ...args: Value[]) => args;
