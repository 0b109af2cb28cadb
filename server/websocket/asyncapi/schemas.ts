// Schemas of the messages of the WebSocket. Those of a client follow the tables of operations, those of the service what message.ts writes.
import { describedParameter, type ParameterName } from '../../http/index.ts';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import type { Reading } from '../operations.ts';

export const schemaRef = (name: string): ObjectValue => ({ $ref: `#/components/schemas/${name}` });

const TEXT: ObjectValue = { type: 'string' };
const REQUEST_ID: ObjectValue = { type: ['string', 'number'], description: 'Of your choice; comes back as X-Request-Id' };
const NAMESPACE: ObjectValue = {
  type: ['string', 'null'],
  description: 'Another namespace that the user may enter, for this message alone',
};

/** The parameters by which other installations forward requests. */
const FEDERATION: ObjectValue = {
  'X-Cascade-Federation': { const: '1' },
  'X-Cascade-Hop': { type: ['string', 'number'], description: 'How many installations the request has passed' },
  'X-Cascade-Deadline-Ms': { type: ['string', 'number'] },
  'X-Cascade-Values': { const: 'typed' },
};

const objectOf = (required: readonly string[], properties: ObjectValue): ObjectValue => ({
  type: 'object',
  required: [...required],
  properties,
});

interface Request {
  readonly op: ObjectValue;
  readonly resourceName: ObjectValue;
  readonly reading: Pick<Reading, 'id' | 'object'>;
  readonly parameters: ObjectValue;
  readonly requiredParameters?: readonly string[];
}

function requestSchema({ op, resourceName, reading, parameters, requiredParameters = [] }: Request): ObjectValue {
  const { id, object } = reading;
  return objectOf(
    [
      'op',
      'resourceName',
      ...(id === 'required' ? ['resourceId'] : []),
      ...(object === 'required' ? ['object'] : []),
      ...(requiredParameters.length > 0 ? ['parameters'] : []),
    ],
    {
      op,
      resourceName,
      ...(id !== 'none' && { resourceId: id === 'required' ? TEXT : { type: ['string', 'null'] } }),
      ...(object !== 'none' && { object: {} }),
      parameters: { ...objectOf(requiredParameters, { requestId: REQUEST_ID, ...parameters }), type: ['object', 'null'] },
      targetNamespace: NAMESPACE,
    },
  );
}

/** A request on a resource. @param op a constant, or the names of commands */
export const resourceRequest = (op: ObjectValue, reading: Reading, requiredParameters?: readonly string[]): ObjectValue =>
  requestSchema({
    op,
    resourceName: schemaRef('ResourceName'),
    reading,
    parameters: {
      ...Object.fromEntries(reading.parameters.map((name: ParameterName): [string, Value] => [name, describedParameter(name)])),
      'X-Cascade-Request-Id': { type: ['string', 'number'], description: 'A change with the same one within a day gets the stored answer' },
      ...FEDERATION,
    },
    ...(requiredParameters && { requiredParameters }),
  });

export const loginRequest = (op: string, object: ObjectValue): ObjectValue =>
  objectOf(['op', 'resourceName', 'object'], {
    op: { const: op },
    resourceName: { enum: ['credentials', 'system.credentials'] },
    object,
    parameters: { type: ['object', 'null'] },
    targetNamespace: { ...NAMESPACE, description: 'The namespace of the session, where it is not the user’s own' },
  });

/** A message about a subscription. @param id whether it names the path of the events */
export const subscriptionRequest = (op: string, id: Reading['id'], parameters: ObjectValue, required?: readonly string[]): ObjectValue =>
  requestSchema({
    op: { const: op },
    resourceName: { enum: ['events', 'system.events'] },
    reading: { ...(id && { id }), object: 'none' },
    parameters,
    ...(required && { requiredParameters: required }),
  });

export const CANCELLATION: ObjectValue = objectOf(['op', 'resourceId', 'parameters'], {
  op: { const: 'cancel' },
  resourceId: { type: 'string', description: 'The request id of an `execute`' },
  parameters: objectOf(['X-Cascade-Federation'], FEDERATION),
});

const HEADERS: ObjectValue = {
  type: 'object',
  properties: {
    'X-Request-Id': { type: ['string', 'number'] },
    'X-Cascade-Values': { const: 'typed' },
    'X-Partial-Result': { const: 'true' },
  },
};
const JSON_TYPE: ObjectValue = { const: 'application/json' };
const ERROR_STATUS: ObjectValue = { type: 'integer', minimum: 400, maximum: 599 };

/** An answer with a body. @param headers false: the answers to logins have none */
export function answerSchema(status: ObjectValue, body: ObjectValue, headers: boolean, more: ObjectValue = {}): ObjectValue {
  const properties = { status, ...(headers && { headers: HEADERS }), contentType: JSON_TYPE, body, ...more };
  const schema = objectOf(Object.keys(properties), properties);
  return headers ? schema : { ...schema, not: { required: ['headers'] } };
}

/** The errors stand twice, for clients of either kind. */
export const refusalSchema = (headers: boolean): ObjectValue =>
  answerSchema(ERROR_STATUS, schemaRef('-Errors'), headers, { errors: schemaRef('-Errors') });

/** A body, or none with 204. */
export const ANSWER: ObjectValue = {
  type: 'object',
  required: ['status', 'headers'],
  properties: { status: { enum: [200, 204] }, headers: HEADERS, contentType: JSON_TYPE, body: {} },
};

/** A message of the service that answers none. */
export const noticeSchema = (required: readonly string[], properties: ObjectValue): ObjectValue =>
  answerSchema({ const: 100 }, objectOf(required, properties), true);

/** @param names the types and resources of the namespace */
export const resourceNames = (names: readonly string[]): ObjectValue => ({
  type: 'string',
  description: 'A type, without `custom/`, or a resource of the service, with or without `system.` before its name',
  examples: [...names],
});

export const EVENT_BODY: ObjectValue = {
  path: { type: 'string', description: 'Of the event: that of an instance ends with its id' },
  value: { description: 'The instance, the message, or what else the event is about' },
  createdAt: { type: 'integer', description: 'Milliseconds since 1970' },
  namespace: TEXT,
  username: { type: 'string', description: 'Who listens' },
  partitionId: { type: 'integer', description: 'With the next two: of an event that is to be acknowledged' },
  sequenceId: { type: 'integer' },
  redelivered: { type: 'boolean' },
};

export const CREDENTIALS: ObjectValue = objectOf(['username', 'password'], { username: TEXT, password: TEXT });
