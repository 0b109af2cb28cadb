// The connection of a CHATBOT source (integrations.md 6): receives messages of the bot framework, sends replies and messages to channels.
import { apiError } from '../../../../model/errors/index.ts';
import { parseJson } from '../../../../model/values/index.ts';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import type { Connection, InboundRequest, SourceContext } from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import { followUpdate, listChannels } from './channels.ts';
import { InboundAuth } from './inbound-auth.ts';
import { Outgoing } from './outgoing.ts';

const MOST_BYTES = 1_048_576;

export async function openChatbot(context: SourceContext): Promise<Connection> {
  const auth = new InboundAuth(context);
  const outgoing = await Outgoing.open(context);
  const refusals = new Refusals(context);
  if (auth.mode === 'none') context.log('WARN', `Source ${context.source}: its messages are not checked (inboundAuth is none).`);
  return {
    async accept(request) {
      const read = bodyOf(request);
      const isAdmitted = await auth.admits(request, () => (read.message ? own(read.message, 'serviceUrl') : undefined));
      if (!isAdmitted) {
        refusals.note();
        throw apiError('cascade.chatbot.authentication.failed');
      }
      if (!read.message) throw read.problem;
      const { message } = read;
      await followUpdate(context, message);
      outgoing.remember(message);
      const onceKey = keyOf(message);
      await context.deliver({ value: message, ...(onceKey !== null && { onceKey }) });
      return { status: 200, body: {} };
    },
    publish: (request) => outgoing.send(request),
    async view(name) {
      if (name !== 'channels') throw apiError('cascade.resource.not.found', `/sources/${context.source}/${name}`);
      return listChannels(context);
    },
    close: () => outgoing[Symbol.asyncDispose](),
  };
}

function bodyOf({ body }: InboundRequest): { message: ObjectValue } | { message: null; problem: unknown } {
  if (body.length > MOST_BYTES) return { message: null, problem: apiError('cascade.request.body.too.large', MOST_BYTES) };
  try {
    const value = parseJson(body);
    if (isObject(value)) return { message: value };
    return { message: null, problem: apiError('cascade.request.body.invalid', 'an object is expected', 0) };
  } catch (problem) {
    return { message: null, problem };
  }
}

/** The deduplication key of a message; null for a message without an id. */
function keyOf(message: ObjectValue): string | null {
  const [id, channel, conversation] = [own(message, 'id'), own(message, 'channelId'), own(message, 'conversation')];
  if (typeof id !== 'string') return null;
  return JSON.stringify([String(channel), isObject(conversation) ? String(own(conversation, 'id')) : null, id]);
}
