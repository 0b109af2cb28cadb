import { expect, test } from 'vitest';
import { CATALOGUE } from '../../stdlib/errors.ts';
import { CascadeError, CascadeErrors, errorDocument, apiError, apiErrorCodes, statusOf } from './api-errors.ts';

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
