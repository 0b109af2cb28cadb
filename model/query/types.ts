// The shape of a checked condition (resources-and-api.md 3): what storage's filter, the in-memory filter and the trigger index read.
import type { Value } from '../../stdlib/values/index.ts';
import type { BaseType, PropertyDefinition, TypeDefinition } from '../types/index.ts';
import type { Geometry } from '../../stdlib/geo/index.ts';
import type { Pattern } from './pattern.ts';

/**
 * What a path holds: a declared base type, `Id` for an instance's own `_id`, `ResourceName` for the resource of a reference,
 * `Json` where nothing is declared, so that constants stay as they are given.
 */
export type Kind = BaseType | 'Id' | 'ResourceName' | 'Json';

export interface ConditionPath {
  /** As written in the condition. */
  readonly text: string;
  readonly steps: readonly string[];
  /** Where storage keeps it: dotted, and with the short member names of a Currency. */
  readonly stored: string;
  readonly kind: Kind;
  readonly multi: boolean;
  /** It leads through the elements of a multi-valued property: an instance has a value for each of them. */
  readonly spread?: boolean;
  /** False: no instance has it (an unknown property behaves as missing). */
  readonly known: boolean;
  /** A step is a position in an array. */
  readonly indexed: boolean;
  /** A part of the Currency that the steps lead to. */
  readonly part: 'code' | 'value' | null;
  /** Inside an Object, where all is data: a Currency is its text there, a reference one document with two members. */
  readonly asData: boolean;
  /** Usernames: operands become as those are stored. */
  readonly isUsername?: boolean;
  /** The type whose properties the Objects here have. */
  readonly structure?: PropertyDefinition['structure'];
}

/**
 * A value to compare with, converted for its path: null, or of the path's kind, or an array of such for the equality of a whole array.
 * For a Currency path a Decimal stands for that amount in any currency. A reference has no `system.` in front of its resource.
 */
export type Constant = Value;

export type RangeOperator = 'gt' | 'gte' | 'lt' | 'lte';

/** What must hold for the values at a path. */
export type Test =
  | { readonly op: 'eq'; readonly value: Constant }
  | { readonly op: 'ne'; readonly value: Constant }
  | { readonly op: 'in'; readonly values: readonly Constant[] }
  | { readonly op: 'nin'; readonly values: readonly Constant[] }
  | { readonly op: 'all'; readonly values: readonly Constant[] }
  | { readonly op: RangeOperator; readonly value: Constant }
  | { readonly op: 'regex'; readonly pattern: Pattern }
  | { readonly op: 'size'; readonly size: number }
  | { readonly op: 'exists'; readonly exists: boolean }
  | { readonly op: 'not'; readonly tests: readonly Test[] }
  /** `$elemMatch` with operators, all of which one element satisfies. */
  | { readonly op: 'element'; readonly tests: readonly Test[] }
  /** `$elemMatch` with a where for elements that are Objects. */
  | { readonly op: 'elementWhere'; readonly where: Condition }
  | { readonly op: 'geoIntersects' | 'geoWithin'; readonly shape: Geometry }
  | NearTest;

export interface NearTest {
  readonly op: 'near';
  /** As it is written: `$near` or `$nearSphere`. */
  readonly operator: string;
  readonly point: Geometry;
  /** Metres. */
  readonly minDistance: number;
  /** Metres; Infinity without a bound. */
  readonly maxDistance: number;
}

export type Condition =
  | { readonly op: 'and' | 'or' | 'nor'; readonly terms: readonly Condition[] }
  | { readonly op: 'property'; readonly path: ConditionPath; readonly tests: readonly Test[] };

/** A where-object after its check; nothing of the caller's own object is in it but scalars and data to compare with. */
export interface Predicate {
  readonly condition: Condition;
  readonly type: TypeDefinition | null;
  /** The one `$near`, which also orders the result; null without. */
  readonly near: { readonly path: ConditionPath; readonly test: NearTest } | null;
  /** A regular expression is in it: whoever runs it bounds its time. */
  readonly hasRegex: boolean;
}

/** What substitutions (3.4) and the types of nested properties are drawn from. */
export interface ConditionContext {
  readonly username: string;
  readonly namespace: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** What the patterns of several conditions take together, as those of a pipeline's stages do, in turns of a loop; absent: each by itself. */
  readonly patterns?: { turns: number };
}
