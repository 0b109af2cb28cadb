// An engine on the tests' database, with a namespace of its own and short functions to use it.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pino, { type Logger } from 'pino';
import type { ApiReply, ApiRequest, Engine, Identity } from '../../resources/api.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Bus } from '../../platform/bus/index.ts';
import { openEngine } from '../engine.ts';
import { shareSandbox } from './shared-sandbox.ts';
import { parseJson } from '../../model/values/index.ts';

export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly identity: Identity;
  /** Sends a request; bodies and parameters are JSON texts, so that numbers keep their digits. */
  ask(op: string, resource: string, rest?: Ask): Promise<ApiReply>;
  /** Selects rows, parsed. */
  rows(resource: string, where?: object): Promise<Record<string, unknown>[]>;
  type(name: string, properties: object, more?: object): Promise<void>;
  program(kind: 'rules' | 'procedures', text: string): Promise<void>;
  /** Polls until the condition is satisfied by as many rows. */
  eventually(resource: string, where: object, count: number, withinMs?: number): Promise<Record<string, unknown>[]>;
}

export interface Ask {
  id?: string;
  body?: string;
  text?: string;
  custom?: boolean;
  parameters?: Record<string, string>;
  /** The header X-Cascade-Request-Id. */
  requestId?: string;
}

const newName = (): string => `test${randomBytes(6).toString('hex')}`;

export interface TestEngineOptions {
  clock?: Clock;
  masterKey?: Uint8Array;
  /** The namespace of a former engine, for tests of a restart. */
  namespace?: string;
  /** The database; the tests' common one when absent. */
  mongoUri?: string;
  /** Whether no other engine uses the database. */
  exclusive?: boolean;
  /** The bus to other engines on the same database; without it each owns the namespaces that it opens first. */
  bus?: Bus;
  idleAfterMs?: number;
  log?: Logger;
  /** Networks that sources may reach. */
  outboundAddresses?: readonly string[];
}

/** Makes sure that the user exists and is in the namespace: programs of unknown users do not run. */
async function admit({ identity: store }: Engine, { username, namespace, profiles }: Identity): Promise<void> {
  await store.createUser({ username, password: 'correct horse', namespace: 'tests', createdBy: 'tests' }).catch(() => undefined); // exists
  await store.authorizeUser(username, namespace, [...profiles], { isConsented: true });
}

export async function openTestEngine({
  clock,
  masterKey,
  namespace: given,
  mongoUri,
  exclusive = false,
  bus,
  idleAfterMs,
  log: logger,
  outboundAddresses = [],
}: TestEngineOptions = {}): Promise<TestEngine> {
  if (given !== undefined && mongoUri === undefined)
    throw new Error(
      'a namespace is opened again in a database of its own (openOwnDatabase): in the common one another file’s engine may have it',
    );
  const namespace = given ?? newName();
  const uri = mongoUri ?? process.env['CASCADE_TEST_MONGO'];
  if (!uri) throw new Error('CASCADE_TEST_MONGO is not set: the tests run through npm test or vitest, whose set-up gives it');
  const log = logger ?? pino({ level: process.env['CASCADE_TEST_LOG'] ?? 'silent' });
  const engine = await openEngine({
    mongoUri: uri,
    exclusive,
    ...(bus && { bus }),
    ...(idleAfterMs !== undefined && { idleAfterMs }),
    sandboxes: shareSandbox,
    passwordCost: { N: 2 ** 10, r: 8, p: 1 },
    log,
    outboundAddresses,
    ...(clock && { clock }),
    ...(masterKey && { masterKey }),
  });
  const identity: Identity = { username: 'ann', namespace, profiles: ['admin', 'admin__system'], token: '000000000000000000000001' };
  await engine.identity.ensureFirstStart({}); // creates the indexes: several test files create the same users in one database
  await admit(engine, identity);
  const ask: TestEngine['ask'] = (op, resource, { id, body, text, custom = /^[A-Z]/.test(resource), parameters = {}, requestId } = {}) => {
    const parsed = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, parseJson(value)]));
    const request: ApiRequest = { identity, op, resourceName: resource, custom, parameters: parsed };
    if (id !== undefined) request.resourceId = id;
    if (body !== undefined) request.object = parseJson(body);
    if (text !== undefined) request.text = text;
    if (requestId !== undefined) request.requestId = requestId;
    return engine.execute(request);
  };
  const rows: TestEngine['rows'] = async (resource, where = {}) => {
    const reply = await ask('select', resource, { parameters: { where: JSON.stringify(where) } });
    return JSON.parse(reply.body ?? '[]') as Record<string, unknown>[];
  };
  return {
    engine,
    identity,
    ask,
    rows,
    async type(name, properties, more = {}) {
      await ask('insert', 'types', { body: JSON.stringify({ name, properties, ...more }) });
    },
    async program(kind, text) {
      await ask('insert', kind, { text });
    },
    async eventually(resource, where, count, withinMs = 60_000) {
      // Waits longer and longer, as who asks often makes the engine slow.
      const until = performance.now() + withinMs;
      for (let pauseMs = 10; ; await sleep((pauseMs = Math.min(pauseMs * 1.5, 200)))) {
        const found = await rows(resource, where);
        if (found.length === count) return found;
        if (performance.now() > until)
          throw new Error(
            `${resource} ${JSON.stringify(where)}: ${found.length} instead of ${count}: ${JSON.stringify(found.slice(0, 5))}`,
          );
      }
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}
