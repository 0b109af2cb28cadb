// Random operations by users with random profiles and groups, in two namespaces in which everything has the same names, beside a plain model of
// what each may see. CASCADE_SEED repeats a failure, CASCADE_RIGHTS_STEPS says how many operations there are.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply, Identity, Notice, Subscription } from '../../resources/api.ts';

const SEED = Number(process.env['CASCADE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const STEPS = Number(process.env['CASCADE_RIGHTS_STEPS'] ?? 400);
const SITES = ['a', 'b'];
const GROUPS = ['day', 'night'];

/** The constraints that profiles draw from, each with what it means. */
const CONSTRAINTS: readonly [object | null, (row: Row, user: string) => boolean][] = [
  [null, () => true],
  [{ site: 'a' }, ({ site }) => site === 'a'],
  [{ n: { ars_substitution_lt: 5 } }, ({ n }) => n < 5],
  [{ ars_createdBy: { ars_substitution: 'ars_username' } }, ({ by }, user) => by === user],
  [{ $or: [{ site: 'b' }, { n: { $gte: 8 } }] }, ({ site, n }) => site === 'b' || n >= 8],
];
const CAPABILITIES = ['select', 'aggregate', 'insert', 'update', 'delete'] as const;
type Capability = (typeof CAPABILITIES)[number];

interface Row {
  id: string;
  site: string;
  n: number;
  group: string | null;
  by: string;
}

interface Person {
  readonly identity: Identity;
  /** Numbers of constraints; undefined: not granted. */
  grants: Partial<Record<Capability, number>>;
  /** Instances whose insert it must have heard of, and those that it has. */
  readonly due: Set<string>;
  readonly heard: string[];
  isListening: boolean;
}

interface World {
  readonly admin: Identity;
  readonly people: Person[];
  readonly rows: Map<string, Row>;
  readonly members: Map<string, Set<string>>;
}

let t: TestEngine;
const worlds: World[] = [];
const listeners: Subscription[] = [];

/** mulberry32 */
let state = SEED;
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;

const as = (
  identity: Identity,
  op: string,
  resourceName: string,
  rest: { id?: string; body?: unknown; text?: string; where?: object } = {},
) =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    ...(rest.id !== undefined && { resourceId: rest.id }),
    ...(rest.body !== undefined && { object: parseJson(JSON.stringify(rest.body)) }),
    ...(rest.text !== undefined && { text: rest.text }),
    parameters: parseJson(JSON.stringify(rest.where ? { where: rest.where, count: true } : {})) as Record<string, never>,
  });

function randomGrants(): Person['grants'] {
  const granted = CAPABILITIES.filter(() => random(5) > 0);
  return Object.fromEntries(granted.map((capability) => [capability, random(CONSTRAINTS.length)]));
}
const dmlOf = (grants: Person['grants']) => ({
  Item: Object.fromEntries(Object.entries(grants).map(([capability, at]) => [capability, CONSTRAINTS[at]?.[0] ?? null])),
});

async function listen(person: Person): Promise<void> {
  const hear = (notice: Notice): void => {
    if (notice.kind === 'event') person.heard.push((JSON.parse(notice.valueJson) as { _id: string })._id);
    else person.isListening = false;
  };
  person.isListening = true;
  listeners.push(await t.engine.subscribe(person.identity, '/types/Item/insert', {}, hear));
}

/** A right that is withdrawn ends the subscription; given back, it begins none. */
async function followRights(person: Person): Promise<void> {
  if (person.grants.select === undefined) await vi.waitFor(() => expect(person.isListening).toBe(false));
  else if (!person.isListening) await listen(person);
}

beforeAll(async () => {
  t = await openTestEngine();
  const first = t.identity.namespace;
  for (const namespace of [first, `${first}b`]) {
    const admin: Identity = { ...t.identity, namespace };
    await t.engine.identity.authorizeUser(admin.username, namespace, admin.profiles, { isConsented: true });
    const properties = { site: { type: 'String' }, n: { type: 'Integer' } };
    await as(admin, 'insert', 'types', { body: { name: 'Item', properties, groupEnabled: true } });
    const program = 'PROCEDURE found(site)\nvar k = 0\nfor (i in SELECT FROM Item WHERE site == site) { k = k + 1 }\nreturn k';
    await as(admin, 'insert', 'procedures', { text: program.replace('found(site)', 'found(s)').replace('== site)', '== s)') });
    const world: World = { admin, people: [], rows: new Map(), members: new Map(GROUPS.map((name) => [name, new Set()])) };
    for (const name of ['kim', 'lee', 'max']) {
      const username = `${name}.${namespace}`;
      const grants = randomGrants();
      await as(admin, 'insert', 'profiles', { body: { name, dml: dmlOf({ select: 0 }) } });
      const profiles = [name, 'user__system'];
      await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
      const identity: Identity = { username, namespace, profiles, token: '000000000000000000000001' };
      const person: Person = { identity, grants, due: new Set(), heard: [], isListening: false };
      await listen(person);
      await as(admin, 'update', 'profiles', { id: name, body: { dml: dmlOf(grants) } });
      await followRights(person);
      world.people.push(person);
    }
    for (const name of GROUPS) await as(admin, 'insert', 'groups', { body: { name } });
    worlds.push(world);
  }
});
afterAll(async () => {
  for (const listener of listeners) listener.close();
  await t[Symbol.asyncDispose]();
});

// ---------------------------------------------------------------- the model
function may(world: World, { grants, identity }: Person, capability: Capability, row: Row): boolean {
  const at = grants[capability];
  const isIn = capability === 'insert' || row.group === null || world.members.get(row.group)?.has(identity.username) === true;
  return at !== undefined && isIn && CONSTRAINTS[at]?.[1](row, identity.username) === true;
}
const seen = (world: World, person: Person, capability: Capability): Row[] =>
  [...world.rows.values()].filter((row) => may(world, person, capability, row));
const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).sort();

/** The status of what was asked, and its body. */
async function outcome(asked: Promise<ApiReply>): Promise<{ status: number; body: unknown; count?: number; text: string }> {
  try {
    const { status, body, count } = await asked;
    return { status, body: body === undefined ? null : JSON.parse(body), ...(count !== undefined && { count }), text: '' };
  } catch (error) {
    const { status = 500, message } = error as { status?: number; message: string };
    return { status, body: null, text: message };
  }
}
const idsIn = (body: unknown): string[] => (body as { _id: string }[]).map(({ _id }) => _id).sort();

// ---------------------------------------------------------------- the operations
type Step = (world: World, person: Person) => Promise<void>;

const anyRow = (world: World): Row | undefined => pick([...worlds.flatMap(({ rows }) => [...rows.values()]), ...world.rows.values()]);

function changeStatus(world: World, person: Person, capability: 'update' | 'delete', row: Row): number {
  if (person.grants[capability] === undefined || person.grants.select === undefined) return 403;
  if (world.rows.get(row.id) === undefined || !may(world, person, 'select', row)) return 404;
  return may(world, person, capability, row) ? 200 : 403;
}

const STEPS_OF: Readonly<Record<string, Step>> = {
  async select(world, person) {
    const site = pick(SITES);
    const { status, body, count } = await outcome(as(person.identity, 'select', 'Item', { where: { site } }));
    if (person.grants.select === undefined) return expect(status).toBe(403);
    const expected = idsOf(seen(world, person, 'select').filter((row) => row.site === site));
    expect([status, idsIn(body), count]).toEqual([200, expected, expected.length]);
  },
  async aggregate(world, person) {
    const { status, body } = await outcome(as(person.identity, 'aggregate', 'Item', { body: [{ $count: 'k' }] }));
    if (person.grants.aggregate === undefined) return expect(status).toBe(403);
    const k = seen(world, person, 'aggregate').length;
    expect([status, body]).toEqual([200, k === 0 ? [] : [{ k }]]);
  },
  async get(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const { status, body, text } = await outcome(as(person.identity, 'selectOne', 'Item', { id: row.id }));
    if (person.grants.select === undefined) return expect(status).toBe(403);
    const isSeen = world.rows.has(row.id) && may(world, person, 'select', row);
    expect([status, body === null ? null : (body as { _id: string })._id]).toEqual(isSeen ? [200, row.id] : [404, null]);
    if (!isSeen) expect(text).toBe(`/Item/${row.id} was not found.`);
  },
  async insert(world, person) {
    const group = random(3) === 0 ? pick(GROUPS) : null;
    const row: Row = { id: '', site: pick(SITES), n: random(10), group, by: person.identity.username };
    const { status, body } = await outcome(
      as(person.identity, 'insert', 'Item', { body: { site: row.site, n: row.n, ...(group !== null && { ars_group: group }) } }),
    );
    const isAllowed = may(world, person, 'insert', row) && (group === null || world.members.get(group)?.has(row.by));
    expect(status).toBe(isAllowed ? 200 : 403);
    if (!isAllowed) return;
    row.id = idsIn(body)[0] ?? '';
    world.rows.set(row.id, row);
    for (const other of world.people) if (may(world, other, 'select', row)) other.due.add(row.id);
  },
  async update(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const n = random(10);
    const { status } = await outcome(as(person.identity, 'update', 'Item', { id: row.id, body: { n } }));
    const expected = changeStatus(world, person, 'update', row);
    expect(status).toBe(expected);
    if (expected === 200) row.n = n;
  },
  async remove(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const { status } = await outcome(as(person.identity, 'delete', 'Item', { id: row.id }));
    const expected = changeStatus(world, person, 'delete', row);
    expect(status).toBe(expected === 200 ? 204 : expected);
    if (expected === 200) world.rows.delete(row.id);
  },
  async removeMany(world, person) {
    const n = random(10);
    const { status } = await outcome(as(person.identity, 'delete', 'Item', { where: { n } }));
    const { grants } = person;
    if (grants.delete === undefined || grants.select === undefined) return expect(status).toBe(403);
    const gone = seen(world, person, 'delete').filter((row) => row.n === n && may(world, person, 'select', row));
    expect(status).toBe(204);
    for (const { id } of gone) world.rows.delete(id);
  },
  async program(world, person) {
    const site = pick(SITES);
    const { status, body } = await outcome(as(person.identity, 'execute', 'procedures', { id: 'found', body: [site] }));
    if (person.grants.select === undefined) return expect(status).toBe(403);
    expect([status, body]).toEqual([200, seen(world, person, 'select').filter((row) => row.site === site).length]);
  },
  async profile(world, person) {
    person.grants = randomGrants();
    await as(world.admin, 'update', 'profiles', { id: person.identity.profiles[0] ?? '', body: { dml: dmlOf(person.grants) } });
    await followRights(person);
  },
  async members(world, person) {
    const name = pick(GROUPS);
    const members = world.people.filter((one) => one === person || random(2) === 0).map(({ identity }) => identity.username);
    await as(world.admin, 'update', 'groups', { id: name, body: { members } });
    world.members.set(name, new Set(members));
  },
};
const NAMES = Object.keys(STEPS_OF);
const CHANGES = ['profile', 'members'];

test(`nobody is shown or changes more than the model says (seed ${SEED})`, { timeout: 60_000 + STEPS * 50 }, async () => {
  for (let step = 0; step < STEPS; step++) {
    let name = random(4) === 0 ? 'insert' : pick(NAMES);
    if (CHANGES.includes(name) && random(3) > 0) name = 'select';
    const world = pick(worlds);
    const person = pick(world.people);
    try {
      await STEPS_OF[name]?.(world, person);
    } catch (error) {
      throw new Error(`step ${step}, ${name} by ${person.identity.username} with ${JSON.stringify(person.grants)}; seed ${SEED}`, {
        cause: error,
      });
    }
  }
  for (const { people } of worlds)
    for (const { due, heard } of people) {
      await expect.poll(() => heard.length).toBe(due.size);
      expect([...heard].sort()).toEqual([...due].sort());
    }
});
