// `npm run crosscheck -- [--count N] [--seed S]`: random inputs to built-ins, answered here and by independent implementations on this machine:
// Java's MessageFormat, DecimalFormat and SimpleDateFormat, Python's hashlib, decimal, datetime and zoneinfo. Differences are printed; the exit
// code is 0 when there are none, 2 when an oracle is not there.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CascadeError } from '../../stdlib/errors.ts';
import { type BuiltinContext, lookup } from '../../stdlib/builtins/index.ts';
import { DateTime, text } from '../../stdlib/values/index.ts';
import { type Argument, type Question, questions, valueOf } from './questions.ts';

/** How many differences of an area are shown. */
const SHOWN = 5;
const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))); // of the built script, in dist/scripts/crosscheck
const ORACLES: Record<Question['oracle'], string[]> = {
  java: ['java', join(root, 'scripts/crosscheck/Oracle.java')],
  python: ['python3', join(root, 'scripts/crosscheck/oracle.py')],
};

const unused = (): never => {
  throw new TypeError('no built-in that is asked here needs a run');
};
const CONTEXT: BuiltinContext = {
  now: () => Date.now(),
  random: unused,
  uuid: unused,
  sequence: unused,
  merge: unused,
  patternSteps: () => 100_000,
  spend: () => undefined,
  charge: () => undefined,
  log: unused,
  logs: () => false,
  warnOnce: () => undefined,
};

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { count: { type: 'string', default: '24000' }, seed: { type: 'string', default: String(Date.now() % 1e9) } },
  });
  const asked = questions(Number(values.seed), Number(values.count));
  console.log(`${asked.length} questions, seed ${values.seed}`);
  const theirs = new Map<Question, string | null>();
  for (const oracle of ['java', 'python'] as const) {
    const own = asked.filter((question) => question.oracle === oracle);
    try {
      const answers = await ask(ORACLES[oracle], own);
      own.forEach((question, i) => theirs.set(question, answers[i] ?? null));
    } catch (error) {
      console.error(`${oracle} does not answer: ${error instanceof Error ? error.message : String(error)}`);
      return 2;
    }
  }

  let differences = 0;
  for (const area of new Set(asked.map((question) => question.area))) {
    const own = asked.filter((question) => question.area === area);
    const different = own.filter((question) => here(question) !== theirs.get(question));
    const refused = own.filter((question) => theirs.get(question) === null).length;
    console.log(
      `${area.padEnd(18)} ${String(own.length).padStart(6)} asked, ${String(refused).padStart(5)} refused by both, ${different.length} different`,
    );
    for (const question of different.slice(0, SHOWN))
      console.log(
        `    ${question.name}(${question.args.map(written).join(', ')})\n      here  ${JSON.stringify(here(question))}\n      there ${JSON.stringify(theirs.get(question))}`,
      );
    differences += different.length;
  }
  console.log(`${asked.length} questions, ${differences} differences`);
  return differences === 0 ? 0 : 1;
}

/** The answer as text; null for an error. */
function here({ name, args }: Question): string | null {
  try {
    const result = lookup(name)?.call(CONTEXT, args.map(valueOf)) ?? null;
    return result instanceof DateTime ? String(result.ms) : text(result);
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

function written(argument: Argument): string {
  if (argument.kind === 'date') return new Date(argument.ms).toISOString();
  return `${argument.kind === 'text' ? '' : `${argument.kind} `}${JSON.stringify(argument.text)}`;
}

/** All questions at once to a program, a line each; its answers in their order. */
async function ask([command = '', ...args]: string[], asked: readonly Question[]): Promise<(string | null)[]> {
  const coded = (argument: Argument): string =>
    `${argument.kind}:${Buffer.from(argument.kind === 'date' ? String(argument.ms) : argument.text).toString('base64')}`;
  const lines = asked.map(({ name, args }) => [name, ...args.map(coded)].join('\t')).join('\n');
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const ended = new Promise<void>((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => (code === 0 ? done() : failed(new Error(`exit code ${code}`))));
  });
  child.stdin.end(lines);
  await ended;
  const answers = Buffer.concat(output).toString('utf8').trimEnd().split('\n');
  if (answers.length !== asked.length) throw new Error(`${answers.length} answers to ${asked.length} questions`);
  return answers.map((line) => (line.startsWith('ok\t') ? Buffer.from(line.slice(3), 'base64').toString('utf8') : null));
}
