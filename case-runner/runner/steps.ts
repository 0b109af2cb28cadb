// What each step of a case does: one function a kind, found by the kind. A step that fails throws a Failure with a sentence.
import { isNumber, type Json, type JsonObject, parseJson, type Reply, RestClient, toJsonText } from '../client/index.ts';
import { type Step, type StepKind, Tagged, toJson, type Wanted, type WantedObject } from './case-file.ts';
import { mismatch } from './match.ts';
import { check, Failure, keep, numberText, same, type Scene } from './scene.ts';
import { socketSteps } from './socket-steps.ts';

export async function runStep(scene: Scene, { kind, body }: Step): Promise<void> {
  await steps[kind](scene, filledIn(body, scene) as WantedObject);
}

const steps: Record<StepKind, (scene: Scene, body: WantedObject) => Promise<void>> = {
  ...socketSteps,
  insert: (scene, body) => write(scene, body, false),
  upsert: (scene, body) => write(scene, body, true),
  update: async (scene, body) => {
    const reply = await send(scene, 'PUT', instance(body.in, body.id), { body: toJson(body.object ?? {}) });
    check(scene, body, reply, 200, single);
  },
  patch: async (scene, body) => {
    const reply = await send(scene, 'PATCH', instance(body.in, body.id), { body: toJson(body.operations ?? []) });
    check(scene, body, reply, 200, single);
  },
  delete: async (scene, body) => {
    const query = {
      ...(body.where !== undefined ? { where: toJson(body.where) } : {}),
      ...(body.count !== undefined ? { count: 'true' } : {}),
    };
    const reply = await send(scene, 'DELETE', body.id === undefined ? RestClient.pathOf(String(body.from)) : instance(body.from, body.id), {
      query,
    });
    check(scene, body, reply, 204);
    if (body.count !== undefined) same('the number of deleted instances', reply.headers['x-total-count'], numberText(body.count));
  },
  get: async (scene, body) => {
    const reply = await send(scene, 'GET', instance(body.from, body.id), { query: (body.query ?? {}) as Record<string, Json> });
    check(scene, body, reply, 200);
  },
  select: async (scene, body) => {
    const reply = await select(scene, body);
    check(scene, body, reply, 200);
    if (body.error === undefined) rowsAre(body, reply);
  },
  eventually: (scene, body) => eventually(body, () => select(scene, body), scene),
  logs: (scene, { withinMs, count, ...where }) => {
    const body = { from: 'logs', where, ...(count === undefined ? {} : { count }), ...(withinMs === undefined ? {} : { withinMs }) };
    return eventually(body, () => select(scene, body), scene);
  },
  advance: (scene, body) => scene.pace.advance(milliseconds(numberText(body.by ?? ''))),
  publish: async (scene, body) => {
    const reply = await send(scene, 'POST', `/topics/${String(body.to)}`, { body: toJson(body.message ?? null) });
    check(scene, body, reply, 200);
  },
  execute: async (scene, body) => {
    const reply = await send(
      scene,
      'POST',
      `/procedures/${String(body.procedure)}`,
      body.args === undefined ? {} : { body: toJson(body.args) },
    );
    check(scene, body, reply, 200);
  },
  compute: async (scene, body) => {
    const name = computedName(scene.names); // always the same one, which is replaced each time and removed with the file
    const registered = await send(scene, 'POST', '/procedures', { text: `PROCEDURE ${name}()\n${String(body.body)}` });
    const reply = registered.status === 200 ? await send(scene, 'POST', `/procedures/${name}`) : registered;
    check(scene, body, reply, 200);
  },
  register: async (scene, body) => {
    const { path, options, text } = definition(body);
    const reply = await send(scene, 'POST', path, { ...options, query: (body.query ?? {}) as Record<string, Json> });
    check(scene, body, reply, 200);
    if (body.line === undefined) return;
    const [error] = reply.json() as [JsonObject];
    const [line, column] = (error.params as Json[]).map((value) => Number(numberText(value)));
    same('the line of the diagnostic', String(line), numberText(body.line));
    if (body.column !== undefined) same('its column', String(scene.names.columnOf(text, line!, column!)), numberText(body.column));
  },
  remove: async (scene, body) => {
    const [[kind, name]] = Object.entries(body).filter(([key]) => ['rule', 'procedure', 'type', 'topic'].includes(key)) as [
      [string, Wanted],
    ];
    const reply = await send(scene, 'DELETE', RestClient.pathOf(`${kind}s`, String(name)));
    check(scene, body, reply, 204);
  },
  request: async (scene, body) => {
    const reply = await send({ client: scene.rest, names: scene.names }, String(body.method ?? 'GET'), pathIn(String(body.path), scene), {
      query: (body.query ?? {}) as Record<string, Json>,
      headers: (body.headers ?? {}) as Record<string, string>,
      ...(body.body !== undefined ? { body: toJson(body.body) } : {}),
      ...(body.text !== undefined ? { text: String(body.text) } : {}),
      authenticated: body.authenticated !== false,
    });
    check(scene, body, reply, 200);
    for (const [name, value] of Object.entries((body.received ?? {}) as WantedObject)) {
      const got = reply.headers[name.toLowerCase()];
      const difference = value === null ? (got === undefined ? undefined : `is ${got}, wanted none`) : mismatch(value, got, true);
      if (difference) throw new Failure(`header ${name}: ${difference}`);
    }
  },
};

const UNITS_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** `30 days`, `1.5 hours`; a plain number is milliseconds. */
function milliseconds(text: string): number {
  const [, count, unit = 'millisecond'] = /^(\d+(?:\.\d+)?)\s*(?:(millisecond|second|minute|hour|day|week)s?)?$/.exec(text.trim()) ?? [];
  if (count === undefined) throw new Failure(`'${text}' is no time that could pass`);
  return Number(count) * (UNITS_MS[unit] ?? 1);
}

/** What a `compute` step does once its answer is there; throws a Failure. */
export function checkComputed(scene: Scene, { body }: Step, reply: Reply): void {
  check(scene, filledIn(body, scene) as WantedObject, reply, 200);
}

/** The procedure that the `compute` steps of a file define. */
export function computedName({ tag }: Scene['names']): string {
  return `Computed_${tag}`;
}

/** A system resource's or type's definition as it is registered; the type's short form is a map of properties. */
export function typeBody(name: string, definition: Wanted): Json {
  const given = toJson(definition) as JsonObject;
  const isWhole = given.properties !== undefined && typeof given.properties === 'object';
  const properties = (isWhole ? given.properties : given) as JsonObject;
  const long = Object.entries(properties).map(([key, value]) => [key, typeof value === 'string' ? { type: value } : value]);
  return { ...(isWhole ? given : {}), name, properties: Object.fromEntries(long) as JsonObject };
}

async function write(scene: Scene, body: WantedObject, upsert: boolean): Promise<void> {
  const query = { ...(upsert ? { upsert: 'true' } : {}), ...((body.query ?? {}) as Record<string, Json>) };
  const sent = toJson(body.objects ?? body.object ?? {});
  const reply = await send(scene, 'POST', RestClient.pathOf(String(body.into)), { query, body: sent });
  check(scene, body, reply, 200, body.objects === undefined ? single : undefined);
  for (const [name, value] of Object.entries((body.headers ?? {}) as Record<string, Wanted>))
    same(`header ${name}`, reply.headers[name.toLowerCase()], String(value));
}

function select(scene: Scene, { from, where, props, sort, page, limit, total, token }: WantedObject): Promise<Reply> {
  const given = Object.entries({ where, props, sort, page, limit, token }).filter(([, value]) => value !== undefined);
  const query = Object.fromEntries(given.map(([name, value]) => [name, toJson(value as Wanted)]));
  return send(scene, 'GET', RestClient.pathOf(String(from)), {
    query: { ...query, ...(total === undefined ? {} : { count: 'true' }) },
    authenticated: token === undefined,
  });
}

/** What a server answers that does not offer this at all: no waiting changes it. */
const NOT_IMPLEMENTED = 501;

/** Asks until the rows are as wanted. Waits longer and longer, as a suite that hammers makes the server slow. */
async function eventually(body: WantedObject, ask: () => Promise<Reply>, scene: Scene): Promise<void> {
  const until = performance.now() + (body.withinMs === undefined ? scene.pace.patienceMs : Number(numberText(body.withinMs)));
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
    let status = 0;
    try {
      const reply = await ask();
      status = reply.status;
      check(scene, {}, reply, 200);
      if (body.count === undefined && body.rows === undefined && (reply.json() as Json[]).length === 0)
        throw new Failure('there is no row yet');
      rowsAre(body, reply);
      keep(scene, body.as, reply.json());
      return;
    } catch (error) {
      if (!(error instanceof Failure) || status === NOT_IMPLEMENTED) throw error;
      if (performance.now() > until) throw new Failure(`still not: ${error.message}`);
      await scene.pace.pause(pauseMs);
    }
  }
}

function rowsAre({ count, rows, total }: WantedObject, reply: Reply): void {
  const got = reply.json() as Json[];
  if (count !== undefined && got.length !== Number(numberText(count)))
    throw new Failure(`there are ${got.length} rows, wanted ${numberText(count)}: ${toJsonText(got).slice(0, 500)}`);
  if (total !== undefined) same('X-Total-Count', reply.headers['x-total-count'], numberText(total));
  const difference = rows === undefined ? undefined : mismatch(rows, got, false, 'rows');
  if (difference) throw new Failure(difference);
}

/** Writes of one instance of a custom type are answered by an array of one. */
function single(answer: Json): Json {
  if (Array.isArray(answer) && answer.length === 1) return answer[0]!;
  return answer;
}

function definition(body: WantedObject): { path: string; options: { text?: string; body?: Json }; text: string } {
  if (body.rule !== undefined) return { path: '/rules', options: { text: String(body.rule) }, text: String(body.rule) };
  if (body.procedure !== undefined) return { path: '/procedures', options: { text: String(body.procedure) }, text: String(body.procedure) };
  if (body.topic !== undefined)
    return { path: '/topics', options: { body: typeof body.topic === 'string' ? { name: body.topic } : toJson(body.topic) }, text: '' };
  const { name, ...rest } = body.type as WantedObject;
  return { path: '/types', options: { body: typeBody(String(name), rest) }, text: '' };
}

function instance(resource: Wanted | undefined, id: Wanted | undefined): string {
  return RestClient.pathOf(String(resource), String(id));
}

/** Sends under the server's names and reads the answer under the file's. */
export async function send(
  scene: Pick<Scene, 'client' | 'names'>,
  method: string,
  path: string,
  options: Parameters<RestClient['send']>[2] = {},
): Promise<Reply> {
  const { names, client } = scene;
  const rename = (value: Json): Json => parseJson(names.toServer(toJsonText(value)));
  const reply = await client.send(method, names.toServer(path), {
    ...options,
    ...(options.body !== undefined ? { body: rename(options.body) } : {}),
    ...(options.text !== undefined ? { text: names.toServer(options.text) } : {}),
    ...(options.query !== undefined ? { query: rename(options.query) as JsonObject } : {}),
  });
  const text = names.fromServer(reply.text);
  return { ...reply, text, json: () => asJson(text) };
}

function asJson(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Failure(`the answer is no JSON: ${text.slice(0, 300)}`);
  }
}

/** Segments of a path may be what was kept. */
function pathIn(path: string, scene: Scene): string {
  const filled = (segment: string): string => encodeURIComponent(String(filledIn(segment, scene)));
  return path
    .split('/')
    .map((segment) => (segment.startsWith('$') ? filled(segment) : segment))
    .join('/');
}

/** `$name.path` becomes what was kept; `$$` is a plain `$`. Keys are left alone. */
function filledIn(value: Wanted, scene: Scene): Wanted {
  if (typeof value === 'string') {
    if (value.startsWith('$$')) return value.slice(1);
    const [name, ...path] = value.startsWith('$') ? value.slice(1).split('.') : [];
    if (name === undefined) return value;
    if (!scene.kept.has(name)) throw new Failure(`nothing was kept as '${name}' (write $$ for a plain $)`);
    return path.reduce<Json>((object, key) => member(object, key, value), scene.kept.get(name)!);
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, scene));
  if (value === null || typeof value !== 'object' || isNumber(value as Json) || value instanceof Tagged) return value;
  const filled = Object.create(null) as WantedObject;
  for (const [key, item] of Object.entries(value)) filled[key] = filledIn(item, scene);
  return filled;
}

function member(object: Json, key: string, path: string): Json {
  if (object !== null && typeof object === 'object' && Object.hasOwn(object, key)) return (object as JsonObject)[key]!;
  throw new Failure(`${path} leads nowhere`);
}
