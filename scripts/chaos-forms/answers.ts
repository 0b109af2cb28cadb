// The answers of `npm run chaos:forms`: each sent twice, some by two clients at once, and again until the service has decided.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../../conformance/client/index.ts';
import { jsonOf } from './forms.ts';

const DIFFERING_EVERY = 4;
const RETRY_MS = 100;
const MOST_TRIES = 600;

/** The buttons that the service has acknowledged, by the form's place: one of them, or none where each reply was lost. */
export type Acknowledged = readonly (readonly number[])[];

/** Sends every answer at its time, or as fast as the service allows when that is later. @throws an answer was refused, or never decided */
export async function answerAll(
  clients: readonly [RestClient, RestClient],
  forms: readonly string[],
  perSecond: number,
): Promise<Acknowledged> {
  const begun = performance.now();
  const acknowledged: number[][] = forms.map(() => []);
  await Promise.all(
    forms.map(async (id, k) => {
      const due = begun + (k * 1_000) / perSecond;
      await sleep(Math.max(0, due - performance.now()));
      const isDiffering = k % DIFFERING_EVERY === 0;
      const sent = clients.map((client, at) => submitted(client, id, isDiffering ? at + 1 : 1, k));
      for (const button of await Promise.all(sent)) if (button !== null) acknowledged[k]?.push(button);
    }),
  );
  return acknowledged;
}

/** Until it is acknowledged or another one was there before. @returns the button that was acknowledged, or null */
async function submitted(client: RestClient, id: string, button: number, k: number): Promise<number | null> {
  const content = jsonOf({ submitValue: button, values: { n: k } });
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const reply = await client.send('POST', `/custom/ArsPayloadMessage/${id}/submit`, content).catch(() => null); // the service was killed
    if (reply?.status === 200) return button;
    if (reply?.status === 409 && reply.text.includes('cascade.notification.not.pending')) return null;
    if (reply && reply.status < 500 && reply.status !== 429 && reply.status !== 409)
      throw new Error(`form ${k}: ${reply.status} ${reply.text}`);
    await sleep(RETRY_MS);
  }
  throw new Error(`form ${k}: the service has decided nothing`);
}
