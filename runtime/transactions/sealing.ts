// Seals the texts of events, steps and reads in journal rows where the namespace has a key: each may hold values of encrypted properties.

import { openText, sealText } from '../../model/values/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import type { Answer, Read, Step, StoredEvent, JournalRow } from './types.ts';

const PURPOSE = 'journal';

/** @param id of the event, or of the step, whose text it is */
type Change = (text: string, id: string) => string;

export const sealing =
  (cipher: Cipher | null): Change =>
  (text, id) =>
    sealText(cipher, text, PURPOSE, id);
export const opening =
  (cipher: Cipher | null): Change =>
  (text, id) =>
    openText(cipher, text, PURPOSE, id);

export function withRowTexts(row: JournalRow, change: Change): JournalRow {
  return {
    ...row,
    events: row.events.map((event) => withEventTexts(event, change)),
    steps: row.steps.map((step) => withStepTexts(step, change)),
  };
}

export function withEventTexts<T extends Pick<StoredEvent, 'uuid' | 'value' | 'transport'>>(event: T, change: Change): T {
  const { uuid, value, transport } = event;
  return {
    ...event,
    value: change(value, uuid),
    ...(transport && { transport: { ...transport, properties: change(transport.properties, uuid) } }),
  };
}

export function withStepTexts(step: Step, change: Change): Step {
  const ofRead =
    ({ site, nth }: Read): ((text: string) => string) =>
    (text) =>
      change(text, `${step.run} ${site} ${nth}`);
  return { ...withReadTexts(step, ofRead(step)), reads: step.reads.map((read) => withReadTexts(read, ofRead(read))) };
}

const withReadTexts = <T extends Read>(read: T, change: (text: string) => string): T => ({
  ...read,
  answer: withAnswer(read.answer, change),
  ...(read.request !== undefined && { request: change(read.request) }),
  ...(read.seen !== undefined && { seen: change(read.seen) }),
});

const withAnswer = (answer: Answer, change: (text: string) => string): Answer =>
  'ok' in answer ? { ok: change(answer.ok) } : 'list' in answer ? { list: change(answer.list) } : answer;
