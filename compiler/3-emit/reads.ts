// What an emitted body reads of its event: when that is nothing but members of the event's value, the host need send no more of it.
import type * as es from 'estree';
import { childrenOf } from '../2-check/walk.ts';
import type { TriggerSpec } from '../types.ts';

/** An event object holds its value under both names (language.md 6.1). */
const VALUE_NAMES: ReadonlySet<unknown> = new Set(['value', 'newValue']);

/**
 * The names of the members; null when the body does anything else with its variable.
 * @param variable the name of the body's only parameter besides the run
 */
export function membersRead(body: es.FunctionDeclaration, variable: string, binds: TriggerSpec['binds']): readonly string[] | null {
  const names = new Set<string>();
  return walk(body.body, (node) => memberOf(node, variable, binds), variable, names) ? [...names].sort() : null;
}

/** The name of the member that an expression reads of the value; undefined when it is no such expression. */
function memberOf(node: es.Node, variable: string, binds: TriggerSpec['binds']): string | undefined {
  const read = readOf(node);
  if (!read) return undefined;
  if (binds === 'value') return isVariable(read.of, variable) ? read.member : undefined;
  const outer = readOf(read.of);
  return outer && VALUE_NAMES.has(outer.member) && isVariable(outer.of, variable) ? read.member : undefined;
}

/** `$get(of, 'member', …)` */
function readOf(node: es.Node): { readonly of: es.Node; readonly member: string } | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== '$get') return undefined;
  const [of, key] = node.arguments;
  if (!of || key?.type !== 'Literal' || typeof key.value !== 'string' || key.value === '__proto__') return undefined;
  return { of, member: key.value };
}

const isVariable = (node: es.Node, name: string): boolean => node.type === 'Identifier' && node.name === name;

/** @returns whether the variable stands nowhere but in reads of members (one of its name in a function inside counts as it) */
function walk(node: es.Node, memberIn: (node: es.Node) => string | undefined, variable: string, names: Set<string>): boolean {
  const member = memberIn(node);
  if (member !== undefined) {
    names.add(member);
    return true;
  }
  return !isVariable(node, variable) && (childrenOf(node) as es.Node[]).every((child) => walk(child, memberIn, variable, names));
}
