// Answers a message (integrations.md 8.4): the answer is checked as on the device, published and recorded in one unit.
import { DateTime, decodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { toFilter } from '../../model/query/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { ownOnly, withOwn } from '../../resources/access/index.ts';
import type { Namespace, Command } from '../../resources/catalog/index.ts';
import { condition, notFound, read, readAt, atomically, changeOf, updateOne } from '../../resources/instances/index.ts';
import { own } from '../../resources/operations/index.ts';
import { reply } from '../../resources/requests/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { publishTopic } from '../topics/index.ts';
import { answerOf } from './form-answer.ts';
import { notifyDevices } from './inbox.ts';
import { isExpired, recipientsOf, submittedBy } from './payload-messages.ts';
import { deviceOf } from './push-targets.ts';
import { requireSame, sentAtIn } from './seen-message.ts';

/**
 * Answers a message for the caller. The body has `deviceId`, `submitValue`, `values`, `location`, `sentAt`.
 * @returns the response object, as it was published
 * @throws cascade.resource.not.found: the caller has no such message or device; cascade.notification.not.pending, errors of answerOf
 */
export const submit: Command = async (space, id, { object = null }, actor) => {
  const body = bodyIn(object);
  const answer = await atomically(space, `message ${id}`, actor, (batching) => submitted(space, id, body, batching));
  if (!('ok' in answer)) throw new Error('a submit has no answer');
  return reply(toJson(decodeInner(answer.ok)));
};

interface Body {
  readonly deviceId: string | null;
  readonly submitValue: Value;
  readonly values: ObjectValue;
  readonly location: Value;
  readonly sentAt: DateTime | null;
}

/** @throws cascade.request.body.invalid, cascade.resource.property.invalid */
function bodyIn(object: Value): Body {
  const body = object ?? {};
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const [deviceId, values] = [own(body, 'deviceId'), own(body, 'values') ?? {}];
  if (deviceId !== null && typeof deviceId !== 'string') throw invalid('deviceId', 'no String');
  if (!isObject(values)) throw invalid('values', 'no Object');
  return { deviceId, submitValue: own(body, 'submitValue'), values, location: own(body, 'location'), sentAt: sentAtIn(body) };
}

const invalid = (name: string, reason: string) => apiError('cascade.resource.property.invalid', PAYLOAD_MESSAGES.name, name, reason);

async function submitted(space: Namespace, id: string, body: Body, actor: Actor): Promise<Value> {
  const { username } = actor.identity;
  const message = await readAt(space, PAYLOAD_MESSAGES, id);
  const recipient = recipientsOf(message).find((one) => own(one, 'username') === username);
  if (!recipient) throw notFound(PAYLOAD_MESSAGES, id);
  requireSame(id, message, body.sentAt);
  if (own(recipient, 'status') !== 'pending' || isExpired(message, actor.clock.now()))
    throw apiError('cascade.notification.not.pending', id);
  const device = body.deviceId === null ? null : await deviceOf(space, username, body.deviceId);
  if (body.deviceId !== null && !device) throw apiError('cascade.resource.not.found', `/ArsPushTarget/${body.deviceId}`);
  const payload = own(message, 'payload');
  const form = isObject(payload) ? payload : {};
  const now = actor.clock.now();
  const { submitValue, values } = await answerOf(form, { ...body, now, hasDocument: (name) => hasDocument(space, name, actor) });
  const responseTopic = own(form, 'responseTopic');
  const response: ObjectValue = {
    responseTopic,
    submitValue,
    username,
    deviceId: body.deviceId,
    deviceName: device && own(device, 'deviceName'),
    values,
    ...(Object.hasOwn(form, 'state') ? { state: getOwn(form, 'state') } : {}),
  };
  const changes = submittedBy(message, username, { deviceId: body.deviceId, submitValue, submittedAt: new DateTime(now) });
  await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), actor);
  await notifyDevices(space, 'removed', message, [username], actor, (id) => id !== body.deviceId);
  if (typeof responseTopic === 'string') await publishTopic(space, responseTopic, response, actor);
  return response;
}

/** Whether a document of that name exists and the caller may see it. */
async function hasDocument(space: Namespace, name: string, actor: Actor): Promise<boolean> {
  const documents = space.catalog.features.named('documents');
  if (documents?.kind !== 'instances') return false;
  const where = withOwn({ name: { $eq: name } }, ownOnly(space, documents, 'select', actor.identity));
  return (await read(space, documents, toFilter(await condition(space, documents, where, actor)), 1)).length > 0;
}
