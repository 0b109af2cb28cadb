// The runner against a small server of the test's own, so that its verdicts are held without a service.
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { RestClient } from '../client/index.ts';
import { readCaseFile } from '../../case-runner/runner/case-file.ts';
import { coverageOf, namedBy } from './coverage.ts';
import { runSuite } from './index.ts';
import { namesOf } from '../../case-runner/runner/names.ts';

type Answer = { status?: number; headers?: Record<string, string>; body?: string };

/** Runs a text of cases; each request is answered by the function, set-up and clean-up included. */
async function run(text: string, answer: (method: string, path: string, body: string) => Answer, known: [string, string][] = []) {
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = decodeURIComponent(request.url ?? '').replace('/api/v1/resources', '');
      const body = Buffer.concat(parts).toString();
      asked.push(`${request.method} ${path} ${body}`.trim());
      const { status = 200, headers = {}, body: text = '{}' } = answer(request.method ?? '', path, body);
      reply.writeHead(status, headers).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new RestClient(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  try {
    const result = await runSuite(client, [readCaseFile('area/file', text)], new Map(known), () => undefined);
    return { ...result, asked };
  } finally {
    client.close();
    server.close();
  }
}

const twoCases = `
given: { types: { Pump: { rate: Integer } } }
cases:
  - name: exact
    steps: [{ execute: { procedure: p, value: 5 } }]
  - name: refused
    steps: [{ execute: { procedure: p, error: some.code } }]
`;

test('5 is not 5.0, and a value is no error', async () => {
  const { passed, failed } = await run(twoCases, () => ({ body: '5.0' }));
  expect(passed).toBe(0);
  expect(failed.map(({ failure }) => failure)).toEqual([
    'line 5: the value is 5.0, wanted 5',
    'line 7: no error came, but 200 5.0; wanted some.code',
  ]);
});

test('an error is known by its code and must have a message and params', async () => {
  const error = (body: string) => run(twoCases, (method, path) => (path.startsWith('/procedures') ? { status: 400, body } : {}));
  expect((await error('[{"code":"some.code","message":"m","params":[]}]')).passed).toBe(1);
  expect((await error('[{"code":"some.code"}]')).passed).toBe(0);
  expect((await error('[{"code":"other.code","message":"m","params":[]}]')).passed).toBe(0);
});

test('names of the file are made its own on the way out and put back in answers, and all is removed at the end', async () => {
  const text = `
given:
  types: { Pump: { rate: Integer } }
  rules: ['RULE watch WHEN INSERT OCCURS ON Pump PUBLISH 1 TO TOPIC "/pumps"']
  topics: [/pumps]
cases:
  - name: there and back
    steps: [{ request: { path: /custom/Pump, value: [{ type: Pump, other: Pumps }] } }]
`;
  const { passed, asked } = await run(text, (_method, path) => {
    const type = /Pump_\w+/.exec(path)?.[0];
    return path.startsWith('/custom') ? { body: `[{"type":"${type}","other":"Pumps"}]` } : {};
  });
  expect(passed).toBe(1);
  const tag = /Pump_(\w+)/.exec(asked[0]!)?.[1];
  expect(asked).toEqual([
    `POST /types {"name":"Pump_${tag}","properties":{"rate":{"type":"Integer"}}}`,
    `POST /topics {"name":"/pumps_${tag}"}`,
    `POST /rules RULE watch_${tag} WHEN INSERT OCCURS ON Pump_${tag} PUBLISH 1 TO TOPIC "/pumps_${tag}"`,
    `GET /custom/Pump_${tag}`,
    `DELETE /rules/watch_${tag}`,
    `DELETE /topics//pumps_${tag}`,
    `DELETE /types/Pump_${tag}`,
  ]);
});

test('a set-up that fails fails every case', async () => {
  const { failed } = await run(twoCases, (method) => (method === 'POST' ? { status: 500, body: 'down' } : {}));
  expect(failed.map(({ failure }) => failure)).toEqual([
    'the set-up of the file: type Pump: 500 down',
    'the set-up of the file: type Pump: 500 down',
  ]);
});

test('a step that is kept is used later, and eventually waits', async () => {
  let asked = 0;
  const text = `
cases:
  - name: kept
    steps:
      - insert: { into: Pump, object: { rate: 1 }, as: pump }
      - eventually: { from: Alarm, where: { pump: $pump._id }, rows: [{ note: !like '^over' }] }
      - delete: { from: Alarm, where: { pump: $pump._id }, count: 1 }
`;
  const outcome = await run(text, (method, path) => {
    if (method === 'POST') return { body: '[{"_id":"abc","rate":1}]' };
    if (method === 'DELETE') return { status: 204, body: '', headers: { 'x-total-count': '1' } };
    expect(path).toBe('/custom/Alarm?where={"pump":"abc"}');
    return { body: ++asked < 4 ? '[]' : '[{"note":"overload"}]' };
  });
  expect([outcome.passed, asked]).toEqual([1, 4]);
});

test('a known failure is no failure, but one that passes again is', async () => {
  const known: [string, string][] = [['area/file: exact', 'not built yet']];
  const still = await run(twoCases, () => ({ body: '5.0' }), known);
  expect([still.passed, still.failed.length, still.knownToFail]).toEqual([0, 1, 1]);
  const again = await run(twoCases, () => ({ body: '5' }), known);
  expect(again.failed.map(({ failure }) => failure)).toContain('it passes: take it off the list of known failures');
});

test('a row of a table is a body that is registered, run and removed; a code may come from either', async () => {
  const text = "expressions:\n  - ['1 + 1', 2]\n  - ['1 +', { error: cascade.lang.syntax }]\nbodies:\n  - ['var x = 1  return x', 1]";
  const { passed } = await run(text, (method, path, body) => {
    if (path === '/procedures' && body.endsWith('1 +'))
      return { status: 400, body: '[{"code":"cascade.lang.syntax","message":"m","params":[2,11,"end"]}]' };
    return { body: path.startsWith('/procedures/') ? '2' : '{}' };
  });
  expect(passed).toBe(2); // the third gives 2, wanted 1
});

test('rows go in a batch where the server takes one: expressions beside each other, bodies one after the other, names at the start of a body renamed', async () => {
  const text = `
given: { procedures: ['PROCEDURE Keep.run() return 1'] }
expressions:
  - ['1 / 0', { error: some.code, params: [1] }]
bodies:
  - ['Keep.run()', 1]
  - ['Keep.run() + 1', 3]`;
  const error = { status: 400, headers: {}, body: [{ code: 'some.code', message: 'm', params: [1] }] };
  const { passed, failed, asked } = await run(text, (_method, path, body) => {
    if (path !== '/api/v1/batch') return { body: path.endsWith('_0') ? '1' : '2' };
    const requests = JSON.parse(body) as { uri: string }[];
    return { body: JSON.stringify(requests.map(({ uri }) => (uri === '/procedures' ? { status: 200, headers: {}, body: {} } : error))) };
  });
  expect([passed, failed.map(({ failure }) => failure)]).toEqual([2, ['line 7: the value is 2, wanted 3']]);
  const [, tag] = /Keep_(\w+)/.exec(asked[0]!)!;
  expect(asked.filter((line) => line.includes('Keep.') || line.includes('"Keep'))).toEqual([]);
  expect(asked.map((line) => line.replaceAll(tag!, 'tag')).filter((line) => /^POST \/procedures\//.test(line))).toEqual([
    'POST /procedures/Computed_tag_0',
    'POST /procedures/Computed_tag_1',
  ]);
});

test('a misspelt key, an unknown step and a second case of the same name are errors with their place', () => {
  const read = (text: string) => () => readCaseFile('f', text);
  expect(read('case: []')).toThrow("f:1: 'case' is not known here");
  expect(read('cases:\n  - name: a\n    steps: [{ insrt: {} }]')).toThrow("f:3: 'insrt' is not known here");
  expect(read('cases:\n  - name: a\n    steps: [{ insert: { int: Pump } }]')).toThrow("'int' is not known here");
  expect(
    read('cases:\n  - { name: a, steps: [{ get: { from: A, id: x } }] }\n  - { name: a, steps: [{ get: { from: A, id: x } }] }'),
  ).toThrow("two cases are named 'a'");
});

test('a column of the text on the server is told as a column of the text in the file', () => {
  const file = readCaseFile(
    'f',
    'given: { types: { Pump: { n: Integer } } }\ncases: [{ name: a, steps: [{ get: { from: Pump, id: x } }] }]',
  );
  const names = namesOf(file, 'tag');
  const text = 'x\nINSERT Pump(a: Pump, b: oops)';
  const onServer = names.toServer(text).split('\n')[1]!.indexOf('oops') + 1;
  expect([onServer, names.columnOf(text, 2, onServer), names.columnOf(text, 2, 8)]).toEqual([33, 25, 8]);
});

test('coverage: a section is named by itself, by a row in it or by a section below it', () => {
  const spec = '# 1 One\n## 1.1 Inner\n| W1 | x |\n| W2 | y |\n## 1.2 Other\n| K1 | z |\n# 2 Two\n### 2.1 Rest\n';
  const named = namedBy(['language.md W1-W2, 2.1; other.md 9']);
  expect(named.get('language.md')).toEqual(new Set(['W1', 'W2', '2.1']));
  expect(coverageOf('language.md', spec, named.get('language.md')!)).toEqual({
    file: 'language.md',
    sections: { all: ['1', '1.1', '1.2', '2', '2.1'], missing: ['1.2'] },
    rows: { all: ['W1', 'W2', 'K1'], missing: ['K1'] },
  });
  expect(namedBy(['a.md 5.1-5.3']).get('a.md')).toEqual(new Set(['5.1', '5.2', '5.3']));
});

test('a case over WebSocket asks in messages, and its answers are held to the same', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server, path: '/api/v1/wsock/websocket' });
  const asked: string[] = [];
  sockets.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const { op, parameters = {} } = JSON.parse(data.toString()) as { op: string; parameters?: { requestId?: string; count?: boolean } };
      asked.push(op);
      const answer = (message: object) => socket.send(Buffer.from(JSON.stringify(message)));
      if (op === 'validate') return answer({ status: 200, contentType: 'application/json', body: {} });
      const headers = { 'X-Request-Id': parameters.requestId };
      if (op === 'delete') return answer({ status: 200, headers, contentType: 'application/json', body: [{ count: 2 }] });
      answer({ status: 100, headers: { 'X-Request-Id': 'heard' }, contentType: 'application/json', body: { value: 7 } });
      return answer({ status: 200, headers, contentType: 'application/json', body: [{ n: 1 }] });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new RestClient(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  const text = `
bindings: [websocket]
cases:
  - name: as wanted
    steps:
      - select: { from: Pump, where: { n: 1 }, rows: [{ n: 1 }] }
      - delete: { from: Pump, where: {}, count: 2 }
  - name: other than wanted
    steps:
      - select: { from: Pump, count: 2 }
  - name: steps of its own
    steps:
      - connect: { login: false }
      - ask: { op: select, resourceName: Pump, value: [{ n: 1 }] }
      - hear: { requestId: heard, binary: true, is: { status: 100, body: { value: 7 } } }
      - ask: { op: select, resourceName: Pump, error: some.code }
`;
  try {
    const { passed, failed } = await runSuite(client, [readCaseFile('area/file', text)], new Map(), () => undefined);
    expect(passed).toBe(1);
    expect(failed.map(({ name, failure }) => [name, failure?.split(',')[0]])).toEqual([
      ['area/file: other than wanted (websocket)', 'line 10: there are 1 rows'],
      ['area/file: steps of its own (websocket)', 'line 16: no error came'],
    ]);
    expect(asked.filter((op) => op !== 'validate')).toEqual(['select', 'delete', 'select', 'select', 'select']);
  } finally {
    client.close();
    sockets.close();
    server.close();
  }
});

test('a row may state the status of its error and which row of the specification it shows', async () => {
  const text = `
bodies:
  - ['return null.a', { error: some.code, status: 409 }, { spec: language.md C7 }]
`;
  expect(readCaseFile('area/file', text).cases[0]?.spec).toEqual(['language.md C7']);
  const error = { body: '[{"code":"some.code","message":"m","params":[]}]' };
  const answering = (status: number) =>
    run(text, (method, path) => (method === 'POST' && /procedures\/\w/.test(path) ? { status, ...error } : {}));
  expect((await answering(409)).failed).toEqual([]);
  expect((await answering(400)).failed.map(({ failure }) => failure)).toEqual(['line 3: the status is 400, wanted 409']);
});

test.each([
  ['expressions: [[a, !any 3]]', "!any takes no text: it is written !any ''"],
  ['bindings: []\ncases: [{ name: a, steps: [{ compute: { body: return 1 } }] }]', 'a case without a binding would never run'],
  ['expressions: [[a, 1, { other: 2 }]]', "'other' is not known here"],
  ['expressions: [[a, 1, {}]]', 'a row may say its spec, and nothing else'],
])('a file of cases is refused: %s', (text, message) => {
  expect(() => readCaseFile('area/file', text)).toThrow(message);
});

test('a clean-up that the server cannot do is a failure; what is not there any more is none', async () => {
  const cleaning = (status: number) =>
    run(twoCases.split('  - name: refused')[0]!, (method) => (method === 'DELETE' ? { status } : { body: '5' }));
  expect((await cleaning(404)).failed).toEqual([]);
  expect((await cleaning(500)).failed.map(({ failure }) => failure)).toEqual([expect.stringContaining('DELETE of Pump in types: 500')]);
});
