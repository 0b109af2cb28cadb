// Statements whose results on a node must be, value by value and type by type, those of the same statement run here (the node `self`): the node
// `same` is this installation itself, asked over the wire.
import { type Fleet, must, until } from './fleet.ts';

const TYPE = {
  name: 'Every',
  naturalKey: ['code'],
  properties: {
    code: { type: 'String' },
    long: { type: 'Integer' },
    real: { type: 'Real' },
    decimal: { type: 'Decimal', scale: 2 },
    currency: { type: 'Currency', scale: 4 },
    at: { type: 'DateTime' },
    yes: { type: 'Boolean' },
    object: { type: 'Object' },
    times: { type: 'DateTime', multi: true },
    place: { type: 'GeoJSON' },
    ref: { type: 'ResourceReference' },
    unset: { type: 'String' },
    kit: { type: 'Object' },
  },
};

/** Every kind of value, in a program's words. */
const VALUES = `long: 9007199254740993, real: 5.0, decimal: toDecimal("1.20"), currency: toCurrency("EUR:3"), at: toDate("2026-01-02T03:04:05.006Z"),
yes: true, object: {at: toDate("2026-01-01T00:00:00Z"), d: toDecimal("0.10"), n: 4.0, deep: [{l: 9007199254740995}], "$dt": "no date"},
times: [toDate("2026-01-01T00:00:00Z")], place: {type: "Point", coordinates: [1.5, 2.0]}, ref: "/types/Every"`;

/** Types and texts of a value and all in it, but for what each write makes anew. */
const SHAPE = `PROCEDURE shapeOf(v)
var shape = [typeOf(v), stringify(v)]
if (typeOf(v) == "Object") {
  shape = {}
  for (e in v) { if (e.key != "_id" && e.key != "ars_createdAt" && e.key != "ars_modifiedAt" && e.key != "ars_version") { shape[e.key] = shapeOf(e.value) } }
}
if (typeOf(v) == "List" || typeOf(v) == "Array") {
  shape = []
  for (e in v) { push(shape, shapeOf(e)) }
}
return shape`;

/** A statement with its clause PROCESSED BY in place of `$BY`; `r` is the item. */
export const ALIKE: readonly string[] = [
  'SELECT FROM Every $BY',
  'SELECT * FROM Every WHERE code == "x1" $BY',
  'SELECT code, at, object FROM Every ORDER BY code DESC $BY',
  'SELECT FROM Every WITH limit = 1 ORDER BY code $BY',
  'SELECT ONE FROM Every WHERE code == "x1" $BY',
  'SELECT ONE FROM Every WHERE code == "none" $BY',
  'SELECT EXACTLY ONE FROM Every WHERE code == "none" $BY',
  'SELECT ONE FROM Every $BY',
  'SELECT FROM Every WHERE at > toDate("2026-01-01T00:00:00Z") && decimal == toDecimal("1.20") && long == 9007199254740993 $BY',
  'SELECT FROM Every WHERE ref == "/types/Every" $BY',
  'SELECT n = count() FROM Every $BY',
  'SELECT n = count(), s = sum(decimal), m = max(at), f = first(currency), a = avg(real), l = sum(long) FROM Every $BY',
  'SELECT code, n = count(), m = min(at) FROM Every GROUP BY code ORDER BY code $BY',
  'SELECT a = avg(decimal), b = avg(at), c = sum(currency), d = sum(at) FROM Every $BY',
  'SELECT a = min(currency), b = max(code), c = max(real), d = min(decimal), e = min(yes) FROM Every $BY',
  'SELECT a = rise(real), b = count(decimal), c = count(*) FROM Every $BY',
  'SELECT f = first(code), l = last(code) FROM Every ORDER BY code DESC $BY',
  'SELECT a = sum(object.n), b = max(object.at) FROM Every $BY',
  'SELECT yes, n = count(), f = first(code) FROM Every GROUP BY yes ORDER BY long DESC $BY',
  'SELECT unset, n = count(), f = first(code) FROM Every GROUP BY unset $BY',
  'SELECT unset, yes, n = count() FROM Every GROUP BY unset, yes $BY',
  'SELECT kit, n = count(), f = first(code) FROM Every GROUP BY kit $BY',
  'SELECT h = count() / 2, b = r.kit.a + 1 FROM Every GROUP BY r.kit.a $BY',
  'SELECT r.object.n, s = sum(r.long * 1) FROM Every GROUP BY object.n $BY',
  'SELECT double = r.long * 2, code FROM Every ORDER BY r.code $BY',
  'SELECT n = count(), s = sum(real), m = max(at) FROM Every WHERE code == "none" $BY',
  'SELECT n = count() FROM Every GROUP BY code WITH limit = 1, skip = 1 $BY',
  'SELECT double = long * 2, code FROM Every ORDER BY code $BY',
  'SELECT FROM Nothing $BY',
  'SELECT name FROM types WHERE name == "Every" $BY',
  'UPDATE Every(yes: false) WHERE code == "x2" $BY',
  'UPDATE Every(yes: true) WHERE {} $BY',
  'UPDATE Every(yes: "maybe") WHERE {} $BY',
  'UPSERT Every(code: "x2", real: 7.5) $BY',
  'INSERT Every(code: "x1") $BY',
  'DELETE Every WHERE code == "nowhere" $BY',
  ...['Every', 'system.documents', 'system.topics', 'system.users', 'system.tokens'].flatMap((resource) => [
    `UPDATE ${resource}(n: 1) WHERE _id == "000000000000000000000001" $BY`,
    `DELETE ${resource} WHERE _id == "000000000000000000000001" $BY`,
  ]),
  ...['ArsDocument', 'ArsTopic'].map((type) => `SELECT EXACTLY ONE FROM ${type} WHERE name == "/nowhere" $BY`),
  'SELECT EXACTLY ONE FROM ArsUser WHERE username == "nobody" $BY',
  'DELETE system.topics WHERE name == "/nowhere" $BY',
  'DELETE system.users WHERE username == "nobody" $BY',
  'UPDATE system.users(firstName: "Ann") WHERE username == "nobody" $BY',
  'UPDATE system.users(firstName: "Ann") WHERE username == "nobody" && active == true $BY',
  'PUBLISH {a: 1} TO TOPIC "/alike" $BY',
  'PUBLISH {a: 1} TO TOPIC "/alike" SCHEDULE {interval: 86400000} $BY',
  'EXECUTE everyKind() $BY',
  'EXECUTE echo({a: toDate("2026-01-02T03:04:05.006Z"), b: [toDecimal("1.10"), 5.0, 9007199254740993, null]}) $BY',
  'EXECUTE echo(v: "named") $BY',
  'EXECUTE echo() $BY',
  'EXECUTE echo("too", "many") $BY',
  'EXECUTE throws() $BY',
  'EXECUTE nowhere() $BY',
  'EXECUTE rows() $BY',
  'EXECUTE *() WHERE name == "everyKind" $BY',
  'ALTER TYPE ({properties: {more: {type: "String"}}}) $BY',
  'CREATE TYPE ({name: "no name", properties: {}}) $BY',
  'CREATE RULE ("RULE never WHEN INSERT OCCURS ON Every AS") $BY',
  'DROP TOPIC "/alike/$NODE" $BY',
  'DROP TOPIC "/alike/never" $BY',
  'SELECT FROM SOURCE NoSource $BY',
];

const PROCEDURES = [
  SHAPE,
  'PROCEDURE everyKind()\nreturn [1, 9007199254740993, 5.0, toDecimal("1.20"), toCurrency("EUR:3"), toDate("2026-01-02T03:04:05.006Z"), true, null, "t", {a: toDate("2026-01-01T00:00:00Z")}, {"$dt": "x"}]',
  'PROCEDURE echo(v)\nreturn v',
  'PROCEDURE throws()\nexception("my.code", "Only {0}", [3])',
  'PROCEDURE rows()\nreturn SELECT SEQUENCE FROM Every ORDER BY code',
];

export async function prepareAlike({ caller }: Fleet): Promise<void> {
  await must(caller, 'POST', '/types', TYPE);
  for (const text of PROCEDURES) await must(caller, 'POST', '/procedures', text);
  // Of one a property was never set, of the other it is null: programs read both as null. The kits are equal.
  const inserts = ['code: "x1", kit: {a: 1, b: [2]}', 'code: "x2", kit: {b: [2.0], a: 1}, unset: null']
    .map((own) => `INSERT Every(${own}, ${VALUES})`)
    .join('\n');
  await must(caller, 'POST', '/procedures', `PROCEDURE fillEvery()\n${inserts}`);
  await must(caller, 'POST', '/procedures/fillEvery', []);
}

/** `same` is from now on asked by requests of their own, or over one WebSocket. */
export async function speakToItself({ caller }: Fleet, scheme: 'http' | 'ws'): Promise<void> {
  const uri = caller.base.replace(/^http/, scheme);
  const login = { credentialType: 'token', accessToken: caller.token ?? null };
  await must(caller, 'POST', '/nodes', { name: 'same', uri, ...login, deliveryMode: 'bestEffort', properties: {} });
  for (const node of ['self', 'same']) await must(caller, 'POST', '/topics', { name: `/alike/${node}` });
}

/** What both give, as plain JSON: `[items, errors]` each. @throws Error for a program that is refused */
export async function bothOf({ caller }: Fleet, statement: string): Promise<{ here: unknown; there: unknown }> {
  const found: unknown[] = [];
  for (const node of ['self', 'same']) {
    const by = `AS r PROCESSED BY name == "${node}" CONTEXT TO c { push(o, shapeOf(r)) } ON ERROR (e) { push(f, [e.error.code, shapeOf(e.error.params)]) }`;
    await must(
      caller,
      'POST',
      '/procedures',
      `PROCEDURE alike()\nvar o = []\nvar f = []\n${statement.replace('$BY', by).replace('$NODE', node)}\nreturn [o, f]`,
    );
    found.push(JSON.parse((await caller.send('POST', '/procedures/alike', { body: [] })).text));
  }
  return { here: found[0], there: found[1] };
}

/** An installation that sets itself going through a node: each round is one installation further. @returns the rounds that it came to */
export async function goRound({ caller }: Fleet, type: string): Promise<number[]> {
  await must(caller, 'POST', '/types', { name: type, properties: { round: { type: 'Integer' } } });
  const rule = `RULE ${type}Round WHEN INSERT OCCURS ON ${type} AS p\nINSERT ${type}(round: p.round + 1) PROCESSED BY name == "same" { }`;
  await must(caller, 'POST', '/rules', rule);
  await must(caller, 'POST', `/custom/${type}`, { round: 0 });
  const snapshots = async (): Promise<string> => (await caller.send('GET', '/custom/ArsRuleSnapshot')).text;
  await until(async () => {
    const text = await snapshots();
    return text.includes(`${type}Round`) && text.includes('cascade.federation.hops');
  });
  await must(caller, 'DELETE', `/rules/${type}Round`, null);
  const rows = (await caller.send('GET', `/custom/${type}?sort={"round":1}`)).text;
  return (JSON.parse(rows) as { round: number }[]).map(({ round }) => round);
}
