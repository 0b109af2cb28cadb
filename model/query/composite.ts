// Values that storage keeps as two members: Currency `{c, v}`, ResourceReference `{resource, resourceId}`. Tests of one such element.
import type { Document } from 'mongodb';
import { Currency, type Value } from '../../stdlib/values/index.ts';
import { toBson } from '../values/index.ts';
import type { Constant, Kind, Test } from './types.ts';

/** How one kind's tests become filters on its members. */
export interface Fields {
  equal(value: Constant): Document;
  /** Some of the values, none of which is null. */
  among(values: readonly Constant[]): Document;
  /** An ordered comparison, where the kind has one. */
  ordered?(operator: string, value: Constant): Document;
}

export const fieldsOf = (kind: Kind): Fields | null => (kind === 'Currency' ? CURRENCY : kind === 'ResourceReference' ? REFERENCE : null);

/** Never true of an element: equality with null, whole arrays, what the kind has not. */
const NEVER: Document = { _id: { $in: [] } };

const CURRENCY: Fields = {
  equal: (value) => (value instanceof Currency ? { c: value.code, v: toBson(value.amount) } : { v: toBson(value) }),
  among(values) {
    const byCode = new Map<string | null, unknown[]>();
    for (const value of values) {
      const code = value instanceof Currency ? value.code : null;
      const amounts = byCode.get(code) ?? [];
      amounts.push(toBson(value instanceof Currency ? value.amount : value));
      byCode.set(code, amounts);
    }
    return any([...byCode].map(([code, amounts]) => (code === null ? { v: { $in: amounts } } : { c: code, v: { $in: amounts } })));
  },
  ordered: (operator, value) =>
    value instanceof Currency ? { c: value.code, v: { [operator]: toBson(value.amount) } } : { v: { [operator]: toBson(value) } },
};

interface Reference {
  resource: string;
  resourceId: string;
}
const resources = (resource: string): Document => ({ $in: [resource, `system.${resource}`] });

const REFERENCE: Fields = {
  equal: (value) => {
    const { resource, resourceId } = value as unknown as Reference;
    return { resource: resources(resource), resourceId };
  },
  among(values) {
    const byResource = new Map<string, string[]>();
    for (const { resource, resourceId } of values as unknown as Reference[])
      byResource.set(resource, [...(byResource.get(resource) ?? []), resourceId]);
    return any([...byResource].map(([resource, ids]) => ({ resource: resources(resource), resourceId: { $in: ids } })));
  },
};

const any = (filters: Document[]): Document => (filters.length > 1 ? { $or: filters } : (filters[0] ?? NEVER));

/** One test of one element, as a filter on its members. */
export function elementFilter(test: Test, fields: Fields): Document {
  switch (test.op) {
    case 'eq':
      return isScalar(test.value) ? fields.equal(test.value) : NEVER;
    case 'ne':
      return { $nor: [elementFilter({ op: 'eq', value: test.value }, fields)] };
    case 'in':
      return fields.among(test.values.filter(isScalar));
    case 'nin':
      return { $nor: [elementFilter({ op: 'in', values: test.values }, fields)] };
    case 'all':
      return test.values.length > 0 && test.values.every(isScalar) ? { $and: test.values.map((value) => fields.equal(value)) } : NEVER;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return fields.ordered?.(`$${test.op}`, test.value) ?? NEVER;
    case 'not': {
      const inner = test.tests.map((each) => elementFilter(each, fields));
      return { $nor: [{ $and: inner }] };
    }
    case 'exists':
      return test.exists ? { $nor: [NEVER] } : NEVER;
    default:
      return NEVER; // an element is no array, no text and no shape
  }
}

const isScalar = (value: Value): boolean => value !== null && !Array.isArray(value);
