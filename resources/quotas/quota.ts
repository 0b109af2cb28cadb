// The quota document of an organization (resources-and-api.md 9.1): what its members mean, and what is wrong with one. Pure.

import { getOwn, isInteger, isObject, type ObjectValue, typeOf, type Value } from '../../stdlib/values/index.ts';
import { fault } from '../../model/errors/faults.ts';

/** Per second. */
export const RATES = ['execution', 'receiveMessage', 'stream'] as const;
/** What there may be of, or be taken by, an organization. */
export const LIMITS = [
  'requestsPerSecond',
  'storageBytes',
  'documentsBytes',
  'instancesPerType',
  'types',
  'rules',
  'users',
  'sessions',
  'webSockets',
  'subscriptions',
] as const;
export type RateName = (typeof RATES)[number];
export type LimitName = (typeof LIMITS)[number];

/** Null: unlimited. */
export interface Quota {
  readonly rates: Readonly<Record<RateName, number | null>>;
  readonly limits: Readonly<Record<LimitName, number | null>>;
  /** What of a second's executions may be taken in advance, and how many times that may wait. */
  readonly credit: { readonly percentage: number; readonly queueRatio: number };
}

const CREDIT = { percentage: 20, queueRatio: 2 };

/** Bounds of one run and of the service itself, which are the same for all: they may be repeated, not changed. */
const FIXED: Readonly<Record<string, unknown>> = {
  stackDepth: 200,
  executionTime: '2 hours',
  synchronousIterationSize: 100_000,
  minimumScheduledProcedureInterval: '1 minute',
  documentExpansion: 0,
  cpuTime: '20 seconds',
  memoryBytes: 268_435_456,
  errorBreaker: { sample: 20, failurePercent: 80, retrySample: 2, retryAfter: '1 minute' },
};
const FIXED_AT_THE_TOP: Readonly<Record<string, unknown>> = { auditFrequency: '10 minutes', errorReportingFrequency: '30 minutes' };

/** @param given null: nothing is limited. @throws cascade.resource.property.invalid */
export function parseQuota(given: ObjectValue | null): Quota {
  const quota = given ?? {};
  requireOnly(quota, ['rates', 'credit', 'limits', ...Object.keys(FIXED_AT_THE_TOP)], '');
  for (const [name, value] of Object.entries(FIXED_AT_THE_TOP)) requireFixed(quota, name, value, '');
  const rates = part(quota, 'rates');
  requireOnly(rates, RATES, 'rates.');
  const limits = part(quota, 'limits');
  requireOnly(limits, [...LIMITS, ...Object.keys(FIXED)], 'limits.');
  for (const [name, value] of Object.entries(FIXED)) requireFixed(limits, name, value, 'limits.');
  return {
    rates: Object.fromEntries(RATES.map((name) => [name, bound(rates, name, 'rates.')])) as Quota['rates'],
    limits: Object.fromEntries(LIMITS.map((name) => [name, bound(limits, name, 'limits.')])) as Quota['limits'],
    credit: creditIn(part(quota, 'credit')),
  };
}

function creditIn(credit: ObjectValue): Quota['credit'] {
  requireOnly(credit, ['default'], 'credit.');
  const given = part(credit, 'default', 'credit.');
  requireOnly(given, Object.keys(CREDIT), 'credit.default.');
  return {
    percentage: bound(given, 'percentage', 'credit.default.') ?? CREDIT.percentage,
    queueRatio: bound(given, 'queueRatio', 'credit.default.') ?? CREDIT.queueRatio,
  };
}

/** Null: unlimited, which is absent, null or -1. */
function bound(object: ObjectValue, name: string, prefix: string): number | null {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return null;
  const number = isInteger(value) ? Number(value) : Number.NaN;
  if (number === -1) return null;
  if (!Number.isSafeInteger(number) || number < 0) throw invalid(`${prefix}${name} is no whole number from 0 on, nor -1`);
  return number;
}

function part(object: ObjectValue, name: string, prefix = ''): ObjectValue {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return {};
  if (!isObject(value)) throw invalid(`${prefix}${name} is a ${typeOf(value)}, no Object`);
  return value;
}

function requireOnly(object: ObjectValue, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`there is no ${prefix}${unknown}`);
}

function requireFixed(object: ObjectValue, name: string, fixed: unknown, prefix: string): void {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value !== null && !isSame(value, fixed)) throw invalid(`${prefix}${name} is ${JSON.stringify(fixed)} for everybody`);
}

function isSame(value: Value, fixed: unknown): boolean {
  if (typeof fixed !== 'object' || fixed === null) return String(value) === String(fixed);
  if (!isObject(value)) return false;
  const names = Object.keys(fixed);
  return Object.keys(value).every(
    (name) => names.includes(name) && isSame(getOwn(value, name), (fixed as Readonly<Record<string, unknown>>)[name]),
  );
}

const invalid = (reason: string) => fault('cascade.resource.property.invalid', 'organizations', 'quota', reason);
