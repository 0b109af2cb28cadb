// Every refusal of the service outside the language: code, HTTP status, message and parameters (resources-and-api.md 10.1, 10.4).
// A code is for ever: never renamed, never used again. The codes of programs and built-ins (10.2, 10.3) are in stdlib/errors.ts; the few
// that both raise stand in both, and a test holds them equal.
import { CascadeError, CATALOGUE as PROGRAM_CATALOGUE, fillTemplate } from '../../stdlib/errors.ts';
import type { Value } from '../../stdlib/values/index.ts';

export { CascadeError } from '../../stdlib/errors.ts';

interface Entry {
  readonly status: number;
  readonly template: string;
  readonly params: readonly string[];
}

/** The params are named as in the specification; their number is checked where an error is made. */
const entry = <const P extends readonly string[]>(status: number, template: string, ...params: P) => ({ status, template, params });

const propertyValue = entry(400, 'The value of {1} of {0} is invalid: {2}.', 'resource', 'property', 'reason');
const patchOperation = entry(400, 'The patch operation {0} on {1} cannot be applied.', 'op', 'path');
const operator = entry(400, 'Operator {0} is not allowed.', 'operator', 'path');
const sort = entry(400, 'Cannot sort by {0}.', 'property');
const range = entry(400, '{0} must be between {1} and {2}.', 'parameter', 'min', 'max');
const sizeLimit = entry(400, 'The request exceeds {0} bytes.', 'limit');
const resourceName = entry(400, 'The name {0} is not allowed: {1}.', 'name', 'reason');
const propertyName = entry(400, '{0} cannot be the name of a property.', 'name');
const unknownKey = entry(400, '{0} names the unknown property {1}.', 'type', 'property');
const definition = entry(400, 'The definition of {0} is invalid: {1}.', 'type', 'reason');
const scalarAction = entry(400, '{1} of scalar {0} is not usable.', 'scalar', 'action');
const inUse = entry(409, '{0} is in use by {1}.', 'name', 'user');
const document = entry(400, 'Document {0}: {1}.', 'name', 'reason');
const unremovable = entry(409, '{0} cannot be removed.', 'name');
const unauthenticated = entry(401, 'Authentication is required.');
const notAllowed = entry(403, '{0} is not allowed.', 'detail');
const runLimit = entry(429, '{0} exceeded its limit {1}.', 'resource', 'limit');
const source = entry(400, 'Source {0}: {1}.', 'source', 'detail');
const sourceState = entry(500, 'Source {0}: {1}.', 'source', 'detail');
const sourceAway = entry(500, 'Source {0} is not connected: {1}.', 'source', 'reason');
const sourceFailed = entry(500, 'Source {0} failed: {1}.', 'source', 'statusText', 'response', 'statusCode');
const remoteFailed = entry(500, 'The request to {0} failed: {1}.', 'source', 'detail');
const publishKey = entry(400, 'Publish to {0}: {1} is missing or invalid.', 'source', 'key');
const mail = entry(400, 'The mail is invalid: {0}.', 'detail');
const mailRefused = entry(500, 'The mail was not accepted: {1}.', 'source', 'answer');
const chatMessage = entry(400, 'The message is invalid: {0}.', 'detail');
const topic = entry(400, 'Topic {0}: {1}.', 'topic', 'reason');
const scheduledEvent = entry(400, 'Scheduled event {0}: {1}.', 'name', 'reason');
const node = entry(400, 'Node {0}: {1}.', 'node', 'reason');
const nodeFailed = entry(500, 'Node {0}: {1}.', 'node', 'detail');
const federation = entry(400, 'The statement cannot run on nodes: {0}.', 'detail');

const CATALOGUE = {
  // Security, routes and request bodies
  'io.service.security.authentication.failed': entry(401, 'Authentication failed.'),
  'io.service.federation.request.timeout': entry(500, 'Node {0} did not answer within {1} ms.', 'node', 'ms'),
  'cascade.api.version.unsupported': entry(404, 'API version {0} is not supported.', 'version'),
  'cascade.resource.not.found': entry(404, '{0} was not found.', 'path'),
  'cascade.resource.type.not.found': entry(404, 'There is no resource named {0}.', 'name'),
  'cascade.method.not.allowed': entry(405, '{0} is not supported on {1}.', 'operation', 'resource'),
  'cascade.operation.unknown': entry(400, 'Unknown operation {0}.', 'op'),
  'cascade.request.body.invalid': entry(400, 'The request body is invalid: {0}.', 'reason', 'offset'),
  'cascade.request.body.too.large': sizeLimit,
  'cascade.request.url.too.long': sizeLimit,
  'cascade.request.content.type': entry(400, 'Content type {0} is not accepted here.', 'type'),
  'cascade.request.parameter.invalid': entry(400, 'Parameter {0} has the invalid value {1}.', 'name', 'value'),
  'cascade.request.too.many.instances': entry(400, 'More than {0} items in one request.', 'limit'),
  'cascade.request.timeout': entry(500, 'The request took longer than {0} ms.', 'ms'),

  // Resources and their properties
  'cascade.resource.name.invalid': resourceName,
  'cascade.resource.name.reserved': resourceName,
  'cascade.resource.key.immutable': entry(400, '{0}.{1} cannot be changed.', 'resource', 'property'),
  'cascade.resource.id.mismatch': entry(400, 'The body names {1}, the address {0}.', 'address', 'body'),
  'cascade.resource.property.required': entry(400, '{0} needs a value for {1}.', 'resource', 'property'),
  'cascade.resource.property.unknown': entry(400, '{0} has no property {1}.', 'resource', 'property'),
  'cascade.resource.property.invalid': entry(400, '{1} of {0} is invalid: {2}.', 'resource', 'property', 'reason'),
  'cascade.request.id.reused': entry(409, 'The request id {0} was used for another request, or with other rights.', 'requestId'),
  'cascade.resource.too.large': entry(400, 'The instance exceeds {0} bytes.', 'limit'),
  'cascade.resource.duplicate.key': entry(409, '{0} already has an instance with {1}.', 'resource', 'key'),
  'cascade.resource.ambiguous': entry(409, '{1} names {2} of {0}: name the one by its _id.', 'resource', 'name', 'n'),
  'cascade.upsert.key.missing': entry(400, 'UPSERT of {0} needs {1}.', 'resource', 'properties'),
  'cascade.upsert.ambiguous': entry(409, '{1} matches {2} instances of {0}.', 'resource', 'key', 'n'),
  'cascade.update.authorization.or.version.conflict': entry(409, '{0} was changed by someone else.', 'path', 'expected', 'actual'),
  'cascade.update.version.query': entry(400, 'ars_version needs a condition on one instance of {0}.', 'resource'),
  'cascade.delete.where.required': entry(400, 'Deleting many instances of {0} needs a condition.', 'resource'),
  'cascade.patch.invalid': patchOperation,
  'cascade.patch.path.missing': patchOperation,
  'cascade.patch.path.forbidden': patchOperation,
  'cascade.patch.test.failed': entry(409, 'The value at {0} differs.', 'path'),

  // Conditions, sorting, aggregation
  'cascade.query.operator.unknown': operator,
  'cascade.query.operator.forbidden': operator,
  'cascade.query.operator.mixed': operator,
  'cascade.query.operand.invalid': entry(400, 'The operand of {1} on {0} is invalid.', 'path', 'operator'),
  'cascade.query.condition.type': entry(400, 'A condition must be an Object, not {0}.', 'type'),
  'cascade.query.property.forbidden': entry(400, '{0} cannot be used in a condition.', 'path'),
  'cascade.query.sort.invalid': sort,
  'cascade.query.sort.unsupported': sort,
  'cascade.query.limit.range': range,
  'cascade.query.page.range': range,
  'cascade.query.not.unique': entry(400, 'The condition matches more than one instance of {0}.', 'resource'),
  'cascade.query.group': entry(400, '{1} of {0} is neither grouped nor aggregated.', 'resource', 'property'),
  'cascade.query.aggregate.value': entry(400, '{0} of {1} cannot use the value {2}.', 'function', 'property', 'value'),
  'cascade.query.geo.index.missing': entry(400, '{0} needs a geo index.', 'path'),
  'cascade.query.substitution.unknown': entry(400, 'Unknown substitution {0}.', 'name'),
  'cascade.query.stage.forbidden': entry(400, 'Stage {0} is not allowed.', 'stage'),
  'cascade.query.too.expensive': entry(400, 'The query exceeds its limits.', 'limit'),

  // Types, scalars and their instances
  'cascade.type.name.reserved': entry(400, '{0} cannot be the name of a type.', 'name'),
  'cascade.type.property.name.reserved': propertyName,
  'cascade.type.property.name.invalid': propertyName,
  'cascade.type.property.type': entry(400, '{1} of {0} has the unknown type {2}.', 'type', 'property', 'typeName'),
  'cascade.type.property.scale.required': entry(400, 'Decimal property {1} of {0} needs a scale.', 'type', 'property'),
  'cascade.type.property.default': entry(400, 'The default of {1} of {0} does not fit its type.', 'type', 'property'),
  'cascade.type.property.unknown': entry(400, '{0} has no property {1}.', 'type', 'property'),
  'cascade.type.property.required': entry(400, '{0} needs a value for {1}.', 'type', 'property'),
  'cascade.type.property.invalid': entry(400, '{1} of {0} must be {2}: {3}.', 'type', 'property', 'expected', 'reason'),
  'cascade.type.key.unknown': unknownKey,
  'cascade.type.index.invalid': unknownKey,
  'cascade.type.index.duplicate': entry(409, 'Existing instances of {0} violate the index {1}.', 'type', 'keys'),
  'cascade.type.change.incompatible': entry(400, '{1} of {0} cannot change while instances exist.', 'type', 'attribute'),
  'cascade.type.group.flags': definition,
  'cascade.type.access.level.unknown': definition,
  'cascade.type.expiry.invalid': definition,
  'cascade.type.storage.invalid': definition,
  'cascade.type.capped.readonly': entry(400, 'Instances of the capped type {0} cannot be changed.', 'type'),
  'cascade.type.role.no.instances': entry(400, 'The schema type {0} has no instances.', 'type'),
  'cascade.scalar.procedure.missing': scalarAction,
  'cascade.scalar.procedure.signature': scalarAction,
  'cascade.scalar.in.use': inUse,
  'cascade.service.in.use': inUse,
  'cascade.service.state.deadlock': entry(409, '{0} is held by a run that waits for this one.', 'lock'),
  'cascade.profile.in.use': inUse,
  'cascade.organization.in.use': inUse,

  // Values of single resources
  'cascade.document.name.invalid': document,
  'cascade.document.name.reserved': document,
  'cascade.document.too.large': document,
  'cascade.debugconfig.type': propertyValue,
  'cascade.debugconfig.value': propertyValue,
  'cascade.debugconfig.global': propertyValue,
  'cascade.profile.constraint.invalid': entry(
    400,
    'The value of {1} of {0} is invalid: {2}.',
    'resource',
    'property',
    'reason',
    'code of the query',
  ),
  'cascade.group.member.unknown': propertyValue,
  'cascade.group.unknown': propertyValue,
  'cascade.group.required': propertyValue,
  'cascade.user.name.invalid': propertyValue,
  'cascade.user.password.weak': propertyValue,
  'cascade.user.profiles.invalid': propertyValue,
  'cascade.token.property.generated': propertyValue,
  'cascade.namespace.user.exists': propertyValue,
  'cascade.namespace.home.revoke': propertyValue,
  'cascade.user.not.found': entry(404, 'There is no user {0}.', 'username'),
  'cascade.user.self.delete': unremovable,
  'cascade.namespace.last.admin': unremovable,
  'cascade.backup.key.required': entry(400, 'Namespace {0} has encrypted values: a backup of it needs a key.', 'namespace'),
  'cascade.backup.key.invalid': entry(400, 'The key of the backup cannot be used: {0}.', 'reason'),
  'cascade.backup.invalid': entry(400, 'The backup cannot be restored: {0}.', 'reason'),
  'cascade.backup.namespace.used': entry(409, 'Namespace {0} is not empty: it has {1}.', 'namespace', 'what'),
  'cascade.backup.expired': entry(
    409,
    'The backup took longer than the database keeps what it was made of: five minutes, or its minSnapshotHistoryWindowInSeconds.',
  ),

  // Rights, quotas, limits of a run
  'cascade.security.credentials.missing': unauthenticated,
  'cascade.security.token.invalid': unauthenticated,
  'cascade.security.rate.limited': entry(429, 'Too many failed attempts.', 'seconds'),
  'cascade.authorization.denied': entry(403, '{0} on {1} is not allowed.', 'operation', 'resource'),
  'cascade.namespace.not.authorized': entry(403, 'No access to namespace {0}.', 'namespace'),
  'cascade.profile.immutable': notAllowed,
  'cascade.profile.escalation': notAllowed,
  'cascade.group.not.member': notAllowed,
  'cascade.user.password.mismatch': notAllowed,
  'cascade.quota.exceeded': entry(429, 'The quota {0} of {1} is exceeded.', 'quota', 'limit'),
  'cascade.execution.timeout': runLimit,
  'cascade.execution.depth': runLimit,
  'cascade.execution.memory': runLimit,
  'cascade.execution.iteration.limit': runLimit,
  'cascade.execution.suspended': entry(429, '{0} is suspended after repeated failures.', 'resource'),
  'cascade.event.path.invalid': entry(400, '{0} is not an event path.', 'path'),
  'cascade.event.path.gone': entry(410, '{0} no longer exists.', 'path'),
  'cascade.subscription.unknown': entry(404, 'There is no subscription {0}.', 'name'),
  'cascade.server.error': entry(500, 'Unexpected condition, reference {0}.', 'correlationId'),
  'cascade.server.unavailable': entry(500, 'The service is temporarily unavailable.'),

  // Sources
  'cascade.source.type.unknown': source,
  'cascade.source.type.immutable': source,
  'cascade.source.direction': source,
  'cascade.source.inactive': source,
  'cascade.source.query.unsupported': source,
  'cascade.source.reliable.unsupported': source,
  'cascade.source.address.refused': entry(400, '{0} may not be reached from here.', 'address'),
  'cascade.source.config.invalid': entry(400, '{0} is invalid: {1}.', 'field', 'reason'),
  'cascade.source.unavailable': sourceAway,
  'cascade.source.connect.failed': sourceAway,
  'cascade.source.query.failed': sourceFailed,
  'cascade.source.publish.failed': sourceFailed,
  // The next five stand in logs and in the state of a source only; no answer carries them.
  'cascade.source.message.malformed': sourceState,
  'cascade.source.message.too.large': sourceState,
  'cascade.source.pipeline.failed': sourceState,
  'cascade.source.pipeline.unresolved': sourceState,
  'cascade.source.secret.unknown': sourceState,
  'cascade.remote.request.invalid': entry(400, 'The request to {0} is invalid: {1}.', 'source', 'reason'),
  'cascade.remote.connect.failed': remoteFailed,
  'cascade.remote.request.timeout': remoteFailed,
  'cascade.remote.response.malformed': remoteFailed,
  'cascade.remote.response.too.large': remoteFailed,
  'cascade.remote.oauth.failed': remoteFailed,
  'cascade.remote.oauth.source': remoteFailed,
  'cascade.mqtt.message.missing': publishKey,
  'cascade.mqtt.topic.missing': publishKey,
  'cascade.mqtt.topic.invalid': publishKey,
  'cascade.mqtt.qos.invalid': publishKey,
  'cascade.nats.publish.invalid': entry(400, 'Publish to {0}: {1}: {2}.', 'source', 'key', 'reason'),
  'cascade.amqp.topic.missing': publishKey,
  'cascade.amqp.publish.rejected': entry(500, '{1} did not accept the message.', 'source', 'address'),
  'cascade.amqp.address.unknown': entry(500, '{1} does not exist.', 'source', 'address'),
  'cascade.email.parameter.missing': entry(400, '{0} is required.', 'key'),
  'cascade.email.header.invalid': entry(400, 'The header {0} is invalid.', 'name'),
  'cascade.email.body.invalid': mail,
  'cascade.email.address.invalid': mail,
  'cascade.email.recipients.rejected': mailRefused,
  'cascade.email.send.failed': mailRefused,
  'cascade.chatbot.authentication.failed': entry(401, 'Authentication failed.'),
  'cascade.webhook.authentication.failed': entry(401, 'Authentication failed.'),
  'cascade.chatbot.channel.unknown': entry(404, 'No mapping for {0} on {1}.', 'channel', 'service'),
  'cascade.chatbot.message.invalid': chatMessage,
  'cascade.chatbot.service.url.refused': chatMessage,
  'cascade.chatbot.send.failed': entry(500, 'The chat service answered {0}.', 'status', 'body'),

  // Notifications, topics, schedules, nodes
  'cascade.notification.source': entry(400, 'Source {0} is not of type PUSH_NOTIF.', 'source'),
  'cascade.notification.users': entry(400, 'Users are an array of one or more Strings, not {0}.', 'users'),
  'cascade.notification.target.missing': entry(400, 'A notification through {0} needs users or devices, as an array of Strings.', 'source'),
  'cascade.notification.submit.value': entry(400, 'No button of the form has the value {0}.', 'submitValue'),
  'cascade.notification.payload': entry(400, '{0}: {1}.', 'pointer', 'reason'),
  'cascade.notification.value.invalid': entry(400, '{0}: {1}.', 'fieldId', 'reason'),
  'cascade.notification.required.missing': entry(400, 'Required fields are empty.', 'fieldIds'),
  'cascade.notification.not.pending': entry(409, 'Message {0} is not pending.', 'messageId'),
  'cascade.topic.name.invalid': topic,
  'cascade.topic.name.reserved': topic,
  'cascade.topic.message.invalid': topic,
  'cascade.scheduledevent.schedule.invalid': scheduledEvent,
  'cascade.scheduledevent.occurs.past': scheduledEvent,
  'cascade.scheduledevent.onetime.immutable': scheduledEvent,
  'cascade.scheduledevent.cron.invalid': scheduledEvent,
  'cascade.scheduledevent.cron.never': scheduledEvent,
  'cascade.scheduledevent.zone.unknown': scheduledEvent,
  'cascade.node.invalid': node,
  'cascade.node.uri.invalid': node,
  'cascade.node.delivery.mode': node,
  'cascade.federation.nodes': entry(400, '{0} nodes match, expected {1}.', 'found', 'expected'),
  'cascade.federation.within': federation,
  'cascade.federation.value': federation,
  'cascade.federation.hops': federation,
  'cascade.federation.unreachable': nodeFailed,
  'cascade.federation.protocol': nodeFailed,
  'cascade.federation.delivery.pending': nodeFailed,
} as const satisfies Record<string, Entry>;

export type ApiErrorCode = keyof typeof CATALOGUE;
type ValueEach<P extends readonly string[]> = { -readonly [K in keyof P]: Value };
type Params<C extends ApiErrorCode> = ValueEach<(typeof CATALOGUE)[C]['params']>;

/**
 * An operation that is refused. The number of params is that of the code's row in the specification. What is told to a client has no stack:
 * nobody reads it, and one body may be refused for thousands of reasons, or a thousand requests at once for the end of their connection.
 */
export function apiError<C extends ApiErrorCode>(code: C, ...params: Params<C>): CascadeError {
  const { status, template } = CATALOGUE[code];
  const values: Value[] = [...params];
  const usual = Error.stackTraceLimit;
  if (status !== 500) Error.stackTraceLimit = 0;
  const error = new CascadeError(code, fillTemplate(template, values), values, status);
  Error.stackTraceLimit = usual;
  return error;
}

/** The refusal of an operation, which knows those that the resource offers; `command` stands for commands of any name. */
export function notOffered(
  operation: string,
  { name, operations }: { readonly name: string; readonly operations: ReadonlySet<string> },
  commands: readonly string[],
): CascadeError {
  const offered = new Set([...operations, ...(commands.length > 0 ? ['command'] : [])]);
  return Object.assign(apiError('cascade.method.not.allowed', operation, name), { offered });
}

/** Several refusals of one request, in the order in which they were found: never empty. */
export class CascadeErrors extends Error {
  readonly status: number;
  readonly errors: CascadeError[];
  constructor(errors: CascadeError[]) {
    super(errors.map((error) => error.message).join(' '));
    this.name = 'CascadeErrors';
    this.errors = errors;
    this.status = commonStatus(errors);
  }
}

/** Whether something is refused, once or several times over: everything else that is thrown is a defect of ours, or of what we stand on. */
export const isApiError = (error: unknown): error is CascadeError | CascadeErrors =>
  error instanceof CascadeError || error instanceof CascadeErrors;

/** What is refused as one error; of several the first, as programs are told of them. null: it is no refusal. */
export function refusalOfOne(error: unknown): CascadeError | null {
  if (error instanceof CascadeErrors) return error.errors[0] ?? null;
  return error instanceof CascadeError ? error : null;
}

/** One status for several errors: theirs, or 400 when they differ (resources-and-api.md 2.12). */
function commonStatus(errors: readonly CascadeError[]): number {
  const status = errors[0]?.status ?? 400;
  return errors.every((error) => error.status === status) ? status : 400;
}

export interface ErrorDocument {
  code: string;
  message: string;
  params: Value[];
}

/** What a client sees of an error, on every binding. */
export const errorDocument = ({ code, message, params }: CascadeError): ErrorDocument => ({ code, message, params });

/** The status of any code: of this catalogue, of the language's, else 400 (a diagnostic, or a code made by `exception()`). */
export function statusOf(code: string): number {
  const of = <T extends object>(catalogue: T) =>
    Object.hasOwn(catalogue, code) ? (catalogue[code as keyof T] as Entry).status : undefined;
  return of(CATALOGUE) ?? of(PROGRAM_CATALOGUE) ?? 400;
}

/** All codes of this catalogue, for the test that compares it with the documents and the conformance cases. */
export const apiErrorCodes = (): ApiErrorCode[] => Object.keys(CATALOGUE) as ApiErrorCode[];

/** The same codes with what is known of each, for the documents that are made from it. */
export const apiErrorRows = (): [code: ApiErrorCode, row: Entry][] => Object.entries(CATALOGUE) as [ApiErrorCode, Entry][];

/** When a repetition may do better: on every 429 but the limits of one run (resources-and-api.md 1.7), and when the database is away (9.3). */
export function retryAfterSeconds({ code, status, params, retryAfterSeconds: known }: CascadeError): number | null {
  if (known !== undefined) return known;
  if (code === 'cascade.security.rate.limited') return Number(params[0]);
  if (code === 'cascade.server.unavailable') return 5;
  if (code === 'cascade.execution.suspended') return 60;
  return status === 429 && !code.startsWith('cascade.execution.') ? 1 : null;
}
