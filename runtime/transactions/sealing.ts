// The texts of events, steps and reads in a journal row: sealed where the namespace has a key, since values of encrypted properties may stand
// in any of them.

import { type Cipher, openText, sealText } from '../../model/values/index.ts';
import type { Answer, Read, Step, StoredEvent, TickRow } from './types.ts';

const PLACE = 'journal';

type Change = (text: string) => string;

export const sealing =
  (cipher: Cipher | null): Change =>
  (text) =>
    sealText(cipher, text, PLACE);
export const opening =
  (cipher: Cipher | null): Change =>
  (text) =>
    openText(cipher, text, PLACE);

export function withRowTexts(row: TickRow, change: Change): TickRow {
  return {
    ...row,
    events: row.events.map((event) => withEventTexts(event, change)),
    steps: row.steps.map((step) => withStepTexts(step, change)),
  };
}

export function withEventTexts(event: StoredEvent, change: Change): StoredEvent {
  const { value, transport } = event;
  return {
    ...event,
    value: change(value),
    ...(transport && { transport: { ...transport, properties: change(transport.properties) } }),
  };
}

export function withStepTexts(step: Step, change: Change): Step {
  return { ...withReadTexts(step, change), reads: step.reads.map((read) => withReadTexts(read, change)) };
}

const withReadTexts = <T extends Read>(read: T, change: Change): T => ({
  ...read,
  answer: withAnswer(read.answer, change),
  ...(read.request !== undefined && { request: change(read.request) }),
  ...(read.seen !== undefined && { seen: change(read.seen) }),
});

const withAnswer = (answer: Answer, change: Change): Answer =>
  'ok' in answer ? { ok: change(answer.ok) } : 'list' in answer ? { list: change(answer.list) } : answer;
