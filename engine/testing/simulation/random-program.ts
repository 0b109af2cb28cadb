// Random programs with any order and nesting of statements, and a model of the store on which they are run again, alone: the final state
// must be the result of some order of whole runs. Reads and changes of the common counter commute; each number that runs draw is given
// once.

import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import type { Program, Request } from './sandbox.ts';
import type { World } from './world.ts';

export const HOT = { name: 'hot' };
export const TICKETS = { name: 'tickets' };
/** A key that exists from the beginning. */
export const TAKEN = 'taken';

type Statement =
  | { readonly op: 'insert' | 'count' | 'carry' | 'draw' | 'publish' | 'chain' | 'rows' | 'erase' | 'walk' | 'refuse'; readonly id: number }
  | { readonly op: 'loop' | 'guard' | 'lock'; readonly id: number; readonly body: readonly Statement[] };

const SIMPLE = ['insert', 'count', 'carry', 'draw', 'publish', 'rows', 'erase', 'walk', 'refuse'] as const;
const NESTING = ['loop', 'guard', 'lock'] as const;
const MOST_DEPTH = 3;
const TURNS = 2;

/** @param mayChain whether it may insert instances that start another rule */
export function randomProgram(world: World, mayChain: boolean): readonly Statement[] {
  let id = 0;
  const body = (depth: number, isLocked: boolean): Statement[] =>
    Array.from({ length: 1 + Math.floor(world.random() * (depth === 0 ? 4 : 2)) }, () => {
      id++;
      const nests = depth < MOST_DEPTH && world.chance(0.3);
      const op = nests ? world.pick(NESTING) : 'insert';
      // One lock at a time: two in both orders are an error of the program.
      if (nests && !(op === 'lock' && isLocked)) return { op: op as 'loop', id, body: body(depth + 1, isLocked || op === 'lock') };
      return { op: mayChain && world.chance(0.1) ? 'chain' : world.pick(SIMPLE), id };
    });
  return body(0, false);
}

/** The text of a program in the report of a failing seed. */
export const textOf = (statements: readonly Statement[]): string =>
  statements.map((one) => ('body' in one ? `${one.op}(${textOf(one.body)})` : one.op)).join(' ');

const ask = (request: Request): Request => request;

export const programOfStatements = (statements: readonly Statement[]): Program =>
  function* (event) {
    yield* block(statements, `${String(event['tag'])}~`);
  };

function* block(statements: readonly Statement[], at: string): Generator<Request, void, Value> {
  for (const one of statements) {
    const tag = `${at}/${one.id}`;
    if (one.op === 'loop') for (let turn = 0; turn < TURNS; turn++) yield* block(one.body, `${tag}.${turn}`);
    else if (one.op === 'guard')
      try {
        yield* block(one.body, tag);
      } catch {
        yield* effect(`${tag} caught`);
      }
    else if (one.op === 'lock') yield* locked(one.body, tag);
    else yield* SIMPLE_STATEMENTS[one.op](tag);
  }
}

function* locked(body: readonly Statement[], tag: string): Generator<Request, void, Value> {
  yield ask({ kind: 'lock', type: 'wild' });
  try {
    yield* block(body, tag);
  } finally {
    yield ask({ kind: 'unlock', type: 'wild' });
  }
}

function* effect(tag: string, n: Value = 1): Generator<Request, void, Value> {
  yield ask({ kind: 'insert', type: 'Effect', value: { tag, n } });
}

type Simple = Exclude<Statement['op'], (typeof NESTING)[number]>;

const SIMPLE_STATEMENTS: Readonly<Record<Simple, (tag: string) => Generator<Request, void, Value>>> = {
  *insert(tag) {
    yield* effect(`${tag} inserted`);
  },
  *count() {
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
  },
  *carry(tag) {
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    yield* effect(`${tag} carried`);
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
  },
  *draw() {
    // An effect contains the value that was read: two runs that had read the same would draw the same number.
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: TICKETS })) as ObjectValue;
    yield ask({ kind: 'set', type: 'Counter', where: TICKETS, value: { n: Number(counter['n']) + 1 } });
    yield* effect('ticket', counter['n']);
  },
  *publish(tag) {
    yield ask({ kind: 'publish', type: '/told', value: { tag } });
  },
  *chain(tag) {
    yield ask({ kind: 'insert', type: 'Next', value: { tag } });
  },
  *rows(tag) {
    yield ask({ kind: 'insertMany', type: 'Row', value: [0, 0, 0].map((v) => ({ owner: tag, v })) });
    const changed = yield ask({ kind: 'updateMany', type: 'Row', where: { owner: tag, v: 0 }, value: { v: 1 } });
    yield* effect(`${tag} changed`, changed);
  },
  *erase(tag) {
    yield ask({ kind: 'insertMany', type: 'Row', value: [0, 0, 0].map((v) => ({ owner: `${tag} gone`, v })) });
    const gone = yield ask({ kind: 'deleteMany', type: 'Row', where: { owner: `${tag} gone` } });
    yield* effect(`${tag} erased`, gone);
  },
  *walk(tag) {
    yield ask({ kind: 'insertMany', type: 'Row', value: [10, 11].map((v) => ({ owner: tag, v })) });
    const rows = (yield ask({ kind: 'list', type: 'Row', where: { owner: tag } })) as ObjectValue[];
    for (const row of rows) {
      yield* effect(`${tag} met ${String(row['v'])}`);
      yield ask({ kind: 'set', type: 'Row', where: { owner: tag, v: row['v'] as Value }, value: { v: Number(row['v']) + 100 } });
    }
  },
  *refuse(tag) {
    yield* effect(`${tag} tries`);
    yield ask({ kind: 'insert', type: 'Once', value: { key: TAKEN } });
  },
};

/** The results of runs, one after the other. */
export interface Model {
  /** Adds a row, by the checker's name for it. */
  readonly add: (row: string, times?: number) => void;
  readonly chained: (tag: string) => void;
  /** How many numbers were drawn. */
  drawn: number;
}

/** Runs a program alone, on the model. */
export function rerun(statements: readonly Statement[], tag: string, model: Model): void {
  const rows: { owner: string; v: number; version: number }[] = [];
  const run = programOfStatements(statements)({ tag });
  let next = run.next();
  try {
    while (!next.done) next = answer(run, next.value, rows, model);
  } catch {
    // The program has failed, as it does in the world.
  }
  for (const { owner, v, version } of rows) model.add(`Row ${owner} ${v} v${version}`);
}

function answer(
  run: ReturnType<Program>,
  { kind, type, value, where }: Request,
  rows: { owner: string; v: number; version: number }[],
  model: Model,
): ReturnType<ReturnType<Program>['next']> {
  const fields = (value ?? {}) as ObjectValue;
  const matching = () =>
    rows.filter((row) => Object.entries((where ?? {}) as ObjectValue).every(([name, wanted]) => row[name as 'v'] === wanted));
  if (type === 'Once') return run.throw({ code: 'cascade.resource.duplicate.key' });
  if (kind === 'publish') model.add(`Effect ${String(fields['tag'])} told 1`);
  if (type === 'Next') model.chained(String(fields['tag']));
  if (type === 'Effect' && fields['tag'] !== 'ticket') model.add(`Effect ${String(fields['tag'])} ${String(fields['n'])}`);
  if (type === 'Counter' && kind === 'read') return run.next({ n: 0 });
  if (type === 'Counter' && where === HOT) model.add('count');
  else if (type === 'Counter') model.drawn++;
  if (kind === 'insertMany')
    for (const row of value as ObjectValue[]) rows.push({ owner: String(row['owner']), v: Number(row['v']), version: 1 });
  if (kind === 'list') return run.next(matching().map(({ owner, v }) => ({ owner, v })));
  if (type === 'Row' && (kind === 'updateMany' || kind === 'set')) {
    const changed = matching();
    for (const row of changed) [row.v, row.version] = [Number(fields['v']), row.version + 1];
    return run.next(kind === 'set' ? null : changed.length);
  }
  if (kind === 'deleteMany') {
    const gone = matching();
    for (const row of gone) rows.splice(rows.indexOf(row), 1);
    return run.next(gone.length);
  }
  return run.next(null);
}
