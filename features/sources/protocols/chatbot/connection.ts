// The connection of a CHATBOT source (integrations.md 6): receives messages of the bot framework, sends replies and messages to channels.
import { apiError } from '../../../../model/errors/index.ts';
import { parseJson } from '../../../../model/values/index.ts';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import type { Connection, InboundRequest, SourceContext } from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import { followUpdate, listChannels } from './channels.ts';
import { InboundAuth } from './inbound-auth.ts';
import { keyOf, Outgoing } from './outgoing.ts';

const MOST_BYTES = 1_048_576;

export async function openChatbot(context: SourceContext): Promise<Connection> {
  const auth = new InboundAuth(context);
  const outgoing = await Outgoing.open(context);
  const refusals = new Refusals(context);
  if (auth.mode === 'none') context.log('WARN', `Source ${context.source}: its messages are not checked (inboundAuth is none).`);
  return {
    async accept(request) {
      let reading: ReturnType<typeof bodyOf> | null = null; // not before the sender has shown who it is
      const read = () => (reading ??= bodyOf(request));
      const isAdmitted = await auth.admits(request, async () => own((await read()).message ?? {}, 'serviceUrl'));
      if (!isAdmitted) {
        refusals.note();
        throw apiError('cascade.chatbot.authentication.failed');
      }
      const { message, problem } = await read();
      if (!message) throw problem;
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

async function bodyOf({ content }: InboundRequest): Promise<{ message: ObjectValue | null; problem: unknown }> {
  try {
    const value = parseJson(await content(MOST_BYTES));
    if (isObject(value)) return { message: value, problem: null };
    return { message: null, problem: apiError('cascade.request.body.invalid', 'an object is expected', 0) };
  } catch (problem) {
    return { message: null, problem };
  }
}
