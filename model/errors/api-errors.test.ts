import { expect, test } from 'vitest';
import { CATALOGUE } from '../../stdlib/errors.ts';
import {
  CascadeError,
  CascadeErrors,
  errorDocument,
  apiError,
  apiErrorCodes,
  apiErrorRows,
  isApiError,
  retryAfterSeconds,
  statusOf,
} from './api-errors.ts';

test('the message is the template with the params in their places', () => {
  const error = apiError('cascade.type.property.invalid', 'Silo', 'level', 'Decimal', 'range');
  expect(error).toBeInstanceOf(CascadeError);
  expect(error.status).toBe(400);
  expect(errorDocument(error)).toEqual({
    code: 'cascade.type.property.invalid',
    message: 'level of Silo must be Decimal: range.',
    params: ['Silo', 'level', 'Decimal', 'range'],
  });
});

test('every code has the prefix but the two of the contract', () => {
  const foreign = apiErrorCodes().filter((code) => !code.startsWith('cascade.'));
  expect(foreign).toEqual(['io.service.security.authentication.failed', 'io.service.federation.request.timeout']);
  for (const code of apiErrorCodes()) expect(code).toMatch(/^[a-z]+(\.[a-z]+)+$/);
});

test('a code that stands in both catalogues has one status and one message', () => {
  for (const code of apiErrorCodes().filter((code) => code in CATALOGUE)) {
    const { status, template } = CATALOGUE[code as keyof typeof CATALOGUE];
    const own = (apiError as (code: string) => CascadeError)(code);
    expect([code, own.status, own.message]).toEqual([code, status, template]);
  }
});

test('statusOf knows the codes of programs and takes 400 for any other', () => {
  expect(statusOf('cascade.resource.duplicate.key')).toBe(409);
  expect(statusOf('cascade.procedure.private')).toBe(403);
  expect(statusOf('cascade.lang.syntax')).toBe(400);
  expect(statusOf('toString')).toBe(400);
});

test('several errors have their common status, or 400 when they differ', () => {
  const duplicate = apiError('cascade.resource.duplicate.key', 'Silo', 'code=a');
  const denied = apiError('cascade.authorization.denied', 'insert', 'Silo');
  expect(new CascadeErrors([duplicate, duplicate]).status).toBe(409);
  expect(new CascadeErrors([duplicate, denied]).status).toBe(400);
});

test('each row names all its params, and its message uses no others', () => {
  for (const [code, { params, template }] of apiErrorRows()) {
    expect(new Set(params).size, code).toBe(params.length);
    expect(params, code).not.toContain('');
    const places = [...template.matchAll(/\{(\d+)\}/g)].map(([, index]) => Number(index));
    expect(Math.max(-1, ...places), code).toBeLessThan(params.length);
  }
});

test('what is told to a client has no stack, a failure of the service has one', () => {
  const frames = (error: Error): number => (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')).length;
  expect(frames(apiError('cascade.resource.not.found', '/a'))).toBe(0);
  expect(frames(apiError('cascade.server.error', 'c1'))).toBeGreaterThan(0);
  expect(frames(new Error('another one'))).toBeGreaterThan(0);
});

test('a refusal is told from a defect, be it one or several', () => {
  const refusal = apiError('cascade.resource.not.found', '/a');
  expect([refusal, new CascadeErrors([refusal])].map(isApiError)).toEqual([true, true]);
  expect([new Error('x'), new TypeError('y'), { code: refusal.code, status: 404 }, null].map(isApiError)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('a repetition is promised where waiting helps, after as long as is known', () => {
  const seconds = (...[code, ...params]: Parameters<typeof apiError>): number | null => retryAfterSeconds(apiError(code, ...params));
  expect(seconds('cascade.security.rate.limited', 17)).toBe(17);
  expect(seconds('cascade.server.unavailable')).toBe(5);
  expect(seconds('cascade.execution.suspended', 'Silo')).toBe(60);
  expect(seconds('cascade.quota.exceeded', 'writes', 10)).toBe(1);
  expect(retryAfterSeconds(Object.assign(apiError('cascade.quota.exceeded', 'writes', 10), { retryAfterSeconds: 30 }))).toBe(30);
  // A run that took too much takes as much the next time; other refusals stay what they are.
  expect(seconds('cascade.execution.timeout', 'time', 1_000)).toBeNull();
  expect(seconds('cascade.resource.not.found', '/a')).toBeNull();
  expect(seconds('cascade.server.error', 'c1')).toBeNull();
});
