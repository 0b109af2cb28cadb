// The frames of SockJS, in which messages stand.
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import type { Described } from './received.ts';

export interface DescribedFrame extends Described {
  readonly action: 'send' | 'receive';
  readonly contentType: 'text/plain' | 'application/json';
}

const frame = (summary: string, pattern: string, example: string): DescribedFrame => {
  const payload: ObjectValue = { type: 'string', pattern };
  return { action: 'send', contentType: 'text/plain', summary, payload, examples: [example] };
};

export const FRAMES: Readonly<
  Record<'sockjsMessages' | 'sockjsOpening' | 'sockjsHeartbeat' | 'sockjsMessage' | 'sockjsClosing', DescribedFrame>
> = {
  sockjsMessages: {
    action: 'receive',
    contentType: 'application/json',
    summary: 'Messages of the client, or one as a text alone',
    payload: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 1_000 }] },
    examples: [['{"op":"select","resourceName":"Meter","parameters":{"requestId":3}}']],
  },
  sockjsOpening: frame('The first frame', '^o$', 'o'),
  sockjsHeartbeat: frame('A sign of life every 25 seconds', '^h$', 'h'),
  sockjsMessage: frame('A message of the service', '^a\\["', 'a["{\\"status\\":204,\\"headers\\":{\\"X-Request-Id\\":3}}"]'),
  sockjsClosing: frame('The last frame: code and reason', '^c\\[\\d{4},"', 'c[3000,"Go away!"]'),
};
