// REMOTE (integrations.md 2): HTTP and HTTPS, for queries, publishes and polls.
import { getOwn, isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import {
  address,
  ANY_DIRECTION,
  COMMON,
  type Fits,
  flag,
  host,
  hostsIn,
  mediaTypeText,
  oneOf,
  own,
  text,
  texts,
  whole,
} from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { isNamedSecret, TLS_FIELDS } from '../../../../platform/egress/index.ts';
import { mergedRequest } from './merge.ts';
import { planRequest, RequestProblem } from './request.ts';

const proxy: Fits = (value) => {
  if (!isObject(value)) return 'no Object';
  if (host(own(value, 'host')) !== null) return 'proxyOptions.host: no host';
  const wrong = whole(1, 65_535)(own(value, 'port'));
  return wrong === null ? null : `proxyOptions.port: ${wrong}`;
};

const CLIENT_FIELDS: Readonly<Record<string, Fits>> = {
  ...TLS_FIELDS,
  proxyOptions: proxy,
  decompressionSupported: flag,
  connectTimeout: whole(1, 600_000),
};

/** Checks each field of `clientOptions`. */
const clientOptions: Fits = (value) => {
  if (!isObject(value)) return 'no Object';
  for (const [name, fits] of Object.entries(CLIENT_FIELDS)) {
    const field = own(value, name);
    const wrong = field === null ? null : fits(field);
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  return null;
};

const proxyHosts = (config: ObjectValue): string[] => {
  const client = own(config, 'clientOptions');
  const options = isObject(client) ? own(client, 'proxyOptions') : null;
  return isObject(options) ? [String(own(options, 'host'))] : [];
};

/** Checks a request document that consists of these members alone. */
const requestDocument: Fits = (value) => (isObject(value) ? problemOf(mergedRequest({}, value), 'query') : 'no Object');

/** What is wrong with a request, as far as it can be known here: documents that its parts name are looked up when it is sent. */
function problemOf(request: ObjectValue, operation: 'query' | 'publish'): string | null {
  const merged = { ...request };
  for (const key of Object.keys(merged)) if (isNamedSecret(getOwn(merged, key))) delete merged[key]; // known when it is activated
  const parts = own(merged, 'parts');
  if (Array.isArray(parts) && parts.some((part) => isObject(part) && own(part, 'ref') !== null)) delete merged['parts'];
  try {
    planRequest(merged, operation, false);
    return null;
  } catch (error) {
    if (error instanceof RequestProblem) return error.message;
    throw error;
  }
}

function requireValid(source: string, request: ObjectValue, operation: 'query' | 'publish'): void {
  const problem = problemOf(request, operation);
  if (problem !== null) throw apiError('cascade.remote.request.invalid', source, problem);
}

export const REMOTE: Protocol = {
  type: 'REMOTE',
  directions: ANY_DIRECTION,
  hasQuery: true,
  canBeReliable: false,
  required: [['uri', 'serverURIs']],
  fields: {
    ...COMMON,
    uri: (value) => text(value) ?? address('https?')(value),
    serverURIs: address('https?'),
    username: text,
    password: text,
    accessToken: text,
    realm: text,
    requestDefaults: requestDocument,
    contentType: mediaTypeText,
    pollingInterval: whole(0),
    query: requestDocument,
    queryForm: oneOf('url', 'body'),
    topics: texts,
    clientOptions,
    followRedirects: flag,
    oauthSourceName: text,
    oauthGrantType: oneOf('client_credentials', 'refresh_token'),
    oauthClientId: text,
    oauthClientSecret: text,
    oauthRefreshToken: text,
    oauthScope: text,
    oauthAudience: text,
    oauthUseBasicAuth: flag,
    oauthContentType: oneOf('application/x-www-form-urlencoded', 'application/json'),
  },
  hosts: (config) => [...hostsIn(config, 'uri', 'serverURIs'), ...proxyHosts(config)],
  isStanding: (config, direction) => direction !== 'SINK' && Number(own(config, 'pollingInterval') ?? 0) > 0,
  merged: (config, documents) => mergedRequest(config, ...documents),
  checkPublish: (source, _config, request) => requireValid(source, request, 'publish'),
  checkQuery: (source, _config, request) => requireValid(source, request, 'query'),
  open: async (context) => (await import('./connection.ts')).openRemote(context),
};
