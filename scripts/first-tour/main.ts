// `npm run first-tour`: the picture of README.md (docs/images/first-tour.svg), of a service that really runs: what is shown is what it and the command line have answered.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { type TerminalLine, terminalSvg } from './terminal-svg.ts';

const RULE = `RULE tooFast
WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 80

INSERT Alarm(pump: p._id, text: p.site + " runs at " + p.rate)`;
const TYPES = {
  Pump: { site: { type: 'String' }, rate: { type: 'Integer' } },
  Alarm: { pump: { type: 'String' }, text: { type: 'String' } },
};
const PUMP = '{"site": "north", "rate": 91}';
const OTHER = '{"site": "south", "rate": 12}';
const ANSWER_WITHIN_MS = 10_000;
const TITLE = 'A terminal: a rule, the pump that it fires for, the alarm that it makes, and why another pump makes none';

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))); // of the built script, in dist/scripts/first-tour
const folder = mkdtempSync(join(tmpdir(), 'cascade-tour-'));
await using service = await startService({ args: ['--host', '127.0.0.1'] });
const client = new RestClient(service.url);
try {
  const project = join(folder, 'plant');
  for (const part of ['types', 'rules']) mkdirSync(join(project, part), { recursive: true });
  for (const [name, properties] of Object.entries(TYPES))
    writeFileSync(join(project, `types/${name}.json`), JSON.stringify({ name, properties }));
  writeFileSync(join(project, 'rules/tooFast.rule'), `${RULE}\n`);
  await client.login(service.user, service.password);

  const imported = cascade('import', 'plant');
  const inserted = await answered('POST', '/custom/Pump', PUMP);
  const alarm = await untilThere(`/custom/Alarm?props=${encodeURIComponent('["text"]')}`);
  const why = cascade('why', '--path', '/types/Pump/insert', '--value', OTHER);
  const lines: TerminalLine[] = [
    typed('cat plant/rules/tooFast.rule'),
    ...RULE.split('\n').map((text): TerminalLine => ({ kind: 'text', text })),
    typed('npx cascade import plant'),
    ...answer(imported),
    typed(`api --json '${PUMP}' $API/custom/Pump`),
    ...answer(`${inserted.slice(0, inserted.indexOf(',"ars_'))}, …`),
    typed(`api -G --data-urlencode 'props=["text"]' $API/custom/Alarm`),
    { kind: 'mark', text: alarm },
    typed(`npx cascade why --path /types/Pump/insert --value '${OTHER}'`),
    ...answer(why).map((line, at): TerminalLine => (at === 0 ? line : { ...line, kind: 'mark' })),
  ];
  const file = join(root, 'docs/images/first-tour.svg');
  writeFileSync(file, terminalSvg(lines, TITLE));
  console.log(`written ${file}`);
} finally {
  client.close();
  rmSync(folder, { recursive: true });
}

function cascade(...args: string[]): string {
  const env = { ...process.env, CASCADE_URL: service.url, CASCADE_USER: service.user, CASCADE_PASSWORD: service.password };
  return execFileSync(process.execPath, [join(root, 'bin/cascade.js'), ...args], { cwd: folder, env, encoding: 'utf8' });
}

async function answered(method: string, path: string, body?: string): Promise<string> {
  const { status, text } = await client.send(
    method,
    path,
    body === undefined ? {} : { text: body, headers: { 'content-type': 'application/json' } },
  );
  if (status >= 300) throw new Error(`the service refused ${path}: ${status} ${text}`);
  return text;
}

/** A rule runs after its event is stored. */
async function untilThere(path: string): Promise<string> {
  for (const until = performance.now() + ANSWER_WITHIN_MS; performance.now() < until; await sleep(50)) {
    const text = await answered('GET', path);
    if (text !== '[]') return text;
  }
  throw new Error(`${path} stays empty`);
}

function typed(text: string): TerminalLine {
  return { kind: 'typed', text: `$ ${text}` };
}

function answer(text: string): TerminalLine[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => ({ kind: 'answer', text: line }));
}
