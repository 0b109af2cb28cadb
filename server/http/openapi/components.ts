// The parts that the operations of the document share: authentication, errors, headers.
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { apiError, type CascadeError } from '../../../model/errors/index.ts';
import { schemaRef } from './schemas.ts';

/** The statuses of the API, as interface.md has them, with their causes. */
const ERRORS = {
  '400': 'The request is wrong: its body, a parameter, a value',
  '401': 'No token, or one that is worth nothing',
  '403': 'Known, and not allowed',
  '404': 'Not there, or not to be seen by the caller',
  '405': 'The resource does not offer that',
  '409': 'It is there already, or was changed by someone else',
  '429': 'A limit is reached',
  '500': 'A fault of the service, or it is not available',
} as const;

const EXAMPLES: Readonly<Record<keyof typeof ERRORS, CascadeError>> = {
  '400': apiError('cascade.type.property.required', 'Pump', 'site'),
  '401': apiError('cascade.security.credentials.missing'),
  '403': apiError('cascade.authorization.denied', 'insert', 'rules'),
  '404': apiError('cascade.resource.not.found', '/rules/tooFast'),
  '405': apiError('cascade.method.not.allowed', 'insert', 'logs'),
  '409': apiError('cascade.resource.duplicate.key', 'Pump', 'site=north'),
  '429': apiError('cascade.quota.exceeded', 'requestsPerSecond', 100),
  '500': apiError('cascade.server.unavailable'),
};

/** An error as it is told. */
export const exampleOf = ({ code, message, params }: CascadeError): ObjectValue => ({ code, message, params: [...params] });

const TEXT: ObjectValue = { type: 'string' };

/** Content of a media type. @param example undefined: there is none */
export const content = (media: string, schema: ObjectValue, example?: Value): ObjectValue => ({
  [media]: { schema, ...(example !== undefined && { example }) },
});
export const json = (schema: ObjectValue, example?: Value): ObjectValue => content('application/json', schema, example);

/** Shared schemas, with names that no type can have. */
export const SHARED_SCHEMAS: ObjectValue = {
  '-Error': {
    type: 'object',
    required: ['code', 'message', 'params'],
    properties: { code: TEXT, message: TEXT, params: { type: 'array' }, index: { type: 'integer' } },
  },
  '-Errors': { type: 'array', minItems: 1, items: schemaRef('-Error') },
  '-Session': {
    type: 'object',
    required: ['accessToken', 'idToken', 'expiresAt', 'username', 'namespace', 'profiles'],
    properties: {
      accessToken: TEXT,
      idToken: TEXT,
      expiresAt: { type: 'string', format: 'date-time' },
      username: TEXT,
      preferredUsername: { type: ['string', 'null'] },
      namespace: TEXT,
      profiles: { type: 'array', items: TEXT },
    },
  },
  '-Outcome': {
    description: 'What became of one of several instances, where some failed',
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'integer' }, body: {}, errors: schemaRef('-Errors') },
  },
};

/** The other components. */
export const SHARED: ObjectValue = {
  securitySchemes: {
    token: { type: 'http', scheme: 'bearer', description: 'A session token (24 hours) or a long-lived access token' },
    tokenParameter: { type: 'apiKey', in: 'query', name: 'token', description: 'The same, where no header can be sent' },
    password: { type: 'http', scheme: 'basic', description: 'For /authenticate alone' },
  },
  responses: Object.fromEntries(
    Object.entries(ERRORS).map(([status, description]): [string, Value] => [
      `-${status}`,
      {
        description,
        ...(status === '401' && { headers: { 'WWW-Authenticate': { schema: TEXT } } }),
        ...(status === '405' && { headers: { Allow: { schema: TEXT } } }),
        content: json(schemaRef('-Errors'), [exampleOf(EXAMPLES[status as keyof typeof ERRORS])]),
      },
    ]),
  ),
};

/**
 * The errors that every operation may answer with. @param known false: the operation needs no login, so it has no 401 or 403 for want of
 * one
 */
export function errorResponses(known = true): ObjectValue {
  const statuses = Object.keys(ERRORS).filter((status) => known || (status !== '401' && status !== '403'));
  return Object.fromEntries(statuses.map((status): [string, Value] => [status, { $ref: `#/components/responses/-${status}` }]));
}
