// Statements with PROCESSED BY and what they give on a fleet whose nodes are all up, or with faults: the scenarios of integrations.md 11.10 and the
// rows of language.md 7. Each leaves the fleet as it found it.
import type { Json } from '../client/index.ts';
import { type Fleet, must, type NodeName, until } from './fleet.ts';

export interface Scenario {
  readonly name: string;
  /** Statements of a procedure. */
  readonly body: string;
  /** What it returns, plain JSON; a list of items in any order where `unordered`. */
  readonly gives?: unknown;
  readonly unordered?: true;
  /** The code of the error that it ends with. */
  readonly throws?: string;
  readonly before?: (fleet: Fleet) => Promise<unknown>;
  /** What is to be seen afterwards. */
  readonly then?: (fleet: Fleet) => Promise<unknown>;
  readonly after?: (fleet: Fleet) => Promise<unknown>;
}

const down = (node: NodeName) => ({
  before: ({ nodes }: Fleet) => nodes[node].proxy.become('refused'),
  after: ({ nodes }: Fleet) => nodes[node].proxy.become('open'),
});

const clearBins =
  (code: string) =>
  async ({ nodes }: Fleet) => {
    for (const { client } of Object.values(nodes))
      await must(client, 'DELETE', `/custom/Bin?where=${encodeURIComponent(JSON.stringify({ code }))}`, null);
  };

/** The names of the nodes on which there are bins of a code, as often as there are such. */
const holders =
  (code: string) =>
  async ({ nodes }: Fleet) => {
    const found: string[] = [];
    for (const { name, client } of Object.values(nodes)) {
      const rows = (await must(client, 'GET', `/custom/Bin?where=${encodeURIComponent(JSON.stringify({ code }))}`, null)) as Json[];
      found.push(...rows.map(() => name));
    }
    return found;
  };

const expecting = (what: (fleet: Fleet) => Promise<unknown>, wanted: unknown) => async (fleet: Fleet) => {
  const found = JSON.stringify(await what(fleet));
  if (found !== JSON.stringify(wanted)) throw new Error(`${found} in place of ${JSON.stringify(wanted)}`);
};

const READER = 'a horse that reads well';
const ASKS_ITS_OWN = `PROCEDURE askYours()
var o = []
SELECT FROM Bin AS b PROCESSED BY ALL CONTEXT TO c { push(o, c.node.name) }
SELECT ONE FROM Bin WHERE code == "a" AS b PROCESSED BY name == "self" CONTEXT TO c { push(o, c.node.name) }
return o`;

const waitingFor = async ({ caller }: Fleet, node: NodeName): Promise<number> =>
  Number(String((JSON.parse((await caller.send('GET', `/nodes/${node}/_status`)).text) as { waiting: number }).waiting));

const INSERTS = 'INSERT Bin(code: "z", kg: 1) AS r PROCESSED BY ALL { push(o, r._id) }';
const items = (statement: string, more = ''): string => `var o = []\n${statement}\nreturn ${more === '' ? 'o' : more}`;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: '1: rows of the nodes that a condition means, merged',
    body: items(
      'SELECT FROM Bin WHERE kg > 6 AS b PROCESSED BY properties.zone == "e" CONTEXT TO c { push(o, [b.code, c.node.name, c.status]) }',
    ),
    gives: [
      ['b', 'n1', 'SUCCESS'],
      ['c', 'n2', 'SUCCESS'],
    ],
    unordered: true,
  },
  {
    name: '2: ALL; a node without rows gives no item and no error',
    body: items(
      'SELECT FROM Bin WHERE kg > 6 AS b PROCESSED BY ALL CONTEXT TO c { push(o, [b.code, c.node.name]) } ON ERROR (e) { push(o, e) }',
    ),
    gives: [
      ['b', 'n1'],
      ['c', 'n2'],
    ],
    unordered: true,
  },
  {
    name: '3: no node matches',
    body: items('SELECT FROM Bin AS b PROCESSED BY properties.zone == "x" { push(o, b) } ON ERROR (e) { push(o, e) }'),
    gives: [],
  },
  {
    name: '4: one item a node, each with an instance of its own',
    body: items(INSERTS, '[o.size(), o[0] != o[1], o[1] != o[2], o[0] != o[2]]'),
    gives: [3, true, true, true],
    then: expecting(holders('z'), ['n1', 'n2', 'n3']),
    after: clearBins('z'),
  },
  {
    name: '5: a node that is down is one error',
    body: items(
      `var failed = []\n${INSERTS} ON ERROR (e) { push(failed, [e.node.name, e.status, e.error.code, e.node.password == null]) }`,
      '[o.size(), failed]',
    ),
    gives: [2, [['n2', 'FAILURE', 'cascade.federation.unreachable', true]]],
    before: ({ nodes }) => nodes.n2.proxy.become('refused'),
    then: expecting(holders('z'), ['n1', 'n3']),
    after: async (fleet) => {
      await fleet.nodes.n2.proxy.become('open');
      await clearBins('z')(fleet);
    },
  },
  {
    name: '6: errors without a handler are ignored',
    body: items(INSERTS, 'o.size()'),
    gives: 2,
    before: ({ nodes }) => nodes.n2.proxy.become('refused'),
    after: async (fleet) => {
      await fleet.nodes.n2.proxy.become('open');
      await clearBins('z')(fleet);
    },
  },
  {
    name: '7: no answer within WITHIN',
    body: items(
      'INSERT Bin(code: "z", kg: 1) AS r PROCESSED BY ALL CONTEXT TO c WITHIN 1 second { push(o, c.node.name) } ON ERROR (e) { push(o, [e.node.name, e.error.code]) }',
    ),
    gives: ['n1', 'n3', ['n2', 'io.service.federation.request.timeout']],
    unordered: true,
    before: ({ nodes }) => nodes.n2.proxy.become('answers held'),
    after: async (fleet) => {
      await fleet.nodes.n2.proxy.become('open');
      await clearBins('z')(fleet);
    },
  },
  {
    name: '8: a wrong password',
    body: items('SELECT FROM Bin AS b PROCESSED BY ALL { push(o, b.code) } ON ERROR (e) { push(o, [e.node.name, e.error.code]) }'),
    gives: ['a', 'b', 'c', ['n3', 'io.service.security.authentication.failed']],
    unordered: true,
    before: (fleet) => fleet.register('n3', { password: 'another horse battery' }),
    after: (fleet) => fleet.register('n3'),
  },
  {
    name: '9: ORDER BY acts on each node',
    body: items('SELECT * FROM Bin ORDER BY kg AS b PROCESSED BY ALL CONTEXT TO c { if (c.node.name == "n1") { push(o, b.kg) } }'),
    gives: [5, 9],
  },
  {
    name: '10: aggregates act on each node',
    body: items('SELECT n = count() FROM Bin AS r PROCESSED BY ALL { push(o, r.n) }'),
    gives: [0, 1, 2],
    unordered: true,
  },
  {
    name: '11: a procedure that the node does not have',
    body: items('var v = "n1"\nEXECUTE weigh(3) AS r PROCESSED BY @v { push(o, r) } ON ERROR (e) { push(o, [e.node.name, e.error.code]) }'),
    gives: [['n1', 'cascade.resource.not.found']],
  },
  {
    name: '12: UNTIL ends it',
    body: 'var seen = 0\nSELECT FROM Bin AS b PROCESSED BY ALL UNTIL seen == 1 { seen = seen + 1 }\nreturn seen',
    gives: 1,
  },
  {
    name: '13: the array form',
    body: items(
      `var r = SELECT FROM Bin PROCESSED BY ALL STATUS TO s
for (x in r) { push(o, x.code) }
var p = []
for (x in s) { push(p, [x.node.name, x.status, x.error == null ? null : x.error.code]) }`,
      '[o, p]',
    ),
    gives: [
      ['a', 'b'],
      [
        ['n1', 'SUCCESS', null],
        ['n2', 'FAILURE', 'cascade.federation.unreachable'],
        ['n3', 'SUCCESS', null],
      ],
    ],
    ...down('n2'),
  },
  {
    name: '14: EXACTLY ONE of two',
    body: 'SELECT FROM Bin AS b PROCESSED BY EXACTLY ONE properties.zone == "e" { }',
    throws: 'cascade.federation.nodes',
  },
  {
    name: '17: variables are evaluated here',
    body: items('var lim = 6\nSELECT FROM Bin WHERE kg > lim AS b PROCESSED BY properties.zone == "e" { push(o, b.code) }'),
    gives: ['b', 'c'],
    unordered: true,
  },
  {
    name: '19: the node self runs it here',
    body: items(
      'SELECT FROM Bin AS b PROCESSED BY name == "self" CONTEXT TO c { push(o, c.node.name) } ON ERROR (e) { push(o, e.error.code) }',
    ),
    gives: ['cascade.resource.type.not.found'],
  },
  {
    name: '20: an exception in the block ends the statement',
    body: `var n = 0
var code = null
try {
  SELECT FROM Bin AS b PROCESSED BY ALL { n = n + 1 exception("mine", "m") } ON ERROR (e) { n = 100 }
} catch (e) { code = e.code }
return [n, code]`,
    gives: [1, 'mine'],
  },
  {
    name: '15: a user without the right to insert',
    body: items(
      'INSERT Bin(code: "z", kg: 1) AS r PROCESSED BY ALL CONTEXT TO c { push(o, c.node.name) } ON ERROR (e) { push(o, [e.node.name, e.error.code]) }',
    ),
    gives: ['n2', 'n3', ['n1', 'cascade.authorization.denied']],
    unordered: true,
    before: async (fleet) => {
      const { client } = fleet.nodes.n1;
      await must(client, 'POST', '/profiles', { name: 'reader', dml: { Bin: { select: {} } } });
      await must(client, 'POST', '/users', { username: 'reader-of-n1', password: READER, profiles: ['reader', 'user__system'] });
      await fleet.register('n1', { username: 'reader-of-n1', password: READER });
    },
    after: async (fleet) => {
      await fleet.register('n1');
      await must(fleet.nodes.n1.client, 'DELETE', '/users/reader-of-n1', null);
      await must(fleet.nodes.n1.client, 'DELETE', '/profiles/reader', null);
      await clearBins('z')(fleet);
    },
  },
  {
    name: '16: a reliable node that is down gets the event once when it is back',
    body: items(
      'PUBLISH {a: 1} TO TOPIC "/t" PROCESSED BY name == "n2" { push(o, "sent") } ON ERROR (e) { push(o, [e.node.name, e.error.code]) }',
    ),
    gives: [['n2', 'cascade.federation.delivery.pending']],
    before: async (fleet) => {
      const rule = 'RULE keep WHEN EVENT OCCURS ON "/topics/t" AS e\nINSERT Bin(code: "kept", kg: e.value.a)';
      await must(fleet.nodes.n2.client, 'POST', '/rules', rule);
      await fleet.register('n2', { deliveryMode: 'reliable' });
      await fleet.nodes.n2.proxy.become('refused');
    },
    then: async (fleet) => {
      await fleet.nodes.n2.proxy.become('open');
      await until(async () => (await holders('kept')(fleet)).length > 0 && (await waitingFor(fleet, 'n2')) === 0);
      await expecting(holders('kept'), ['n2'])(fleet);
    },
    after: async (fleet) => {
      await fleet.nodes.n2.proxy.become('open');
      await fleet.register('n2');
      await must(fleet.nodes.n2.client, 'DELETE', '/rules/keep', null);
      await clearBins('kept')(fleet);
    },
  },
  {
    name: "18: a node's procedure asks that node's own nodes",
    body: items('EXECUTE askYours() AS r PROCESSED BY name == "n1" { push(o, r) } ON ERROR (e) { push(o, e.error.code) }'),
    gives: [['self']],
    before: ({ nodes }) => must(nodes.n1.client, 'POST', '/procedures', ASKS_ITS_OWN),
    after: ({ nodes }) => must(nodes.n1.client, 'DELETE', '/procedures/askYours', null),
  },
  {
    name: 'what nobody waits for any more is ended on its node',
    body: items('EXECUTE work() AS r PROCESSED BY properties.zone == "e" CONTEXT TO c UNTIL true { push(o, c.node.name) }'),
    gives: ['n2'],
    before: async ({ nodes }) => {
      await must(nodes.n1.client, 'POST', '/procedures', 'PROCEDURE work()\nvar n = 0\nwhile (true) { n = n + 1 }');
      await must(nodes.n2.client, 'POST', '/procedures', 'PROCEDURE work()\nreturn 1');
    },
    then: async ({ nodes }) => until(async () => (await nodes.n1.client.send('GET', '/logs')).text.includes('its caller has gone')),
    after: async ({ nodes }) => {
      for (const { client } of [nodes.n1, nodes.n2]) await must(client, 'DELETE', '/procedures/work', null);
    },
  },
  {
    name: 'a procedure that takes longer than WITHIN is ended on its node',
    body: items('EXECUTE work() AS r PROCESSED BY name == "n1" WITHIN 300 { } ON ERROR (e) { push(o, e.error.code) }'),
    gives: ['io.service.federation.request.timeout'],
    before: ({ nodes }) => must(nodes.n1.client, 'POST', '/procedures', 'PROCEDURE work()\nvar n = 0\nwhile (true) { n = n + 1 }'),
    then: async ({ nodes }) =>
      until(async () => (await nodes.n1.client.send('GET', '/logs')).text.includes('/procedures/work exceeded its limit')),
    after: ({ nodes }) => must(nodes.n1.client, 'DELETE', '/procedures/work', null),
  },
  {
    name: 'ONE without a block gives the value of its node',
    body: items(
      `var b = SELECT ONE FROM Bin WHERE code == "a" PROCESSED BY ONE name == "n1"
push(o, b.kg)
var l = SELECT FROM Bin ORDER BY kg PROCESSED BY EXACTLY ONE name == "n1"
for (x in l) { push(o, x.code) }
push(o, DELETE Bin WHERE code == "none" PROCESSED BY ONE name == "n1")`,
    ),
    gives: [5, 'a', 'b', 0],
  },
  {
    name: 'ONE without a block throws what its node answers',
    body: 'INSERT Bin(code: "z", kg: "heavy") PROCESSED BY ONE name == "n1"',
    throws: 'cascade.type.property.invalid',
  },
  {
    name: 'ONE without a block throws that its node is down',
    body: 'return SELECT FROM Bin PROCESSED BY ONE name == "n2"',
    throws: 'cascade.federation.unreachable',
    ...down('n2'),
  },
  {
    name: 'neither the context nor an error shows credentials',
    body: items(
      'SELECT FROM Bin AS b PROCESSED BY ALL CONTEXT TO c { push(o, stringify(c)) } ON ERROR (e) { push(o, stringify(e)) }',
      '[o.size(), contains(stringify(o), "horse"), contains(stringify(o), "sealed")]',
    ),
    gives: [3, false, false],
  },
  {
    name: 'several instances of which one is refused are a failure of the node, and the others stay',
    body: items(
      'INSERT Bin([{code: "z", kg: 1}, {code: "z", kg: "heavy"}]) AS r PROCESSED BY name == "n3" { push(o, r) } ON ERROR (e) { push(o, e.error.code) }',
    ),
    gives: ['cascade.type.property.invalid'],
    then: expecting(holders('z'), ['n3']),
    after: clearBins('z'),
  },
  {
    name: 'a nested statement asks other nodes for each item',
    body: items(
      `SELECT FROM Bin WHERE code == "a" AS b PROCESSED BY ALL {
  SELECT FROM Bin WHERE kg > b.kg AS c PROCESSED BY name != "n1" { push(o, [b.code, c.code]) }
}`,
    ),
    gives: [['a', 'c']],
  },
];

/** Runs one and compares. @throws Error that says what differs */
export async function play(fleet: Fleet, { name, body, gives, unordered, throws, before, then, after }: Scenario): Promise<void> {
  const procedure = `scenario_${name.replace(/\W+/g, '_').slice(0, 30)}`;
  await must(fleet.caller, 'POST', '/procedures', `PROCEDURE ${procedure}()\n${body}`);
  try {
    await before?.(fleet);
    const reply = await fleet.caller.send('POST', `/procedures/${procedure}`, { body: [] });
    const value = JSON.parse(reply.text === '' ? 'null' : reply.text) as unknown;
    const found = reply.status < 300 ? value : (value as { code: string }[])[0]?.code;
    const wanted = throws ?? gives;
    const order = (list: unknown): unknown => (unordered && Array.isArray(list) ? list.map((one) => JSON.stringify(one)).sort() : list);
    if (reply.status < 300 !== (throws === undefined) || JSON.stringify(order(found)) !== JSON.stringify(order(wanted)))
      throw new Error(`${name}: ${reply.status} ${reply.text} in place of ${JSON.stringify(wanted)}`);
    await then?.(fleet);
  } finally {
    await after?.(fleet);
  }
}
