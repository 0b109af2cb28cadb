// The error of the whole service and the messages of everything that stdlib raises (resources-and-api.md 10.2, 10.3).
// model/errors/api-errors.ts holds the rest of the catalogue for the same class. A code is for ever.
import { cutText } from './values/cut-text.ts';
import { Currency, DateTime, Decimal, Real, type Value } from './values/kinds.ts';
import { formatReal } from './values/real-text.ts';

interface Entry {
  readonly status: number;
  /** `{0}` … are filled from the params. */
  readonly template: string;
}

const OPERAND = '{0} cannot be applied to {1} and {2}.';
const NO_RESULT = '{0} has no result for these operands.';
const SEQUENCE = 'A sequence does not allow {0}.';
const ARGUMENT = '{0}: argument {1} is not expected.';
const LIMIT = '{0} exceeded its limit {1}.';

export const CATALOGUE = {
  'cascade.lang.null': { status: 400, template: '{0} is null.' },
  'cascade.lang.property': { status: 400, template: '{1} has no property {0}.' },
  'cascade.lang.index': { status: 400, template: 'Index {0} is outside 0 to {1}.' },
  'cascade.lang.range': { status: 400, template: '{1} is not allowed for {0}.' },
  'cascade.lang.conversion': { status: 400, template: '{0} cannot be converted to {1}.' },
  'cascade.lang.class.cast': { status: 400, template: '{1} cannot be compared with {2} by {0}.' },
  'cascade.lang.operand': { status: 400, template: OPERAND },
  'cascade.lang.operand.null': { status: 400, template: OPERAND },
  'cascade.lang.currency.mismatch': { status: 400, template: '{0} and {1} are different currencies.' },
  'cascade.lang.arithmetic.zero.divide': { status: 400, template: NO_RESULT },
  'cascade.lang.arithmetic.overflow': { status: 400, template: NO_RESULT },
  'cascade.lang.iteration': { status: 400, template: '{0} cannot be iterated.' },
  'cascade.lang.sequence.consumed': { status: 400, template: SEQUENCE },
  'cascade.lang.sequence.operation': { status: 400, template: SEQUENCE },
  'cascade.lang.sequence.conversion': { status: 400, template: SEQUENCE },
  'cascade.lang.sequence.embedded': { status: 400, template: SEQUENCE },
  'cascade.lang.map.assign': { status: 400, template: 'Entries of a Map are set by its methods.' },
  'cascade.lang.reference.type': { status: 400, template: '@{0} must hold a String, not {1}.' },
  'cascade.lang.insert.value': { status: 400, template: '{0} cannot be {1}.' },
  'cascade.lang.publish.value': { status: 400, template: '{0} cannot be {1}.' },
  'cascade.lang.insert.series': { status: 400, template: 'INSERT SERIES needs {0}.' },
  'cascade.lang.recommend': { status: 400, template: '{0} has the wrong type.' },
  'cascade.lang.string.size': { status: 400, template: 'A String may have at most {0} characters.' },
  'cascade.lang.procedure.unknown': { status: 400, template: 'There is no procedure {0}.' },
  'cascade.procedure.name.builtin': { status: 409, template: '{0} is a built-in procedure.' },
  'cascade.procedure.private': { status: 403, template: '{0} can only be called inside its service.' },
  'cascade.procedure.argument.count': { status: 400, template: ARGUMENT },
  'cascade.procedure.argument.unknown': { status: 400, template: ARGUMENT },
  'cascade.procedure.parameter.missing': { status: 400, template: '{0} needs {1}.' },
  'cascade.procedure.parameter.type': { status: 400, template: '{1} of {0} must be {2}, not {3}.' },
  'cascade.procedure.parameter.sequence': { status: 400, template: '{1} of {0} cannot be a sequence.' },
  'cascade.rule.before.result': { status: 400, template: 'BEFORE rule {0} returned {1}.' },
  'cascade.rule.chain.depth': { status: 400, template: 'The chain of events from {0} is longer than {1}.' },
  'cascade.service.event.direction': { status: 400, template: '{1} of service {0} cannot be published here.' },
  'cascade.service.schedule.interval': { status: 400, template: '{1} of service {0} must be at least {2} ms.' },
  'cascade.service.state.type': { status: 400, template: 'State {1} of {0} must be {2}.' },
  'cascade.query.aggregate.value': { status: 400, template: '{0} of {1} cannot use the value {2}.' },
  'cascade.execution.timeout': { status: 429, template: LIMIT },
  'cascade.execution.depth': { status: 429, template: LIMIT },
  'cascade.execution.memory': { status: 429, template: LIMIT },
  'cascade.execution.iteration.limit': { status: 429, template: LIMIT },
  'cascade.builtin.pattern': { status: 400, template: 'The pattern {0} is wrong at {1}.' },
  'cascade.builtin.format': { status: 400, template: '{1} does not suit the placeholder {0}.' },
  'cascade.builtin.parse': { status: 400, template: 'Cannot parse: {0} at {1}.' },
  'cascade.builtin.method.unknown': { status: 400, template: '{1} has no method {0}.' },
  'cascade.builtin.context': { status: 400, template: '{0} is only available inside a service.' },
  'cascade.builtin.timeout': { status: 500, template: '{0} was stopped after {1} ms.' },
  'cascade.template.variable': { status: 400, template: 'The template needs {0}.' },
  'cascade.resourceconfig.unknown': { status: 404, template: 'There is no configuration value {0}.' },
  'cascade.recommend.type.mismatch': { status: 400, template: '{0} needs candidates of type {1}.' },
  'cascade.collaboration.inactive': { status: 409, template: 'Collaboration {0} is {1}.' },
  'cascade.activitypattern.reserved': { status: 409, template: '{0} is predefined.' },
  'cascade.activitypattern.config': { status: 400, template: '{0} needs {1}.' },
} as const satisfies Record<string, Entry>;

export type LangCode = keyof typeof CATALOGUE;

/** Every refusal that a program or a client may see. `status` is the HTTP status where it leaves the service. */
export class CascadeError extends Error {
  readonly code: string;
  readonly params: Value[];
  readonly status: number;
  /** All refusals that were found together, this one first; null where there was but this one to look for. */
  readonly errors: readonly CascadeError[] | null;
  /** When a repetition may do better, where that is known of this one. */
  retryAfterSeconds?: number;
  /** Of an operation that the resource does not offer: those that it does. */
  offered?: ReadonlySet<string>;
  constructor(code: string, message: string, params: Value[] = [], status = 400, errors: readonly CascadeError[] | null = null) {
    super(message);
    this.name = 'CascadeError';
    this.code = code;
    this.params = params;
    this.status = status;
    this.errors = errors;
  }
}

/** Raises an error of this catalogue. */
export function fail(code: LangCode, ...params: Value[]): never {
  throw langError(code, ...params);
}

/** The error itself, for those who throw it elsewhere. */
export function langError(code: LangCode, ...params: Value[]): CascadeError {
  const { status, template } = CATALOGUE[code];
  return new CascadeError(code, fillTemplate(template, params), params, status);
}

/** `{n}` becomes the n-th param; one that is not there stays as it is. */
export function fillTemplate(template: string, params: readonly Value[]): string {
  return template.replace(/\{(\d+)\}/g, (place, index: string) => {
    const param = params[Number(index)];
    return param === undefined ? place : brief(param);
  });
}

/** A param in a message: short, and never failing; the value itself is in `params`. */
function brief(value: Value): string {
  if (typeof value === 'string') return value.length > 200 ? `${cutText(value, 200)}…` : value;
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : formatReal(value);
  if (value instanceof Real || value instanceof Decimal || value instanceof Currency || value instanceof DateTime) return value.toString();
  if (Array.isArray(value)) return 'List';
  if (value !== null && typeof value === 'object') return 'Object';
  return String(value);
}
