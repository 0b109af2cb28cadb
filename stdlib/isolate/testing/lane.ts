// A lane for tests: texts are compiled, loaded and run by the driver in this process; a function of the test plays the host.
import type { Compiled, CompiledProcedure, CompiledRule } from '../../../compiler/types.ts';
import { encodeInner, encodeShared, fromInner, type ObjectValue, type Value } from '../../values/index.ts';
import {
  createDriver,
  type Driver,
  type FrameSettings,
  type In,
  type Inner,
  type OpKind,
  type Out,
  type ProcedureInfo,
  type RunId,
  type StartOptions,
  type WireError,
} from '../index.ts';

/** What the host answers to an operation. */
export type Answer = { ok: Value } | { list: Value[] } | { error: WireError };
export type Host = (kind: string, payload: ObjectValue, nth: number) => Answer;
export interface Tools {
  compile(text: string): Compiled;
  /** The value of a script under a file name. */
  evaluate(script: string, name: string): unknown;
}

export interface Outcome {
  readonly ops: readonly { kind: string; payload: ObjectValue; site: string; nth: number; tail: boolean }[];
  readonly logs: readonly string[];
  readonly slices: number;
  readonly value: Value;
  readonly failure: Extract<Out, ['fail', ...unknown[]]>[2] | null;
  /** Every batch of out items, as text. */
  readonly outbox: string;
}

const OPTIONS: StartOptions = { at: 1000, seed: 'seed', fuel: 1_000_000, level: 0, namespace: 'n', username: 'u', resource: '/rules/r' };

export class TestLane {
  readonly driver: Driver = createDriver();
  readonly #tools: Tools;
  readonly #procedures = new Map<string, ProcedureInfo>();
  #loaded = 0;
  #frames = 0;
  #runs = 0;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Compiles and binds; a procedure can be called afterwards, with `more` about it from the host. @returns the program's id and the unit */
  load(text: string, more: Partial<ProcedureInfo> = {}): { program: string; unit: CompiledRule | CompiledProcedure } {
    const compiled = this.#tools.compile(text);
    if (!compiled.ok) throw new Error(compiled.diagnostics.map((d) => `${d.code} ${d.line}:${d.column} ${d.message}`).join('\n'));
    const { unit } = compiled;
    const mod = `m${this.#loaded}`;
    const program = `p${this.#loaded++}`;
    this.driver.define(mod, this.#tools.evaluate(unit.module.source, `cascade:${mod}`) as never);
    this.step(['bind', program, mod, JSON.parse(unit.module.constants) as unknown[]]);
    if (unit.kind === 'procedure') this.#procedures.set(unit.name, { ...infoOf(unit, program), ...more });
    return { program, unit };
  }

  /** Items in, items out; runs that ended together are told of one by one. */
  step(...items: In[]): Each[] {
    return eachOf(this.driver.step(JSON.stringify(items)));
  }

  /** What a program's run for an event begins with: its frame, and itself. */
  begin(id: string, program: string, event: Value, options: StartOptions, binds: FrameSettings['binds'] = 'event'): In[] {
    const { at, seed, fuel, resource, ...lasting } = options;
    return [
      ['settings', this.#frames, { ...lasting, binds }],
      ['frame', this.#frames, program, this.#frames, resource],
      ['runs', at, fuel, [id, this.#frames++, seed], [JSON.parse(encodeInner(event))]],
    ];
  }

  /** Runs a rule on an event, to its end. */
  rule(text: string, event: Value, host: Host = refuse, options: Partial<StartOptions> = {}): Outcome {
    const { program, unit } = this.load(text);
    const binds = unit.kind === 'rule' ? unit.triggers[0]?.binds : undefined;
    const id = `r${this.#runs++}`;
    return this.#drive(id, this.begin(id, program, event, { ...OPTIONS, ...options }, binds), host);
  }

  /** Calls a procedure from outside, to its end. */
  call(name: string, args: Value[], host: Host = refuse, options: Partial<StartOptions> = {}): Outcome {
    const id = `r${this.#runs++}`;
    return this.#drive(
      id,
      [['startProcedure', id, name, JSON.parse(encodeInner(args)) as unknown[], null, { ...OPTIONS, ...options }]],
      host,
    );
  }
  callNamed(name: string, named: ObjectValue, host: Host = refuse): Outcome {
    const id = `r${this.#runs++}`;
    return this.#drive(id, [['startProcedure', id, name, null, JSON.parse(encodeInner(named)) as Record<string, unknown>, OPTIONS]], host);
  }
  /** Loads one procedure `f` and calls it. */
  eval(body: string, args: Value[] = [], host: Host = refuse, options: Partial<StartOptions> = {}): Outcome {
    const params = args.map((_, index) => `p${index}`).join(', ');
    this.load(`PROCEDURE f${this.#loaded}(${params})\n${body}`);
    return this.call(`f${this.#loaded - 1}`, args, host, options);
  }

  #drive(id: string, first: In[], host: Host): Outcome {
    const found = { ops: [] as Outcome['ops'][number][], logs: [] as string[], slices: 0 };
    let batch = first;
    let outbox = '';
    let at = OPTIONS.at;
    for (;;) {
      const text = this.driver.step(JSON.stringify(batch));
      outbox += `${text}\n`;
      batch = [];
      for (const item of eachOf(text)) {
        if (item[0] === 'done') return { ...found, outbox, value: fromInner(item[2]), failure: null };
        if (item[0] === 'fail') return { ...found, outbox, value: null, failure: item[2] };
        if (item[0] === 'log') found.logs.push(`${item[3]} ${item[4]}`);
        else if (item[0] === 'resolve') batch.push(['procedure', item[2], this.#procedures.get(item[2]) ?? null]);
        else if (item[0] === 'slice') {
          found.slices++;
          batch.push(['go', id, ++at]);
        } else if (item[0] === 'op') {
          const [, , site, nth, kind, payload, tail] = item;
          const tree = fromInner(payload) as ObjectValue;
          found.ops.push({ kind, payload: tree, site, nth, tail });
          batch.push(answerItem(id, host(kind, tree, nth), ++at));
        }
      }
      if (batch.length === 0) throw new Error(`the run neither ended nor asked: ${text}`);
    }
  }
}

/** With the parsed values in the places of their texts' lengths. */
export type Each =
  | Exclude<Out, ['ended' | 'op' | 'done', ...unknown[]]>
  | ['op', RunId, string, number, OpKind, Inner, boolean]
  | ['done', RunId, Inner, number];

function eachOf(text: string): Each[] {
  const [items = '', texts = ''] = text.split('\n');
  let at = 0;
  const next = (length: number): Inner => JSON.parse(texts.slice(at, (at += length)));
  return (JSON.parse(items) as Out[]).flatMap((item): Each[] => {
    if (item[0] === 'ended') return endsOf(item[1]);
    if (item[0] === 'done') return [['done', item[1], next(item[2]), item[3]]];
    if (item[0] === 'op') return [['op', item[1], item[2], item[3], item[4], next(item[5]), item[6]]];
    return [item];
  });
}

function endsOf(ranges: readonly (string | number)[]): Each[] {
  const ends: Each[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const [first, count] = [ranges[i] as string | number, ranges[i + 1] as number];
    for (let n = 0; n < count; n++) ends.push(['done', typeof first === 'number' ? first + n : first, null, 0]);
  }
  return ends;
}

function answerItem(id: string, answer: Answer, at: number): In {
  if ('error' in answer) return ['err', id, answer.error, at];
  const wire = (value: Value): unknown => JSON.parse(encodeShared(value));
  return 'list' in answer ? ['list', id, answer.list.map(wire), at] : ['ok', id, wire(answer.ok), at];
}

function refuse(kind: string): Answer {
  return { error: { code: 'test.refused', message: `no ${kind} here`, params: [], status: 400 } };
}

function infoOf(unit: CompiledProcedure, program: string): ProcedureInfo {
  const { name, parameters, returns, serviceName, state } = unit;
  return { name, program, private: unit.private, service: serviceName, state, parameters: [...parameters], returns };
}
