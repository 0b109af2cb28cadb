// What every check is given.
import type { Span } from '../../compiler/ast.ts';
import type { Model } from '../../compiler/index.ts';
import type { Overload } from '../../stdlib/builtins/index.ts';
import type { KnownOf } from '../inference.ts';
import type { Kind } from '../kinds.ts';
import type { TypeEnvironment, TypeShape } from '../type-environment.ts';

export interface CheckContext {
  readonly model: Model;
  readonly environment: TypeEnvironment;
  readonly knownOf: KnownOf;
  readonly overloads: (name: string) => readonly Overload[];
  /** `code` without `cascade.check.`. */
  readonly report: (at: Span, code: AdviceCode, detail: string, hint?: string) => void;
  /** Properties that the text gives to objects by itself, and words that may name one: nothing is said of these. */
  readonly ownProperties: ReadonlySet<string>;
}
export type AdviceCode =
  | 'class.cast'
  | 'operand'
  | 'property.unknown'
  | 'property.required'
  | 'property.type'
  | 'argument.count'
  | 'argument.missing'
  | 'argument.type'
  | 'argument.unknown'
  | 'procedure.unknown'
  | 'type.unknown';

/** System properties are everywhere; the rest is declared. */
export const isSystemProperty = (name: string): boolean => name === '_id' || name.startsWith('ars_');

/** The only kind that an expression can have, or null. */
export function onlyKind(context: CheckContext, node: object): Kind | null {
  const kinds = context.knownOf(node);
  return kinds?.length === 1 ? (kinds[0] ?? null) : null;
}

/** The type of which something is an instance, when it is known. */
export function instanceType({ environment }: CheckContext, kind: Kind | null): TypeShape | null {
  return kind?.type === undefined ? null : (environment.types.get(kind.type) ?? null);
}
