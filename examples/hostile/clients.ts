// Clients that try to take more than their share: each does one thing over and over, many of them at once, as long as it is told to.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** Where they go, and as whom. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** Of a plain user of the namespace. */
  readonly token: string;
  readonly signal: AbortSignal;
  /** Told of each answer: its status, or how the connection ended. */
  answered(how: string): void;
}

export interface HostileClient {
  readonly does: string;
  /** How many of it go on at once. */
  readonly at: number;
  /** Once; it is called again until the time is over. */
  once(target: Target, n: number): Promise<void>;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const values = (count: number, text: string): string => `[${`${text},`.repeat(count - 1)}${text}]`;
const bomb = gzipSync(Buffer.from(values(500_000, '1.00000000000000000')));
const reals = values(400_000, '1.0');
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
const wide = JSON.stringify({ what: 'none', o: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])) });
const vastNumbers = `"o":{"v":${values(200_000, '1234')}}`;
const vastTexts = `"o":${JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, Array.from({ length: 9 }, (_, j) => `t${j}`)])))}`;
const longRule = (n: number): string =>
  `RULE long${n % 3} WHEN EVENT OCCURS ON "/topics/never" AS e\nvar a = ${n}\n${Array.from({ length: 6_000 }, (_, i) => `a = a + ${i} * (a - 3)`).join('\n')}`;
const mistyped = (n: number): string =>
  `PROCEDURE mistyped${n % 3}() \n${Array.from({ length: 600 }, (_, i) => `var v${i}name = valu${i}nam + ${n}`).join('\n')}\nreturn 1`;
/** A project that is there already: it is compared with what is there, and exported. */
export const MANY = JSON.stringify({
  op: 'import',
  data: {
    files: Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`procedures/many${i}.procedure`, `PROCEDURE many${i}(a) return a + ${i}`]),
    ),
  },
});

async function ask(
  { host, port, token, signal, answered }: Target,
  method: string,
  path: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = JSON_TYPE,
  isKnown = true,
): Promise<void> {
  const given = { ...(isKnown && { authorization: `Bearer ${token}` }), ...(body !== undefined && headers) };
  try {
    const url = `http://${host}:${port}${path}`;
    const reply = await fetch(url, {
      method,
      headers: given,
      signal: AbortSignal.any([signal]),
      ...(body !== undefined && { body: body as string }),
    });
    await reply.arrayBuffer();
    answered(String(reply.status));
  } catch {
    answered('cut');
  }
}

const resources = '/api/v1/resources';
const where = (condition: object): string => `where=${encodeURIComponent(JSON.stringify(condition))}`;

/** A connection on which bytes are sent as slowly as that is allowed; reads what comes. */
async function trickle({ host, port, signal, answered }: Target, head: string, rest: string, everyMs: number): Promise<void> {
  const socket = connect(port, host);
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (data: Buffer) => answered(data.toString('latin1', 9, 12)));
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
  socket.write(head);
  for (const byte of rest) {
    if (signal.aborted || socket.destroyed) break;
    socket.write(byte);
    await Promise.race([sleep(everyMs, undefined, { signal }).catch(() => undefined), over]);
  }
  socket.destroy();
  answered('ended');
}

/** Asks for much and does not read it. */
async function starve({ host, port, token, signal, answered }: Target, path: string, forMs: number): Promise<void> {
  const socket = connect(port, host);
  socket.on('error', () => undefined);
  socket.pause();
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(request.repeat(3));
  await sleep(forMs, undefined, { signal }).catch(() => undefined);
  socket.destroy();
  answered('unread');
}

async function webSocket({ host, port, signal, answered }: Target, messages: readonly string[], forMs: number): Promise<void> {
  const socket = new WebSocket(`ws://${host}:${port}/api/v1/wsock/websocket`);
  const closed = new Promise<void>((resolve) => {
    socket.onclose = ({ code }) => {
      answered(`closed ${code}`);
      resolve();
    };
  });
  socket.onerror = () => undefined;
  socket.onmessage = () => answered('message');
  await Promise.race([new Promise((resolve) => (socket.onopen = resolve)), closed]);
  for (const message of messages) if (socket.readyState === WebSocket.OPEN) socket.send(message);
  await Promise.race([sleep(forMs, undefined, { signal }).catch(() => undefined), closed]);
  socket.close();
}

const login = (token: string): string => JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token });

export const CLIENTS: readonly HostileClient[] = [
  {
    does: 'sends a body byte by byte',
    at: 40,
    once: (target) => {
      const head = `POST ${resources}/custom/Trap HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${target.token}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`;
      return trickle(target, head, `{"what":"${'x'.repeat(200)}`, 50);
    },
  },
  {
    does: 'never ends its headers',
    at: 100,
    once: (target) => trickle(target, `GET ${resources}/types HTTP/1.1\r\nHost: a\r\n`, 'X-Slow', 1_000),
  },
  { does: 'connects and says nothing', at: 100, once: (target) => trickle(target, '', ' ', 3_000) },
  { does: 'does not read its answers', at: 20, once: (target) => starve(target, `${resources}/custom/Heap?limit=10000`, 3_000) },
  {
    does: 'guesses passwords',
    at: 16,
    once: (target, n) =>
      ask(target, 'GET', '/authenticate', undefined, { authorization: `Basic ${btoa(`nobody${n}:guess${n}guess`)}` }, false).then(() =>
        sleep(5),
      ),
  },
  {
    does: 'sends a gzip bomb without a login',
    at: 2,
    once: (target) =>
      ask(target, 'POST', `${resources}/public/main/procedures/x`, bomb, { ...JSON_TYPE, 'content-encoding': 'gzip' }, false),
  },
  {
    does: 'sends a gzip bomb',
    at: 1,
    once: (target) => ask(target, 'POST', `${resources}/custom/Trap`, bomb, { ...JSON_TYPE, 'content-encoding': 'gzip' }),
  },
  { does: 'sends many Reals', at: 1, once: (target) => ask(target, 'POST', `${resources}/custom/Trap`, reals) },
  { does: 'nests arrays', at: 2, once: (target) => ask(target, 'POST', `${resources}/custom/Trap`, deep) },
  { does: 'inserts Objects of many keys', at: 1, once: (target) => ask(target, 'POST', `${resources}/custom/Heap`, wide) },
  {
    does: 'keeps one instance of many values, and has a program change it',
    at: 1,
    once: async (target) => {
      const vast = `${resources}/custom/Vast`;
      for (const values of [vastNumbers, vastTexts]) {
        await ask(target, 'POST', `${vast}?upsert=true`, `{"code":"a",${values}}`);
        await ask(target, 'PUT', `${vast}/a`, `{"n":1,${values}}`);
        await ask(target, 'PATCH', `${vast}/a`, '[{"op":"replace","path":"/n","value":2}]');
        await ask(target, 'GET', `${vast}/a`);
        await ask(target, 'POST', `${resources}/procedures/changesVast`, '{}');
      }
    },
  },
  {
    does: 'patches by copies that double',
    at: 1,
    once: async (target) => {
      const copies = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/o', path: `/o/c${i}` }));
      await ask(target, 'PATCH', `${resources}/custom/Heap/000000000000000000000000`, JSON.stringify(copies), {
        'content-type': 'application/json-patch+json',
      });
    },
  },
  {
    does: 'stores long rules',
    at: 1,
    once: (target, n) => ask(target, 'POST', `${resources}/rules`, longRule(n), { 'content-type': 'text/plain' }),
  },
  {
    does: 'stores a text of mistyped names',
    at: 1,
    once: (target, n) => ask(target, 'POST', `${resources}/procedures`, mistyped(n), { 'content-type': 'text/plain' }),
  },
  {
    does: 'searches by a pattern that backtracks',
    at: 4,
    once: (target) => ask(target, 'GET', `${resources}/custom/Heap?${where({ s: { $regex: '(a|a)*b(a|a)*c' } })}`),
  },
  {
    does: 'asks with large lists',
    at: 1,
    once: (target) =>
      ask(
        target,
        'POST',
        `${resources}/custom/Heap/select`,
        JSON.stringify({ where: { n: { $in: Array.from({ length: 9_000 }, (_, i) => i) } } }),
      ),
  },
  {
    does: 'asks for a hundred things at once',
    at: 1,
    once: (target) =>
      ask(
        target,
        'POST',
        '/api/v1/batch',
        JSON.stringify(Array.from({ length: 100 }, () => ({ method: 'GET', uri: '/custom/Heap?limit=1000' }))),
        { ...JSON_TYPE, 'accept-encoding': 'identity' }, // or the clients' process has more to do with the answer than the service
      ),
  },
  { does: 'asks for the description of the API', at: 4, once: (target) => ask(target, 'GET', '/api/v1/openapi.json') },
  {
    does: 'imports, exports, compares and lists hundreds of procedures',
    at: 1,
    once: async (target) => {
      const projects = `${resources}/projects/*`;
      for (const body of [MANY, '{"op":"export"}', MANY.replace('import', 'diff')]) await ask(target, 'POST', projects, body);
      await ask(target, 'GET', `${resources}/procedures`);
    },
  },
  { does: 'calls what returns much', at: 1, once: (target) => ask(target, 'POST', `${resources}/procedures/returnsMuch`, '{}') },
  { does: 'calls what publishes too much', at: 1, once: (target) => ask(target, 'POST', `${resources}/procedures/publishesMuch`, '{}') },
  { does: 'calls what keeps a processor', at: 2, once: (target) => ask(target, 'POST', `${resources}/procedures/spins`, '{}') },
  {
    does: 'asks for types that nobody has',
    at: 2,
    once: (target) => ask(target, 'GET', `${resources}/custom/${randomBytes(4_000).toString('hex')}`),
  },
  { does: 'says much before a login', at: 4, once: (target) => webSocket(target, [`{"op":"authenticate","x":${reals}}`], 2_000) },
  { does: 'opens sockets and says nothing', at: 100, once: (target) => webSocket(target, [], 5_000) },
  {
    does: 'subscribes again and again',
    at: 2,
    once: (target) => {
      const one = (n: number): string =>
        JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId: `/topics/loud${n}`, parameters: { requestId: n } });
      return webSocket(target, [login(target.token), ...Array.from({ length: 200 }, (_, n) => one(n))], 1_000);
    },
  },
  {
    does: 'floods a socket with requests',
    at: 1,
    once: (target) => {
      const one = (n: number): string => JSON.stringify({ op: 'select', resourceName: 'Heap', parameters: { limit: 100, requestId: n } });
      return webSocket(target, [login(target.token), ...Array.from({ length: 1_500 }, (_, n) => one(n))], 1_000);
    },
  },
  {
    does: 'sends long messages over a socket',
    at: 1,
    once: (target) =>
      webSocket(
        target,
        [login(target.token), JSON.stringify({ op: 'insert', resourceName: 'Trap', object: { x: 1 } }).replace('1}', `${reals}}`)],
        1_000,
      ),
  },
];

/** What they call and ask for. */
export const PREPARED: readonly string[] = [
  'PROCEDURE returnsMuch()\nvar s = "xxxxxxxxxxxxxxxx"\nfor (i in range(0, 18)) { s = s + s }\nreturn s',
  'PROCEDURE publishesMuch()\nvar s = "xxxxxxxxxxxxxxxx"\nfor (i in range(0, 20)) { s = s + s }\nvar a = [s, s, s, s, s]\ntry { PUBLISH {v: a} TO TOPIC "/loud" } catch (e) { log.info("refused") }\nreturn 1',
  'PROCEDURE changesVast()\nvar v = SELECT ONE FROM Vast WHERE code == "a"\nUPDATE Vast(n: 3, o: v.o) WHERE code == "a"\nPUBLISH {v: v.o} TO TOPIC "/loud"\nreturn v.n',
  'PROCEDURE spins()\nvar i = 0\nwhile (i < 3000000) { i = i + 1 }\nreturn i',
];

/** What a client that was told to end may take for it: a connection that is being opened when the service is busy tells nobody of its end. */
const ENDS_WITHIN_MS = 10_000;

/** All of them, until the signal. @returns by what they do, how often they were answered how */
export async function attack(target: Omit<Target, 'answered'>): Promise<Map<string, Map<string, number>>> {
  const answers = new Map<string, Map<string, number>>();
  const one = async ({ does, at, once }: HostileClient): Promise<void> => {
    const mine = new Map<string, number>();
    answers.set(does, mine);
    const answered = (how: string): void => void mine.set(how, (mine.get(how) ?? 0) + 1);
    let n = 0;
    const again = async (): Promise<void> => {
      while (!target.signal.aborted) {
        await once({ ...target, answered }, n++);
        await sleep(1);
      }
    };
    await Promise.all(Array.from({ length: at }, again));
  };
  const ended = Promise.all(CLIENTS.map(one));
  const late = new Promise<void>((resolve) =>
    target.signal.addEventListener('abort', () => setTimeout(resolve, ENDS_WITHIN_MS), { once: true }),
  );
  await Promise.race([ended, late]);
  return answers;
}
