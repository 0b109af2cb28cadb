// What section 3 says of conditions, said once more as plainly as possible: values in memory, no store, no indexes, nothing of the service's own.
// spec: resources-and-api.md 3.1 3.2 3.3
import type { Json } from '../client/index.ts';

/** A stored value or a constant, in a form that compares: numbers as millionths, currencies in parts, dates in milliseconds. */
export type Plain = null | boolean | bigint | string | Instant | Amount | Reference | Plain[] | { [name: string]: Plain };
export class Instant {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}
export class Amount {
  /** Null in a constant: any currency. */
  readonly code: string | null;
  readonly value: bigint;
  constructor(code: string | null, value: bigint) {
    this.code = code;
    this.value = value;
  }
}
export class Reference {
  readonly resource: string;
  readonly resourceId: string;
  constructor(resource: string, resourceId: string) {
    this.resource = resource;
    this.resourceId = resourceId;
  }
}

/** A condition with its constants in that form. */
export type Plan =
  | { all: Plan[] }
  | { any: Plan[] }
  | { none: Plan[] }
  | { path: string[]; operator: string; operand: Plain }
  | { path: string[]; not: Plan[] }
  | { path: string[]; element: Plan[] }
  | { path: string[]; pattern: RegExp };

/** A condition as it is sent, and what it means. */
export interface Question {
  readonly where: Json;
  readonly plan: Plan;
}

export function meets(row: Plain | undefined, plan: Plan): boolean {
  if ('all' in plan) return plan.all.every((one) => meets(row, one));
  if ('any' in plan) return plan.any.some((one) => meets(row, one));
  if ('none' in plan) return !plan.none.some((one) => meets(row, one));
  if ('not' in plan) return !plan.not.every((one) => meets(row, one));
  const value = at(row, plan.path);
  if ('element' in plan) return Array.isArray(value) && value.some((element) => plan.element.every((one) => meets(element, one)));
  if ('pattern' in plan) return each(value).some((one) => typeof one === 'string' && plan.pattern.test(one));
  return holds(value, plan.operator, plan.operand);
}

/** An empty path is the value itself: what stands in $elemMatch. */
function at(value: Plain | undefined, path: readonly string[]): Plain | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (value instanceof Reference) return name === 'resource' ? value.resource : name === 'resourceId' ? value.resourceId : undefined;
  if (Array.isArray(value)) return /^\d+$/.test(name) ? at(value[Number(name)], rest) : undefined;
  return isPlainObject(value) && Object.hasOwn(value, name) ? at(value[name], rest) : undefined;
}

function holds(value: Plain | undefined, operator: string, operand: Plain): boolean {
  const list = Array.isArray(operand) ? operand : [];
  switch (operator) {
    case '$eq':
      return equals(value, operand);
    case '$ne':
      return !equals(value, operand);
    case '$in':
      return list.some((one) => equals(value, one));
    case '$nin':
      return !list.some((one) => equals(value, one));
    case '$all':
      return list.length > 0 && value != null && list.every((one) => equals(value, one));
    case '$size':
      return Array.isArray(value) && BigInt(value.length) * 1_000_000n === operand;
    case '$exists':
      return (value !== undefined) === operand;
    default:
      return each(value).some((one) => {
        const order = compare(one, operand);
        if (order === null) return false;
        return operator === '$gt' ? order > 0 : operator === '$gte' ? order >= 0 : operator === '$lt' ? order < 0 : order <= 0;
      });
  }
}

const each = (value: Plain | undefined): Plain[] => (Array.isArray(value) ? value : value == null ? [] : [value]);

function equals(value: Plain | undefined, operand: Plain): boolean {
  if (operand === null) return value == null;
  if (value == null) return false;
  return same(value, operand) || (Array.isArray(value) && value.some((one) => same(one, operand)));
}

function same(a: Plain, b: Plain): boolean {
  if (a instanceof Reference) return b instanceof Reference && a.resource === b.resource && a.resourceId === b.resourceId;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, index) => same(one, b[index] as Plain));
  if (isPlainObject(a)) {
    const names = Object.keys(a);
    return (
      isPlainObject(b) &&
      Object.keys(b).length === names.length &&
      names.every((name) => Object.hasOwn(b, name) && same(a[name] as Plain, b[name] as Plain))
    );
  }
  return a === null ? b === null : compare(a, b) === 0;
}

/** Null: not of one type, or of two currencies. */
export function compare(a: Plain, b: Plain): number | null {
  if (a instanceof Amount && b instanceof Amount) return b.code === null || a.code === b.code ? order(a.value, b.value) : null;
  if (a instanceof Instant && b instanceof Instant) return order(a.ms, b.ms);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === 'bigint' && typeof b === 'bigint') return order(a, b);
  return typeof a === 'boolean' && typeof b === 'boolean' ? order(Number(a), Number(b)) : null;
}

const order = <T extends number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

const isPlainObject = (value: Plain | undefined): value is { [name: string]: Plain } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Instant || value instanceof Amount || value instanceof Reference);
