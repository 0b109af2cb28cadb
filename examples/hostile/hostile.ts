// Runs hostile programs one after the other against a service while a probe in another namespace goes on.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { RestClient, type StartedService } from '../../conformance/client/index.ts';

/** What these programs make the service log as errors. */
export const EXPECTED_ERRORS: readonly RegExp[] = [/^cascade\.rule\.chain\.depth: /, /^the sandbox process ended$/, /^a lane hangs$/];

export interface Program {
  readonly does: string;
  /** Of a procedure. */
  readonly body?: string;
  readonly procedures?: readonly string[];
  /** A pattern for the error's code; `ends`; or `register`: the text is refused. */
  readonly bound?: string;
  readonly value?: unknown;
  /** A rule's text, and one that goes with it. */
  readonly rule?: string;
  readonly more?: string;
  /** What is inserted to start it. */
  readonly trap?: string;
  /** How a rule ends: the reason of the dead letter, the error that is recorded, or what is there when all has been done. */
  readonly dead?: string;
  readonly fails?: string;
  readonly leaves?: { readonly in: string; readonly where: object; readonly count: number };
  readonly slow?: boolean;
}

export interface Outcome {
  readonly wrong: string[];
  /** Longest way of the neighbour's insert to its rule's effect. */
  readonly slowestMs: number;
  readonly answers: number;
}

const NEIGHBOUR = 'neighbour';
const ENDS_WITHIN_MS = 240_000;

/** All of programs.yaml; each says its class, then what it does. */
export function programs(): Program[] {
  const text = readFileSync(new URL('./programs.yaml', import.meta.url).pathname.replace('/dist/', '/'), 'utf8');
  return Object.entries(parse(text) as Record<string, Program[]>).flatMap(([name, some]) =>
    some.map((program) => ({ ...program, does: `${name}: ${program.does}` })),
  );
}

export async function hostile(service: StartedService, programs: readonly Program[], report: (line: string) => void): Promise<Outcome> {
  const client = new RestClient(service.url, 4, ENDS_WITHIN_MS);
  const neighbour = new RestClient(service.url, 1, ENDS_WITHIN_MS);
  const wrong: string[] = [];
  try {
    await client.login(service.user, service.password);
    const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const json = { text: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
      const reply = await client.send(
        method,
        path,
        body === undefined ? { headers } : typeof body === 'string' ? { text: body, headers } : json,
      );
      return { status: reply.status, text: reply.text };
    };
    const password = 'a-long-way-from-here';
    const made = await send('POST', '/namespaces', {
      namespace: NEIGHBOUR,
      organization: { name: NEIGHBOUR },
      username: NEIGHBOUR,
      password,
    });
    if (made.status !== 200) throw new Error(`there is no neighbour: ${made.text}`);
    await neighbour.login(NEIGHBOUR, password);
    const there = senderOf(neighbour);
    for (const one of [send, there]) {
      await one('POST', '/types', { name: 'Trap', properties: { what: { type: 'String' }, n: { type: 'Integer' } } });
      await one('POST', '/types', {
        name: 'Heap',
        properties: { n: { type: 'Integer', indexed: true }, s: { type: 'String' }, o: { type: 'Object' } },
      });
    }
    await there('POST', '/rules', 'RULE probe WHEN INSERT OCCURS ON Trap AS t INSERT Heap(n: t.n)');
    let over = false;
    let slowestMs = 0;
    let answers = 0;
    const probe = (async () => {
      for (let n = 1; !over; n++) {
        const begun = performance.now();
        await there('POST', '/custom/Trap', { n });
        for (;;) {
          const { text } = await there('GET', `/custom/Heap?where=${encodeURIComponent(JSON.stringify({ n }))}`);
          if (text.includes('_id')) break;
          if (performance.now() - begun > ENDS_WITHIN_MS) throw new Error('the neighbour is not answered');
          await sleep(10);
        }
        slowestMs = Math.max(slowestMs, performance.now() - begun);
        answers++;
        await sleep(50);
      }
    })();
    probe.catch(() => undefined); // its error is told at the end, or the one of the programs before it
    for (const [index, program] of programs.entries()) {
      const begun = performance.now();
      const { met, found } = await (program.rule === undefined ? execute(program, index, send) : trap(program, send)).catch(
        (error: unknown) => ({ met: false, found: `it was not answered: ${String(error)}` }),
      );
      if (!met) wrong.push(`${program.does}: ${found}`);
      report(`${met ? ' ' : '✗'} ${program.does}: ${found} (${Math.round(performance.now() - begun)} ms)`);
    }
    over = true;
    await probe;
    return { wrong, slowestMs, answers };
  } finally {
    client.close();
    neighbour.close();
  }
}

type Send = (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string }>;

const senderOf =
  (client: RestClient): Send =>
  async (method, path, body) => {
    const json = { text: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const reply = await client.send(method, path, body === undefined ? {} : typeof body === 'string' ? { text: body } : json);
    return { status: reply.status, text: reply.text };
  };

/** How a program ended, and whether that is its bound. */
interface Ending {
  readonly met: boolean;
  readonly found: string;
}

async function execute({ body, procedures = [], bound = 'ends', value }: Program, index: number, send: Send): Promise<Ending> {
  for (const text of procedures) await send('POST', '/procedures', text);
  const name = `hostile${index}`;
  const stored = await send('POST', '/procedures', `PROCEDURE ${name}()\n${body}`);
  if (stored.status !== 200) return { met: bound === 'register', found: `it is refused: ${stored.text.slice(0, 200)}` };
  const { status, text } = await send('POST', `/procedures/${name}`, {});
  await send('DELETE', `/procedures/${name}`);
  const code = status < 300 ? 'ends' : (/"code":"([^"]*)"/.exec(text)?.[1] ?? `status ${status}`);
  if (!new RegExp(`^(?:${bound})$`).test(code)) return { met: false, found: `${code} instead of ${bound}` };
  if (value === undefined || JSON.stringify(value) === text) return { met: true, found: code };
  return { met: false, found: `${text.slice(0, 100)} instead of ${JSON.stringify(value)}` };
}

async function trap({ rule = '', more, procedures = [], trap: what, dead, fails, leaves, does }: Program, send: Send): Promise<Ending> {
  for (const text of procedures) await send('POST', '/procedures', text);
  const names: string[] = [];
  for (const text of [rule, ...(more === undefined ? [] : [more])]) {
    const { status, text: answer } = await send('POST', '/rules', text);
    if (status !== 200) return { met: false, found: `${does} is refused: ${answer.slice(0, 200)}` };
    names.push(/^RULE (\w+)/.exec(text)?.[1] ?? '');
  }
  await send('POST', '/custom/Trap', { what, n: 0 });
  const targets = [
    ...names.map((name) => `/rules/${name}`),
    ...procedures.map((text) => `/procedures/${/^PROCEDURE (\w+)/.exec(text)?.[1]}`), // what EXECUTE ASYNC starts
  ];
  const rows = async (resource: string, where: object): Promise<object[]> => {
    const { text } = await send('GET', `/${resource}?where=${encodeURIComponent(JSON.stringify(where))}`);
    return JSON.parse(text) as object[];
  };
  let wanted = 'nothing to wait for';
  let isThere = async (): Promise<boolean> => false;
  if (dead !== undefined) {
    wanted = `a dead letter (${dead})`;
    isThere = async () => (await rows('deadletters', { reason: dead, target: { $in: targets } })).length > 0;
  } else if (fails !== undefined) {
    wanted = `a record of ${fails}`;
    isThere = async () => (await rows('ArsRuleSnapshot', { resource: targets[0], 'error.code': fails })).length > 0;
  } else if (leaves) {
    wanted = `${leaves.count} of ${leaves.in} ${JSON.stringify(leaves.where)}`;
    isThere = async () => (await rows(leaves.in, leaves.where)).length === leaves.count;
  }
  let met = await isThere();
  for (const until = performance.now() + ENDS_WITHIN_MS; !met && performance.now() < until; met = await isThere()) await sleep(100);
  for (const name of names) await send('DELETE', `/rules/${name}`);
  return { met, found: met ? wanted : `it did not come to ${wanted}` };
}
