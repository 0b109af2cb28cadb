// The quota document of an organization (resources-and-api.md 9.1): its members, and their checks. Pure.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { RunLimits } from '../../runtime/runs/index.ts';
import { bound, part, requireFixed, requireOnly } from './fields.ts';
import { RUN_LIMITS, runLimitsIn } from './run-limits.ts';

/** Amounts per second. */
export const RATES = ['execution', 'receiveMessage', 'stream'] as const;
/** Amounts that an organization may have at one time. */
export const LIMITS = [
  'requestsPerSecond',
  'storageBytes',
  'documentsBytes',
  'diagnosticsBytes',
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

/** The bounds; null: unlimited. */
export interface Quota {
  readonly rates: Readonly<Record<RateName, number | null>>;
  readonly limits: Readonly<Record<LimitName, number | null>>;
  /** The limits of single runs. */
  readonly runs: RunLimits;
  /** The part of a second's executions that may be taken in advance, and how many times that part may wait. */
  readonly credit: { readonly percentage: number; readonly queueRatio: number };
}

const CREDIT = { percentage: 20, queueRatio: 2 };

/** Bounds of the service itself, equal for all organizations: a document may repeat them, not change them. */
const FIXED: Readonly<Record<string, unknown>> = { minimumScheduledProcedureInterval: '1 minute', documentExpansion: 0 };
const FIXED_AT_THE_TOP: Readonly<Record<string, unknown>> = { auditFrequency: '10 minutes', errorReportingFrequency: '30 minutes' };

/** @param given null: unlimited. @throws cascade.resource.property.invalid */
export function parseQuota(given: ObjectValue | null): Quota {
  const quota = given ?? {};
  requireOnly(quota, ['rates', 'credit', 'limits', ...Object.keys(FIXED_AT_THE_TOP)], '');
  for (const [name, value] of Object.entries(FIXED_AT_THE_TOP)) requireFixed(quota, name, value, '');
  const rates = part(quota, 'rates');
  requireOnly(rates, RATES, 'rates.');
  const limits = part(quota, 'limits');
  requireOnly(limits, [...LIMITS, ...RUN_LIMITS, ...Object.keys(FIXED)], 'limits.');
  for (const [name, value] of Object.entries(FIXED)) requireFixed(limits, name, value, 'limits.');
  return {
    rates: Object.fromEntries(RATES.map((name) => [name, bound(rates, name, 'rates.')])) as Quota['rates'],
    limits: Object.fromEntries(LIMITS.map((name) => [name, bound(limits, name, 'limits.')])) as Quota['limits'],
    runs: runLimitsIn(limits),
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
