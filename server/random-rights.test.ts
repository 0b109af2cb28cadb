// spec: resources-and-api.md 7.1 7.2 7.4 8.4 13
// Random operations over REST, WebSocket and from programs, by users with random profiles and groups in two namespaces in which everything has the
// same names, beside a plain model of what each may see. CASCADE_SEED repeats a failure, CASCADE_RIGHTS_STEPS says how many operations there are.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestEngine, type TestEngine } from '../engine/testing/engine.ts';
import { amount } from '../scripts/testing/amount.ts';
import { type Listener, listen } from './listen.ts';
import { type Asked, BINDINGS, Caller, type Outcome, PROGRAM } from './testing/bindings.ts';

const SEED = Number(process.env['CASCADE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const STEPS = Number(process.env['CASCADE_RIGHTS_STEPS'] ?? amount(150, 600));
/** Steps per test: a test of some minutes would be taken for hung. */
const STEPS_AT_A_TIME = 5_000;
const ROUNDS = Array.from({ length: Math.ceil(STEPS / STEPS_AT_A_TIME) }, (_, i) => i * STEPS_AT_A_TIME);
const SITES = ['a', 'b'];
const GROUPS = ['day', 'night'];
const PASSWORD = 'correct horse';
/** Secrets: every row has one of its own, so that a text which contains it has disclosed that row. */
const SECRET = /\bs[0-9a-f]{16}\b/g;

/** The constraints that profiles use, each with its meaning. */
const CONSTRAINTS: readonly [object | null, (row: Row, user: string) => boolean][] = [
  [null, () => true],
  [{ site: 'a' }, ({ site }) => site === 'a'],
  [{ n: { ars_substitution_lt: 5 } }, ({ n }) => n < 5],
  [{ ars_createdBy: { ars_substitution: 'ars_username' } }, ({ by }, user) => by === user],
  [{ $or: [{ site: 'b' }, { n: { $gte: 8 } }] }, ({ site, n }) => site === 'b' || n >= 8],
];
const CAPABILITIES = ['select', 'aggregate', 'insert', 'update', 'delete'] as const;
type Capability = (typeof CAPABILITIES)[number];
/** Numbers of constraints by capability; absent: not granted. */
type Grants = Partial<Record<Capability, number>>;

interface Row {
  id: string;
  readonly secret: string;
  readonly site: string;
  n: number;
  group: string | null;
  readonly by: string;
}

interface Person {
  readonly caller: Caller;
  profile: string;
  /** Instances whose insert a subscriber must have received, and those that it has. */
  readonly due: Set<string>;
  readonly received: string[];
  /** Secrets of rows that were visible to the subscriber when something happened to them. */
  readonly secrets: Set<string>;
  isListening: boolean;
}

interface World {
  readonly admin: Caller;
  readonly people: Person[];
  readonly grants: Map<string, Grants>;
  readonly rows: Map<string, Row>;
  readonly members: Map<string, Set<string>>;
}

let t: TestEngine;
let listener: Listener;
const worlds: World[] = [];

/** mulberry32 */
let state = SEED;
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;

function randomGrants(): Grants {
  const granted = CAPABILITIES.filter(() => random(5) > 0);
  return Object.fromEntries(granted.map((capability) => [capability, random(CONSTRAINTS.length)]));
}
const dmlOf = (grants: Grants) => ({
  Item: Object.fromEntries(Object.entries(grants).map(([capability, at]) => [capability, CONSTRAINTS[at]?.[0] ?? null])),
});

/** The operations of an admin that set things up must succeed. */
async function manage({ admin }: Pick<World, 'admin'>, asked: Asked): Promise<void> {
  const { status, text } = await admin.ask('REST', asked);
  if (status !== 200) throw new Error(`${asked.op} ${asked.resource}: ${status} ${text}`);
}

async function listenTo(person: Person): Promise<void> {
  for (const event of ['insert', 'update', 'delete']) expect(await person.caller.subscribe(`/types/Item/${event}`)).toBe(200);
  person.isListening = true;
}

/**
 * Checks received messages: an event, or the end of a subscription. No event discloses a row that was hidden from its receiver when it
 * happened.
 */
function checkReceived(world: World, person: Person): void {
  for (const { body, text } of person.caller.received()) {
    if (body['op'] === 'unsubscribe') {
      person.isListening = false;
      continue;
    }
    for (const [secret] of text.matchAll(SECRET)) expect([text, person.secrets.has(secret)]).toEqual([text, true]);
    if (body['eventType'] === 'insert' || String(body['path']).startsWith('/types/Item/insert'))
      person.received.push((body['value'] as { _id: string })._id);
  }
}

/** A withdrawn right ends subscriptions; granting it again begins none. */
async function followRights(world: World): Promise<void> {
  for (const person of world.people) {
    const maySelect = grantsOf(world, person).select !== undefined;
    if (!maySelect)
      await vi.waitFor(() => {
        checkReceived(world, person);
        expect(person.isListening).toBe(false);
      });
    else if (!person.isListening) await listenTo(person);
  }
}

async function openWorld(namespace: string): Promise<World> {
  const admin = new Caller(listener.port, `admin.${namespace}`, PASSWORD);
  await t.engine.identity.createNamespace({
    namespace,
    organization: { name: namespace },
    admin: { username: admin.username, profiles: ['admin', 'user__system'], password: PASSWORD },
    createdBy: 'test',
  });
  await admin.login();
  const world: World = { admin, people: [], grants: new Map(), rows: new Map(), members: new Map(GROUPS.map((name) => [name, new Set()])) };
  const insert = (resource: string, body: object) => manage(world, { op: 'insert', resource, body });
  const properties = { site: { type: 'String' }, n: { type: 'Integer' }, secret: { type: 'String' } };
  await insert('types', { name: 'Item', properties, groupEnabled: true });
  const found = 'PROCEDURE found(s)\nvar k = 0\nfor (i in SELECT FROM Item WHERE site == s) { k = k + 1 }\nreturn k';
  for (const text of [PROGRAM, found]) await manage(world, { op: 'insert', resource: 'procedures', text });
  for (const name of GROUPS) await insert('groups', { name });
  for (const profile of ['clerk', 'guard', 'guest']) {
    const grants = randomGrants();
    world.grants.set(profile, grants);
    await insert('profiles', { name: profile, dml: dmlOf(grants) });
    const username = `${profile}.${namespace}`;
    await t.engine.identity.createUser({ username, password: PASSWORD, namespace, profiles: [profile, 'user__system'], createdBy: 'test' });
    const caller = new Caller(listener.port, username, PASSWORD);
    await caller.login();
    world.people.push({ caller, profile, due: new Set(), received: [], secrets: new Set(), isListening: false });
  }
  await followRights(world);
  return world;
}

beforeAll(async () => {
  t = await openTestEngine();
  listener = await listen({ engine: t.engine, log: pino({ level: 'silent' }), port: 0, host: '127.0.0.1' });
  const mark = randomBytes(4).toString('hex');
  for (const namespace of [`rights${mark}`, `rights${mark}b`]) worlds.push(await openWorld(namespace));
});
afterAll(async () => {
  for (const { admin, people } of worlds)
    for (const caller of [admin, ...people.map((person) => person.caller)]) await caller[Symbol.asyncDispose]();
  await listener[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

// ---------------------------------------------------------------- the model
const grantsOf = (world: World, { profile }: Person): Grants => world.grants.get(profile) ?? {};

const isMember = (world: World, { caller }: Person, group: string | null): boolean =>
  group === null || world.members.get(group)?.has(caller.username) === true;

/** For an insert the group is checked separately: not to be a member is an error of its own. */
function may(world: World, person: Person, capability: Capability, row: Row): boolean {
  const at = grantsOf(world, person)[capability];
  const isIn = capability === 'insert' || isMember(world, person, row.group);
  return at !== undefined && isIn && CONSTRAINTS[at]?.[1](row, person.caller.username) === true;
}
const seen = (world: World, person: Person, capability: Capability): Row[] =>
  [...world.rows.values()].filter((row) => may(world, person, capability, row));
const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).sort();
const idsIn = (body: unknown): string[] => (body as { _id: string }[]).map(({ _id }) => _id).sort();

/** Notes before and after a change of a row who can see it, and so may get its event. */
function noteReceivers(world: World, row: Row): void {
  for (const person of world.people) if (may(world, person, 'select', row)) person.secrets.add(row.secret);
}

/**
 * Sends a request by any of the ways in. The answer discloses no row that is hidden from the caller, except `own`, which it has sent
 * itself.
 */
async function ask(world: World, person: Person, asked: Asked, own?: Row): Promise<Outcome> {
  const binding = pick(BINDINGS);
  const visible = new Set(
    [...seen(world, person, 'select'), ...seen(world, person, 'aggregate'), ...(own ? [own] : [])].map((row) => row.secret),
  );
  const outcome = await person.caller.ask(binding, asked);
  for (const [secret] of outcome.text.matchAll(SECRET))
    if (!visible.has(secret)) throw new Error(`by ${binding}: ${JSON.stringify(asked)} told of ${secret}: ${outcome.text}`);
  return outcome;
}

const DENIED = [403, 'cascade.authorization.denied'];
const statusOf = ({ status, code }: Outcome): unknown[] => [status, code];

// ---------------------------------------------------------------- the operations
type Step = (world: World, person: Person) => Promise<void>;

const Item = 'custom/Item';
/** A row, often one of the other namespace. */
const anyRow = (world: World): Row | undefined => pick([...worlds.flatMap(({ rows }) => [...rows.values()]), ...world.rows.values()]);

function changed(world: World, person: Person, capability: 'update' | 'delete', row: Row): unknown[] {
  const grants = grantsOf(world, person);
  if (grants[capability] === undefined || grants.select === undefined) return DENIED;
  if (world.rows.get(row.id) === undefined || !may(world, person, 'select', row)) return [404, 'cascade.resource.not.found'];
  return may(world, person, capability, row) ? [200, null] : DENIED;
}

/** @param expected the status of the change, when the new values are allowed */
async function change(world: World, person: Person, asked: Asked, row: Row, after: Partial<Row>): Promise<void> {
  let expected = changed(world, person, 'update', row);
  if (expected[0] === 200 && after.group !== undefined && !isMember(world, person, after.group))
    expected = [403, 'cascade.group.not.member'];
  noteReceivers(world, row);
  const next = { ...row, ...after };
  if (expected[0] === 200) noteReceivers(world, next);
  const own = world.rows.has(row.id) && may(world, person, 'select', row) ? row : undefined;
  expect(statusOf(await ask(world, person, asked, own))).toEqual(expected);
  if (expected[0] === 200) Object.assign(row, after);
}

const STEPS_OF: Readonly<Record<string, Step>> = {
  async select(world, person) {
    const site = pick(SITES);
    const outcome = await ask(world, person, { op: 'select', resource: Item, where: { site } });
    if (grantsOf(world, person).select === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    const expected = idsOf(seen(world, person, 'select').filter((row) => row.site === site));
    expect([outcome.status, idsIn(outcome.body), outcome.count]).toEqual([200, expected, expected.length]);
  },
  /** A condition on a hidden value finds nothing: the value cannot be guessed. */
  async guess(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const outcome = await ask(world, person, { op: 'select', resource: Item, where: { secret: { $regex: `^${row.secret.slice(0, 9)}` } } });
    if (grantsOf(world, person).select === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    const isSeen = world.rows.has(row.id) && may(world, person, 'select', row);
    expect([outcome.status, idsIn(outcome.body), outcome.count]).toEqual([200, isSeen ? [row.id] : [], isSeen ? 1 : 0]);
  },
  async aggregate(world, person) {
    const outcome = await ask(world, person, {
      op: 'aggregate',
      resource: Item,
      body: [{ $group: { _id: '$site', k: { $sum: 1 } } }, { $sort: { _id: 1 } }],
    });
    if (grantsOf(world, person).aggregate === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    const rows = seen(world, person, 'aggregate');
    const counts = SITES.map((site) => ({ _id: site, k: rows.filter((row) => row.site === site).length })).filter(({ k }) => k > 0);
    expect([outcome.status, outcome.body]).toEqual([200, counts]);
  },
  async get(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const outcome = await ask(world, person, { op: 'selectOne', resource: Item, id: row.id });
    if (grantsOf(world, person).select === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    const isSeen = world.rows.has(row.id) && may(world, person, 'select', row);
    if (isSeen) expect([outcome.status, (outcome.body as { _id: string })._id]).toEqual([200, row.id]);
    else expect([outcome.status, outcome.message]).toEqual([404, `/Item/${row.id} was not found.`]);
  },
  async insert(world, person) {
    const group = random(3) === 0 ? pick(GROUPS) : null;
    const secret = `s${[0, 0]
      .map(() =>
        random(2 ** 31)
          .toString(16)
          .padStart(8, '0'),
      )
      .join('')}`;
    const row: Row = { id: '', secret, site: pick(SITES), n: random(10), group, by: person.caller.username };
    const isAllowed = may(world, person, 'insert', row);
    const isIn = isMember(world, person, group);
    if (isAllowed && isIn) noteReceivers(world, row);
    const body = { site: row.site, n: row.n, secret, ...(group !== null && { ars_group: group }) };
    const outcome = await ask(world, person, { op: 'insert', resource: Item, body }, row);
    if (isAllowed && isIn) expect(statusOf(outcome)).toEqual([200, null]);
    // A missing capability is reported before anything is read, a constraint after the group.
    else expect(outcome.status).toBe(403);
    if (!isAllowed || !isIn) return;
    row.id = idsIn(outcome.body)[0] ?? '';
    world.rows.set(row.id, row);
    for (const other of world.people) if (may(world, other, 'select', row)) other.due.add(row.id);
  },
  async update(world, person) {
    const row = anyRow(world);
    const n = random(10);
    if (row) await change(world, person, { op: 'update', resource: Item, id: row.id, body: { n } }, row, { n });
  },
  async patch(world, person) {
    const row = anyRow(world);
    const n = random(10);
    if (row)
      await change(world, person, { op: 'patch', resource: Item, id: row.id, body: [{ op: 'replace', path: 'n', value: n }] }, row, { n });
  },
  async move(world, person) {
    const row = anyRow(world);
    const group = random(3) === 0 ? null : pick(GROUPS);
    if (row) await change(world, person, { op: 'update', resource: Item, id: row.id, body: { ars_group: group } }, row, { group });
  },
  async remove(world, person) {
    const row = anyRow(world);
    if (!row) return;
    const expected = changed(world, person, 'delete', row);
    noteReceivers(world, row);
    const outcome = await ask(world, person, { op: 'delete', resource: Item, id: row.id });
    expect(statusOf(outcome)).toEqual(expected[0] === 200 ? [204, null] : expected);
    if (expected[0] === 200) world.rows.delete(row.id);
  },
  async removeMany(world, person) {
    const n = random(10);
    for (const row of world.rows.values()) if (row.n === n) noteReceivers(world, row);
    const outcome = await ask(world, person, { op: 'delete', resource: Item, where: { n } });
    const grants = grantsOf(world, person);
    if (grants.delete === undefined || grants.select === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    const gone = seen(world, person, 'delete').filter((row) => row.n === n && may(world, person, 'select', row));
    expect([outcome.status, outcome.count]).toEqual([204, gone.length]);
    for (const { id } of gone) world.rows.delete(id);
  },
  async program(world, person) {
    const site = pick(SITES);
    const outcome = await person.caller.ask(random(2) === 0 ? 'REST' : 'WebSocket', {
      op: 'execute',
      resource: 'procedures',
      id: 'found',
      body: [site],
    });
    if (grantsOf(world, person).select === undefined) return expect(statusOf(outcome)).toEqual(DENIED);
    expect([outcome.status, outcome.body]).toEqual([200, seen(world, person, 'select').filter((row) => row.site === site).length]);
  },
  async profile(world, { profile }) {
    const grants = randomGrants();
    world.grants.set(profile, grants);
    await manage(world, { op: 'update', resource: 'profiles', id: profile, body: { dml: dmlOf(grants) } });
    await followRights(world);
  },
  /** Assigns another profile to a user: its sessions and sockets go on with the new rights. */
  async assign(world, person) {
    person.profile = pick([...world.grants.keys()]);
    await manage(world, {
      op: 'update',
      resource: 'users',
      id: person.caller.username,
      body: { profiles: [person.profile, 'user__system'] },
    });
    await followRights(world);
  },
  async members(world, person) {
    const name = pick(GROUPS);
    const members = world.people.filter((one) => one === person || random(2) === 0).map(({ caller }) => caller.username);
    await manage(world, { op: 'update', resource: 'groups', id: name, body: { members } });
    world.members.set(name, new Set(members));
  },
  /** A deactivated user is locked out of all ways in at once. */
  async away(world, person) {
    const set = (active: boolean) => manage(world, { op: 'update', resource: 'users', id: person.caller.username, body: { active } });
    await set(false);
    expect((await person.caller.ask('REST', { op: 'select', resource: Item, where: {} })).status).toBe(401);
    await person.caller.ended();
    checkReceived(world, person);
    await set(true);
    await person.caller.login();
    person.isListening = false;
    await followRights(world);
  },
};
const RARE: Readonly<Record<string, number>> = { profile: 3, members: 3, assign: 6, away: 40 };
const NAMES = Object.keys(STEPS_OF);

test.each(ROUNDS)(
  `nobody is shown or changes more than the model says (seed ${SEED}, from step %i)`,
  { timeout: 240_000 },
  async (first) => {
    for (let step = first; step < Math.min(STEPS, first + STEPS_AT_A_TIME); step++) {
      let name = random(4) === 0 ? 'insert' : pick(NAMES);
      if (random(RARE[name] ?? 1) > 0) name = 'select';
      const world = pick(worlds);
      const person = pick(world.people);
      try {
        await STEPS_OF[name]?.(world, person);
        checkReceived(world, person);
      } catch (error) {
        const who = `${person.caller.username} (${person.profile}: ${JSON.stringify(grantsOf(world, person))})`;
        throw new Error(`step ${step}, ${name} by ${who}; seed ${SEED}`, { cause: error });
      }
    }
    for (const world of worlds)
      for (const person of world.people) {
        const { due, received } = person;
        await expect
          .poll(() => {
            checkReceived(world, person);
            return received.length;
          })
          .toBe(due.size);
        expect([...received].sort()).toEqual([...due].sort());
      }
  },
);
