// A database with many namespaces, made before any process serves it: without an admin for each, whose password would cost a third of a second.
import pino from 'pino';
import { type ApiRequest, openEngine } from '../../engine/index.ts';
import { benchUser } from '../user.ts';

export const PASSWORD = 'correct horse battery';
export const TYPE = 'BenchReading';
export const COPY = 'BenchCopy';
export const JSON_TYPE = { 'Content-Type': 'application/json' };

export const namesOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `bench${n}`);

/**
 * Namespaces that user `bench` may enter.
 * @param ruled how many of them, from the first one on, have a type and a rule that inserts a copy of each instance
 */
export async function prepare(mongoUri: string, count: number, ruled: number): Promise<void> {
  await using engine = await openEngine({ mongoUri, exclusive: true, lanes: 1, log: pino({ level: 'silent' }) });
  for (const [n, namespace] of namesOf(count).entries()) {
    const user = benchUser(namespace);
    await engine.identity.createNamespace({ namespace, createdBy: user.username });
    if (n === 0) await engine.identity.createUser({ username: user.username, password: PASSWORD, namespace, createdBy: user.username });
    await engine.identity.authorizeUser(user.username, namespace, [...user.profiles], { isConsented: true });
    if (n >= ruled) continue;
    const insert = (resourceName: string, request: Partial<ApiRequest>) =>
      engine.execute({ identity: user, op: 'insert', resourceName, custom: false, parameters: {}, ...request });
    for (const name of [TYPE, COPY]) await insert('types', { object: { name, properties: { n: { type: 'Integer' } } } });
    await insert('rules', { text: `RULE copies WHEN INSERT OCCURS ON ${TYPE} AS r INSERT ${COPY}(n: r.n)` });
  }
}
