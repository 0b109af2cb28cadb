// What a case works with, and how an answer is held to what a step wants of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { isNumber, type Json, type JsonObject, type Reply, type RestClient, type Sender, type SocketClient } from '../client/index.ts';
import type { Wanted, WantedObject } from './case-file.ts';
import { mismatch } from './match.ts';
import type { Names } from './names.ts';

/** A case does not hold; the message is a sentence. */
export class Failure extends Error {}

/** How time passes for the server. */
export interface Pace {
  /** Resolves when that much more time has passed there, and what it set going has come to rest as far as that can be known. */
  advance(ms: number): Promise<void>;
  /** Between two looks at something that is awaited: as long, or as good as. */
  pause(ms: number): Promise<void>;
  /** How long something is awaited for which a case says nothing. */
  readonly patienceMs: number;
}

const LONGEST_WAIT_MS = 10_000;

/** As it does for everybody: by waiting. */
export const realTime: Pace = {
  async advance(ms) {
    if (ms > LONGEST_WAIT_MS) throw new Failure(`${ms} ms take too long in real time: \`cascade test\` lets them pass at once`);
    await sleep(ms);
  },
  pause: (ms) => sleep(ms),
  patienceMs: 60_000, // a busy machine is no failure
};

/** What a case has to work with: the server under the file's names, and what earlier steps have kept. */
export interface Scene {
  readonly client: Sender;
  /** For what is HTTP's alone. */
  readonly rest: RestClient;
  /** Those that the case has opened, by name. */
  readonly sockets: Map<string, SocketClient>;
  readonly names: Names;
  readonly pace: Pace;
  readonly kept: Map<string, Json>;
}

/** Status, error, value; and keeps the answer under the name that the step gives. */
export function check(
  scene: Scene,
  body: WantedObject,
  reply: Reply,
  usual: number,
  pick: (answer: Json) => Json = (answer) => answer,
): void {
  const shown = `${reply.status} ${reply.text.slice(0, 600)}`;
  if (body.error !== undefined) {
    if (reply.status < 400) throw new Failure(`no error came, but ${shown}; wanted ${String(body.error)}`);
    const errors = reply.json();
    const [error] = (Array.isArray(errors) ? errors : []) as JsonObject[];
    if (error?.code !== body.error) throw new Failure(`the error is ${shown}, wanted ${String(body.error)}`);
    if (typeof error.message !== 'string' || !Array.isArray(error.params)) throw new Failure(`an error needs message and params: ${shown}`);
    const difference = body.params === undefined ? undefined : mismatch(body.params, error.params, true, 'params');
    if (difference) throw new Failure(difference);
    if (body.status !== undefined) same('the status', String(reply.status), numberText(body.status));
    return;
  }
  const status = body.status === undefined ? String(usual) : numberText(body.status);
  if (String(reply.status) !== status) throw new Failure(`the answer is ${shown}, wanted status ${status}`);
  if (body.is !== undefined || body.value !== undefined || body.all !== undefined || body.as !== undefined) {
    const answer = pick(reply.json());
    const difference =
      (body.value === undefined ? undefined : mismatch(body.value, answer, true)) ??
      (body.is === undefined ? undefined : mismatch(body.is, answer, false)) ??
      (body.all === undefined ? undefined : mismatch(body.all, answer, false));
    if (difference) throw new Failure(difference);
    keep(scene, body.as, answer);
  }
}

export function keep(scene: Scene, as: Wanted | undefined, value: Json): void {
  if (as !== undefined) scene.kept.set(String(as), value);
}

export function same(what: string, got: string | undefined, wanted: string): void {
  if (got !== wanted) throw new Failure(`${what} is ${got ?? 'absent'}, wanted ${wanted}`);
}

export function numberText(value: Wanted): string {
  return isNumber(value as Json) ? (value as { text: string }).text : String(value);
}
