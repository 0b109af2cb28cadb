// What a call means: a method, a user procedure or a built-in (language.md 3.2, builtins.md 0.1).
import type { Arguments, Call, Execute, Expression, Identifier, MethodCall, QualifiedName } from '../ast.ts';
import type { BuiltinInfo, BuiltinTable } from '../types.ts';
import type { CallTarget } from './model.ts';
import type { Imports } from './names.ts';

const SYSTEM = 'system.';

export class CallResolver {
  readonly #table: BuiltinTable;
  readonly #imports: Imports;
  constructor(table: BuiltinTable, imports: Imports) {
    this.#table = table;
    this.#imports = imports;
  }

  /** @param isVariable whether a name is a variable at this place */
  call(node: Call, isVariable: (name: string) => boolean): CallTarget {
    const first = node.callee.parts[0]?.name ?? '';
    if (node.callee.parts.length > 1 && isVariable(first)) {
      const method = node.callee.parts.at(-1) as Identifier;
      return this.#method(method.name, memberChain(node.callee));
    }
    return this.byName(node.callee.text);
  }

  method(node: MethodCall): CallTarget {
    return this.#method(node.method.name, node.object);
  }

  execute(node: Execute): CallTarget | null {
    return node.procedure && this.byName(node.procedure.text);
  }

  /** A function, `Service.procedure`, or a user procedure. */
  byName(text: string): CallTarget {
    const info = this.builtin(text);
    if (info) return { kind: 'builtin', info, receiver: null };
    return { kind: 'user', names: this.#imports.names.procedures(text), receiver: null };
  }

  /**
   * The built-in that a name without a receiver means: `system.` before it changes nothing. What the text imports under a built-in's name
   * comes before it (language.md 3.2); the package's own does not.
   */
  builtin(text: string): BuiltinInfo | undefined {
    const plain = text.startsWith(SYSTEM) ? text.slice(SYSTEM.length) : text;
    const { names } = this.#imports;
    const imported = plain === text ? names.importedProcedure(text) : undefined;
    for (const name of imported === undefined ? [plain, ...names.procedures(plain)] : [imported]) {
      const info = this.#table.get(name);
      if (info && (name.includes('.') || info.forms.includes('F'))) return info;
    }
    return undefined;
  }

  #method(name: string, receiver: Expression): CallTarget {
    const info = this.#table.get(name);
    if (info?.forms.includes('M')) return { kind: 'builtin', info, receiver };
    return { kind: 'user', names: this.#imports.names.procedures(name), receiver };
  }
}

/** Whether the host is asked for a call without a receiver. */
export const asksHost = ({ effect, asksFor }: BuiltinInfo, { named }: Arguments): boolean =>
  effect === 'suspends' || (asksFor?.some((parameter) => named.some(({ name }) => name.name === parameter)) ?? false);

/** `a.b.c` of `a.b.c.f()` as an expression. */
export function memberChain(callee: QualifiedName): Expression {
  const [root, ...steps] = callee.parts.slice(0, -1);
  let chain: Expression = { type: 'Name', name: root?.name ?? '', start: root?.start ?? callee.start, end: root?.end ?? callee.end };
  for (const step of steps)
    chain = { type: 'Member', object: chain, property: step.name, propertySpan: step, start: callee.start, end: step.end };
  return chain;
}

/** The dotted text of a Name or a chain of Members on one, else null. */
export function dottedPath(node: Expression): string[] | null {
  if (node.type === 'Name') return [node.name];
  if (node.type !== 'Member') return null;
  const before = dottedPath(node.object);
  return before && [...before, node.property];
}
