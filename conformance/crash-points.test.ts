// What is seen after the service was killed at each point of an event's way, over the front door. Each test names the rows that it shows; what
// one kill can cut at a time is cut by one, since each start costs seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kill } from '../scripts/chaos/disturb.ts';
import { amount } from '../scripts/testing/amount.ts';
import { RestClient, type StartedService, startService } from './client/index.ts';

/** Rows of a rule that is to be cut in the middle: as many commits. */
const ROWS = 120;
/** Of one that must not come to its end before the crash, however fast the machine is. */
const LONG = 20_000;
/** Instances that a client deletes with one request: several batches. */
const OLD = amount(2_500, 5_000);
/** Of the topics that show by it that an acknowledgement was not forgotten. */
const REDELIVERED_AFTER_S = 3;
const PAGE = 1_000;
/** Runs that read one counter, one after the other. */
const TICKS = amount(200, 1_000);

let service: StartedService;
let client: RestClient;

const rule = (name: string, topic: string, ...lines: string[]): string =>
  [`RULE ${name} WHEN EVENT OCCURS ON "/topics${topic}" AS e`, ...lines].join('\n');
const many = (by: string): string => `for (i in range(0, ${ROWS}, 1)) { INSERT Row(by: ${by}, n: i) }`;

beforeAll(async () => {
  // The sandbox is killed in one of the tests.
  service = await startService({ expects: [/^the sandbox process ended$/] });
  client = new RestClient(service.url, 16);
  await client.login(service.user, service.password);
  const types = {
    Row: { by: 'String', n: 'Integer' },
    Count: { name: 'String', n: 'Integer' },
    End: { by: 'String', again: 'Boolean' },
    Plain: { n: 'Integer' },
    Tick: { n: 'Integer' },
    Old: { n: 'Integer' },
  };
  for (const [name, properties] of Object.entries(types)) {
    const typed = Object.fromEntries(Object.entries(properties).map(([property, type]) => [property, { type }]));
    expect((await client.send('POST', '/types', { body: { name, properties: typed } })).status).toBe(200);
  }
  // Long enough that a message is not brought again while its rule still works, however slow the machine is.
  for (const name of ['/sure', '/half'])
    await ok('POST', '/topics', { name, isReliable: true, redeliveryFrequency: 600, redeliveryTTL: 86_400 });
  for (const name of ['/acked', '/fence'])
    await ok('POST', '/topics', { name, isReliable: true, redeliveryFrequency: REDELIVERED_AFTER_S, redeliveryTTL: 86_400 });
  const steps = (by: string): string[] => [
    `INSERT Row(by: "${by}", n: -1)`,
    `SELECT ONE FROM Count AS c WHERE name == "${by}"`,
    `UPDATE Count(n: c.n + 1) WHERE _id == c._id`,
    `PUBLISH {by: "${by}"} TO TOPIC "/heard"`,
    many(`"${by}"`),
    `INSERT End(by: "${by}", again: Event.isRedelivered())`,
    'Event.ack()',
  ];
  const write = [
    'RULE ofWrite WHEN INSERT OCCURS ON Plain AS e WHERE e.n == 1',
    ...steps('write').slice(0, -2),
    'INSERT End(by: "write", again: false)',
  ];
  const rules = [
    write.join('\n'),
    rule('ofTopic', '/plain', ...steps('topic')),
    rule('ofSure', '/sure', ...steps('sure')),
    rule('quick', '/plain', 'INSERT Row(by: "quick", n: 0)'),
    rule('heard', '/heard', 'INSERT Row(by: "heard " + e.value.by, n: 0)'),
    // It is asked for each, and so keeps the deletion from being over at once.
    'RULE spared BEFORE DELETE ON Old  if (Old.n < 0) { RETURN null }',
    'RULE buried WHEN DELETE OCCURS ON Old AS o INSERT Row(by: "buried", n: o.count)',
    rule('acked', '/acked', 'Event.ack()', 'INSERT Row(by: "acked", n: 0)'),
    rule('fence', '/fence', 'if (Event.isRedelivered()) { INSERT Row(by: "fence", n: 0)  Event.ack() }'),
    rule('half', '/half', 'Event.ack()', 'for (i in range(0, e.value.rows, 1)) { INSERT Row(by: e.value.by, n: i) }'),
    'RULE answered WHEN INSERT OCCURS ON Plain AS e WHERE e.n >= 1000 INSERT Row(by: "answered", n: e.n)',
    rule(
      'outwards',
      '/outwards',
      `for (i in range(0, ${ROWS}, 1)) { PUBLISH {message: {n: i}} TO SOURCE outside  INSERT Row(by: "sent", n: i) }`,
      'INSERT End(by: "outwards", again: false)',
    ),
    'RULE inwards WHEN MESSAGE ARRIVES FROM inside AS m INSERT Row(by: "arrived", n: m.n)',
    `RULE ticks WHEN INSERT OCCURS ON Tick AS t
     SELECT ONE FROM Count AS c WHERE name == "ticks"
     UPDATE Count(n: c.n + 1) WHERE _id == c._id`,
  ];
  const mocked = { type: 'REMOTE', config: { uri: 'https://nowhere.invalid' }, mockMode: true };
  const procedures = [
    'PROCEDURE goesOut(pubDesc) INSERT Row(by: "out", n: pubDesc.message.n)',
    'PROCEDURE comesIn(n Integer) Test.sendMockSourceEvent("inside", {n: n})',
    `PROCEDURE counts(rows Integer) var sum = 0 FOR (i IN range(0, rows, 1)) { INSERT Row(by: "called", n: i)  sum = sum + i } return sum`,
    'PROCEDURE tickOften(n Integer) var ticks = [] for (i in range(0, n, 1)) { push(ticks, {n: i}) } INSERT Tick(ticks)',
  ];
  for (const text of procedures) expect((await client.send('POST', '/procedures', { text })).status).toBe(200);
  await ok('POST', '/sources', { name: 'outside', ...mocked, mockProcedures: { publish: 'goesOut' } });
  await ok('POST', '/sources', { name: 'inside', ...mocked });
  for (const text of rules) expect((await client.send('POST', '/rules', { text })).text).toContain('"active":true');
  for (const name of ['write', 'topic', 'sure', 'ticks']) await ok('POST', '/custom/Count', { name, n: 0 });
}, 240_000);

afterAll(async () => {
  client.close();
  await service[Symbol.asyncDispose]();
});

async function ok(method: string, path: string, body: object): Promise<void> {
  const { status, text } = await client.send(method, path, { body: body as never });
  expect(status, text).toBe(200);
}

/** How many rows there are. */
async function count(type: string, where: object): Promise<number> {
  const query = { where: JSON.stringify(where), props: '["_id"]', limit: '1', count: 'true' };
  return Number((await client.send('GET', `/custom/${type}`, { query })).headers['x-total-count']);
}

/** `n` of all rows, sorted: a double and a loss do not cancel out. */
async function numbers(type: string, where: object): Promise<number[]> {
  const found: number[] = [];
  for (let last = ''; ; ) {
    const after = last === '' ? where : { $and: [where, { _id: { $gt: last } }] };
    const query = { where: JSON.stringify(after), props: '["n"]', sort: '{"_id":1}', limit: String(PAGE) };
    const page = JSON.parse((await client.send('GET', `/custom/${type}`, { query })).text) as { _id: string; n: number }[];
    found.push(...page.map(({ n }) => n));
    if (page.length < PAGE) return found.sort((a, b) => a - b);
    last = page[page.length - 1]!._id;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}

async function killAndRestart(): Promise<void> {
  await service.kill();
  await service.restart();
  await client.login(service.user, service.password);
}

describe('a crash amid rules', () => {
  const names = ['write', 'topic', 'sure'];
  let acknowledged: number;

  beforeAll(async () => {
    await ok('POST', '/topics//acked', {});
    await until(async () => (await count('Row', { by: 'acked' })) > 0);
    acknowledged = await count('Row', { by: 'acked' });
    await ok('POST', '/custom/Plain', { n: 1 });
    await ok('POST', '/topics//plain', { n: 1 });
    await ok('POST', '/topics//sure', { n: 1 });
    await until(
      async () =>
        (await count('Row', { by: 'quick' })) === 1 && (await Promise.all(names.map((by) => count('Row', { by })))).every((n) => n > 3),
    );
    await killAndRestart();
  });

  // spec: integrations.md R5 R6 R7 12.1 12.2/2-7 12.2/9 12.2/11
  test('cut in the middle, rules of a write, of a topic and of a reliable topic go on to the same end, once', async () => {
    await until(async () => (await count('End', {})) === names.length);
    for (const by of names) {
      expect(await count('Row', { by }), by).toBe(ROWS + 1);
      expect(await count('Count', { name: by, n: 1 }), by).toBe(1);
      await until(async () => (await count('Row', { by: `heard ${by}` })) > 0);
      expect(await count('Row', { by: `heard ${by}` }), by).toBe(1);
    }
    expect(await count('Row', { by: 'quick' })).toBe(1);
    // Only what is reliable is told that it may have been seen before.
    for (const by of names) expect(await count('End', { by, again: by === 'sure' }), by).toBe(1);
  });

  // spec: integrations.md 12.2/6
  test('a message that was acknowledged before a crash is not brought again after it', async () => {
    // Sent later and not acknowledged: when it comes again, what was sent before would have come again, too.
    await ok('POST', '/topics//fence', {});
    await until(async () => (await count('Row', { by: 'fence' })) > 0);
    expect(await count('Row', { by: 'acked' })).toBe(acknowledged);
  });
});

describe('a crash amid a deletion of many, and behind an acknowledgement', () => {
  let left: number;

  beforeAll(async () => {
    await ok(
      'POST',
      '/custom/Old',
      Array.from({ length: OLD }, (_, n) => ({ n })),
    );
    await ok('POST', '/topics//half', { by: 'cut', rows: LONG });
    await until(async () => (await count('Row', { by: 'cut' })) > 3);
    const cut = client.send('DELETE', '/custom/Old', { query: { where: '{}' } }).catch(() => null);
    await until(async () => (await count('Old', {})) < OLD);
    await killAndRestart();
    await cut;
    left = await count('Row', { by: 'cut' });
  });

  // spec: integrations.md 12.2/10
  test('what a rule had still to do after Event.ack() is not done after a crash', async () => {
    expect(left, 'the crash came too late to show anything').toBeLessThan(LONG);
    await ok('POST', '/topics//half', { by: 'whole', rows: 5 });
    await until(async () => (await count('Row', { by: 'whole' })) === 5);
    expect(await count('Row', { by: 'cut' })).toBe(left);
  });

  // spec: integrations.md 12.1 12.2/2; resources-and-api.md 2.7 8.1
  test('a DELETE of many by a client that was cut in the middle comes to its end, and rules hear of all that is gone, once', async () => {
    await until(async () => (await count('Old', {})) === 0 && (await count('Row', { by: 'buried' })) > 0);
    expect(await count('Row', { by: 'buried', n: OLD })).toBe(1);
    expect(await count('Row', { by: 'buried' })).toBe(1);
  });
});

describe('a crash amid what comes from outside and goes there', () => {
  const answered: number[] = [];
  let sent = 1000;
  const accepted: number[] = [];
  const repeated: number[] = [];
  let brought = 0;

  beforeAll(async () => {
    const writers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const n = sent++;
        const reply = await client.send('POST', '/custom/Plain', { body: { n } as never }).catch(() => null);
        if (reply?.status !== 200) return;
        answered.push(n);
      }
    });
    let over = false;
    const bring = async (n: number): Promise<boolean> =>
      (await client.send('POST', '/procedures/comesIn', { body: { n } as never }).catch(() => null))?.status === 200;
    const brokers = Array.from({ length: 8 }, async () => {
      while (!over) {
        const n = brought++;
        if (await bring(n)) accepted.push(n);
        else {
          repeated.push(n);
          while (!(await bring(n))) await sleep(20);
        }
      }
    });
    await until(async () => answered.length >= 100 && accepted.length > 50);
    await ok('POST', '/topics//outwards', {});
    await until(async () => (await count('Row', { by: 'sent' })) > 3);
    await killAndRestart();
    await until(async () => repeated.length > 0);
    over = true;
    await Promise.all([...writers, ...brokers]);
  });

  // spec: integrations.md 12.2/1 12.2/3 12.2/13
  test('of writes in flight each answered one is there and its rule ran once, an unanswered one is there once or not at all', async () => {
    // Runs of the journal come before those of new events: behind this one all have ended.
    await ok('POST', '/custom/Plain', { n: 999_999 });
    await until(async () => (await count('Row', { by: 'answered', n: 999_999 })) === 1);
    await until(async () => (await count('Row', { by: 'answered' })) >= (await count('Plain', { n: { $gte: 1000 } })));
    const stored = await numbers('Plain', { n: { $gte: 1000 } });
    expect(new Set(stored).size).toBe(stored.length);
    expect(await numbers('Row', { by: 'answered' })).toEqual(stored);
    expect(answered.filter((n) => !stored.includes(n))).toEqual([]);
    expect(stored.filter((n) => n >= sent && n !== 999_999)).toEqual([]);
  });

  // spec: integrations.md 12.2/8
  test('of what a rule sends outside only the last before a crash may go out twice; what it stores is stored once', async () => {
    await until(async () => (await count('End', { by: 'outwards' })) === 1);
    expect(await count('Row', { by: 'sent' })).toBe(ROWS);
    const out = await count('Row', { by: 'out' });
    expect([ROWS, ROWS + 1]).toContain(out);
  });

  // spec: integrations.md 12.2/12
  test('a message from outside that is brought again until it is accepted is not lost, and one that was accepted at once came once', async () => {
    await until(async () => (await count('Row', { by: 'arrived' })) >= brought);
    const arrived = await numbers('Row', { by: 'arrived' });
    expect(repeated.filter((n) => !arrived.includes(n))).toEqual([]);
    const once = new Set(accepted);
    expect(arrived.filter((n) => once.has(n))).toEqual([...once].sort((x, y) => x - y));
  });
});

test('a procedure that is called while the sandbox process is killed gives its result, and its effects once', async () => {
  const called = client.send('POST', '/procedures/counts', { body: { rows: ROWS } as never });
  await until(async () => (await count('Row', { by: 'called' })) > 3);
  for (const one of [0, 0.99]) await kill(service, ['sandbox'], () => one); // the warm one, too
  const { status, text } = await called;
  expect([status, text]).toEqual([200, String((ROWS * (ROWS - 1)) / 2)]);
  expect(await count('Row', { by: 'called' })).toBe(ROWS);
  for (const n of [0, 4, ROWS - 1]) expect(await count('Row', { by: 'called', n }), String(n)).toBe(1);
});

// spec: integrations.md R7a; language.md U7
// One after the other, each a transaction: on a busy machine that takes its time.
test('of many runs that each read a counter and store one more none overwrites another, though the service is killed twice', {
  timeout: 1_800_000,
}, async () => {
  const { status, text } = await client.send('POST', '/procedures/tickOften', { body: { n: TICKS } as never });
  expect(status, text).toBe(200);
  for (const bound of [TICKS / 10, TICKS / 2]) {
    await until(async () => (await count('Count', { name: 'ticks', n: { $gte: bound } })) === 1);
    await killAndRestart();
  }
  await until(async () => (await count('Count', { name: 'ticks', n: { $gte: TICKS } })) === 1);
  await ok('POST', '/custom/Tick', { n: TICKS }); // behind all others: whatever is left of them has happened
  await until(async () => (await count('Count', { name: 'ticks', n: { $gte: TICKS + 1 } })) === 1);
  expect(await count('Count', { name: 'ticks', n: TICKS + 1 })).toBe(1);
});
