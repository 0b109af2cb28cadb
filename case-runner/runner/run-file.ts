// One file of cases from set-up to clean-up. A set-up that fails fails every case that needs it; clean-up is tried in any event.
import { type Json, RestClient as Client, type RestClient, type Sender, SocketBinding, SocketClient } from '../client/index.ts';
import { type Binding, BINDINGS, type Case, type CaseFile, type Given, toJson } from './case-file.ts';
import { definedName, type Names, namesOf } from './names.ts';
import { passingTogether, rowsTogether } from './together.ts';
import { Failure, type Pace, realTime, type Scene } from './scene.ts';
import { logIn } from './socket-steps.ts';
import { computedName, runStep, send, typeBody } from './steps.ts';

export interface Outcome {
  /** `file: name of the case`. */
  readonly name: string;
  /** Why it failed; undefined when it passed. */
  readonly failure: string | undefined;
}

/** Once over each binding that its cases name, each time from set-up to clean-up. */
export async function runFile(client: RestClient, file: CaseFile, tag: string, pace: Pace = realTime): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const binding of BINDINGS) {
    const cases = file.cases.filter(({ bindings }) => bindings.includes(binding));
    if (cases.length > 0)
      outcomes.push(...(await runOver(binding, client, { ...file, cases }, binding === 'rest' ? tag : `${tag}w`, pace)));
  }
  return outcomes;
}

async function runOver(binding: Binding, client: RestClient, file: CaseFile, tag: string, pace: Pace): Promise<Outcome[]> {
  const names = namesOf(file, tag);
  const outcomes: Outcome[] = [];
  const ready = await attempt(() => setUp(client, names, file.given));
  const run = async (one: Case): Promise<void> => {
    const failure = ready === undefined ? await runCase(client, names, one, binding, pace) : `the set-up of the file: ${ready}`;
    outcomes.push({ name: `${file.name}: ${one.name}${binding === 'rest' ? '' : ` (${binding})`}`, failure });
  };
  const rows = file.cases.filter(({ isRow }) => isRow);
  for (const one of file.cases) if (!one.isRow) await run(one);
  const known = ready === undefined && binding === 'rest' ? await tableOutcomes(client, names, rows, pace) : new Map<Case, undefined>();
  for (const row of rows)
    if (known.has(row)) outcomes.push({ name: `${file.name}: ${row.name}`, failure: known.get(row) });
    else await run(row);
  const left = await tearDown(client, names, file.given);
  if (left) outcomes.push({ name: `${file.name}: its clean-up`, failure: left });
  const computes = file.cases.some(({ steps }) => steps.some(({ kind }) => kind === 'compute'));
  if (computes) await attempt(() => client.send('DELETE', Client.pathOf('procedures', computedName(names))));
  return outcomes;
}

async function tableOutcomes(
  client: RestClient,
  names: Names,
  rows: readonly Case[],
  pace: Pace,
): Promise<ReadonlyMap<Case, string | undefined>> {
  const scene: Scene = { client, rest: client, sockets: new Map(), names, pace, kept: new Map() };
  const passed = await passingTogether(scene, rows);
  const others = await rowsTogether(
    scene,
    rows.filter((row) => !passed.has(row)),
  );
  return new Map([...[...passed].map((one) => [one, undefined] as const), ...others]);
}

async function runCase(
  client: RestClient,
  names: Names,
  { given, steps }: Case,
  binding: Binding,
  pace: Pace,
): Promise<string | undefined> {
  const sockets = new Map<string, SocketClient>();
  let line = 0;
  const failure =
    (await attempt(() => setUp(client, names, given))) ??
    (await attempt(async () => {
      const scene: Scene = {
        client: await senderOf(client, binding, sockets),
        rest: client,
        sockets,
        names,
        pace,
        kept: new Map<string, Json>(),
      };
      for (const step of steps) {
        line = step.line;
        await runStep(scene, step);
      }
    }));
  for (const socket of sockets.values()) socket.close();
  const registered = steps.filter(({ kind }) => kind === 'register').map(({ body }) => body);
  const rules = registered.flatMap(({ rule }) => (typeof rule === 'string' ? [rule] : []));
  const procedures = registered.flatMap(({ procedure }) => (typeof procedure === 'string' ? [procedure] : []));
  const types = Object.fromEntries(
    registered.flatMap(({ type }) =>
      type !== undefined && type !== null && typeof type === 'object' && 'name' in type ? [[String(type.name), {}]] : [],
    ),
  );
  const left = await tearDown(client, names, {
    ...given,
    rules: [...(given.rules ?? []), ...rules],
    procedures: [...(given.procedures ?? []), ...procedures],
    types: { ...given.types, ...types },
  });
  if (failure === undefined) return left && `the clean-up: ${left}`;
  return line > 0 ? `line ${line}: ${failure}` : `the set-up: ${failure}`;
}

/** A socket of the binding is kept with those of the case, under a name that no case writes. */
async function senderOf(client: RestClient, binding: Binding, sockets: Map<string, SocketClient>): Promise<Sender> {
  if (binding === 'rest') return client;
  const socket = await SocketClient.open(client.base);
  sockets.set('(binding)', socket);
  await logIn(socket, client.token);
  return new SocketBinding(client, socket);
}

async function setUp(client: RestClient, names: Names, given: Given): Promise<void> {
  const post = async (what: string, path: string, options: { body?: Json; text?: string }): Promise<void> => {
    const reply = await send({ client, names }, 'POST', path, options);
    if (reply.status !== 200) throw new Failure(`${what}: ${reply.status} ${reply.text.slice(0, 800)}`);
  };
  for (const [name, definition] of Object.entries(given.types ?? {}))
    await post(`type ${name}`, '/types', { body: typeBody(name, definition) });
  for (const topic of given.topics ?? [])
    await post('a topic', '/topics', { body: typeof topic === 'string' ? { name: topic } : toJson(topic) });
  for (const text of given.procedures ?? []) await post(`procedure ${definedName(text)}`, '/procedures', { text });
  for (const text of given.rules ?? []) await post(`rule ${definedName(text)}`, '/rules', { text });
  for (const [type, objects] of Object.entries(given.instances ?? {}))
    await post(`instances of ${type}`, Client.pathOf(type), { body: objects.map(toJson) });
}

/**
 * In reverse order; what is not there any more (or never was, or what its case has made impossible to remove) is no matter.
 * @returns what the server could not do, though it was there to be done
 */
async function tearDown(client: RestClient, names: Names, given: Given): Promise<string | undefined> {
  const faults: string[] = [];
  const remove = async (resource: string, name: string | undefined): Promise<void> => {
    if (name === undefined) return;
    const failure = await attempt(async () => {
      const { status, text } = await send({ client, names }, 'DELETE', Client.pathOf(resource, name));
      if (status >= 500) throw new Failure(`DELETE of ${name} in ${resource}: ${status} ${text.slice(0, 300)}`);
    });
    if (failure !== undefined) faults.push(failure);
  };
  for (const text of given.rules ?? []) await remove('rules', ruleName(text));
  for (const text of given.procedures ?? []) await remove('procedures', definedName(text));
  for (const topic of given.topics ?? []) await remove('topics', typeof topic === 'string' ? topic : undefined);
  for (const name of Object.keys(given.types ?? {})) await remove('types', name);
  return faults[0];
}

/** A rule's name with its version, if it has one. */
function ruleName(text: string): string | undefined {
  const name = definedName(text);
  const version = name && new RegExp(`\\b${name}:([\\w.-]+)`).exec(text)?.[1];
  return version ? `${name}:${version}` : name;
}

async function attempt(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error.message : ((error as Error).stack ?? String(error));
  }
}
