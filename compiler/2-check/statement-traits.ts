// What the passes must know of each kind of statement. The table has a row for every kind of ast.ts: one that is missing is an error of types.
import type { If, Statement } from '../ast.ts';

type Body = readonly Statement[];

interface Traits<S extends Statement> {
  /** The statement asks the host or loops, so that a function with it is emitted as a generator, whatever its parts are. */
  readonly suspends: boolean;
  /** Blocks of the statement run at another time than the statements around it, or once for each of many rows. */
  readonly runsBlocksApart: boolean;
  /** Where `&&` or `||` skips the part that it stands in, the statement runs nevertheless (language.md 4.5). */
  readonly runsWhereSkipped: boolean;
  /** Bodies whose last statement gives the statement its value. A loop has none: its body has no value. */
  readonly valueBodies: (node: S) => readonly Body[];
}

const none = (): readonly Body[] => [];
const branches = ({ then, otherwise }: If): readonly Body[] => [
  then.body,
  ...(otherwise ? [otherwise.type === 'If' ? [otherwise] : otherwise.body] : []),
];
const plain = { suspends: false, runsBlocksApart: false, runsWhereSkipped: false, valueBodies: none };
const loop = { ...plain, suspends: true };
/** Changes definitions, or publishes. */
const outward = { ...loop, runsBlocksApart: true };
/** A resource statement is a value, too. */
const resource = { ...outward, runsWhereSkipped: true };
/** FILTER and MAP are functions: they count where they are run. */
const lazy = { ...plain, runsBlocksApart: true };

const TRAITS: { readonly [T in Statement['type']]: Traits<Extract<Statement, { type: T }>> } = {
  Var: plain,
  Assign: plain,
  ExpressionStatement: plain,
  Return: plain,
  If: { ...plain, valueBodies: branches },
  Try: { ...plain, valueBodies: ({ body, handler }) => [body.body, handler.body] },
  For: loop,
  While: loop,
  Recommendations: outward,
  Recommend: plain,
  Publish: outward,
  PublishRequest: outward,
  Create: outward,
  Drop: outward,
  Select: resource,
  Insert: resource,
  Upsert: resource,
  Update: resource,
  Delete: resource,
  Execute: resource,
  Filter: lazy,
  Map: lazy,
};

/** Of a node of any kind: null when it is no statement. */
export const traitsOf = ({ type }: { readonly type: string }): Traits<Statement> | null =>
  Object.hasOwn(TRAITS, type) ? (TRAITS[type as Statement['type']] as Traits<Statement>) : null;

/** The statements that give a body its value, innermost included: the last one, and the last ones of what gives this its value. */
export function valueStatements(body: Body, found = new Set<Statement>()): ReadonlySet<Statement> {
  const last = body.at(-1);
  if (!last) return found;
  found.add(last);
  for (const inner of traitsOf(last)?.valueBodies(last) ?? []) valueStatements(inner, found);
  return found;
}
