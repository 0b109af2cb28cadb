// What README.md and docs/performance.md tell of a run that is kept (bench/figures.json): `npm run docs` writes their tables.
import { type Figure, median } from './figure.ts';
import type { Run } from './runs.ts';

interface Row {
  readonly what: string;
  readonly bench: string;
  /** The figure's name. */
  readonly of: string;
  /** What the other contestants are called, or the aims that tell the ratio; none: the figure itself is told. */
  readonly beside: Readonly<Record<string, string>>;
}

const INSERT = "Insert and a rule's insert";
const BY_HAND = { 'bare handler': 'two awaited `insertOne`', 'group commit by hand': 'a group commit of two `insertMany`' };
const PEERS = { Drools: 'Drools', Esper: 'Esper' };

/** The lines of docs/performance.md. */
const ROWS: readonly Row[] = [
  ...['REST', 'WebSocket'].map((binding) => ({
    what: `insert, no rule, 256 connections: ${binding}`,
    bench: 'api',
    of: `${binding} insert, 256 connections`,
    beside: { 'bare handler': 'an awaited `insertOne`', 'group commit by hand': 'a group commit' },
  })),
  ...['select by key', 'select 20 where'].map((kind) => ({
    what: `${kind}, REST, 256 connections`,
    bench: 'api',
    of: `REST ${kind}, 256 connections`,
    beside: { 'bare handler': 'the driver in a bare handler', Fastify: 'the driver in Fastify' },
  })),
  { what: 'insert and a rule’s insert, 256 connections', bench: 'durable', of: `${INSERT}, 256 connections`, beside: BY_HAND },
  { what: 'the same, 32 connections', bench: 'durable', of: `${INSERT}, 32 connections`, beside: BY_HAND },
  {
    what: 'the same, one connection: p50',
    bench: 'durable',
    of: `${INSERT}, 1 connections`,
    beside: { 'p50, cascade / bare handler': 'two awaited `insertOne`' },
  },
  {
    what: 'the same, arrays of 1,000',
    bench: 'durable',
    of: "Arrays of 1,000 and a rule's insert for each",
    beside: { 'insertMany alone': '`insertMany` alone, which runs no rule' },
  },
  {
    what: 'a rule that counts, one hot instance',
    bench: 'durable',
    of: 'Counters of a rule, all on one hot instance',
    beside: { 'insert and $inc, awaited': 'an insert and a `$inc`, awaited, 32 at a time' },
  },
  {
    what: 'a rule that counts, 10,000 instances, 256 connections',
    bench: 'durable',
    of: 'Counters of a rule, on 10,000 instances, 256 connections',
    beside: { 'bare handler': 'an insert and a `$inc`, awaited', 'group commit by hand': 'a group commit of both' },
  },
  {
    what: 'p99 of one client beside another namespace’s 256',
    bench: 'durable',
    of: 'A neighbour at full load',
    beside: { 'beside it / in quiet': 'its p99 in quiet', 'bare handler beside it': 'that of a bare handler beside it' },
  },
  ...['1,000', '10,000'].map((count) => ({
    what: `rules on one type, one of ${count} matches, body in the sandbox`,
    bench: 'rules',
    of: `rules: ${count} on one type, one matches`,
    beside: PEERS,
  })),
  {
    what: 'an event with 100,000 rules beside one with ten',
    bench: 'rules',
    of: 'rules: body in the sandbox, 100,000 rules beside 10',
    beside: {
      'the cost of an event, 100,000 rules, events meet 1,000 / 10 rules': 'its cost when events meet 1,000 of them',
      'the cost of an event, 100,000 rules, events meet all / 10 rules': 'when they meet all',
    },
  },
  {
    what: 'pairs of events in memory',
    bench: 'correlate',
    of: 'correlate: 1,000,000 events over 100,000 keys, in memory',
    beside: { 'a Map by hand': 'a Map by hand', Esper: 'Esper' },
  },
  {
    what: 'pairs of events, durable, in arrays of 1,000',
    bench: 'correlate',
    of: 'correlate: 1,000,000 events over 100,000 keys, durable, in arrays of 1,000',
    beside: { 'a collection by hand': 'a collection of open windows kept by hand' },
  },
  {
    what: 'rules that compute, in two worker threads',
    bench: 'sandbox',
    of: 'sandbox, rules that compute, two lanes beside one',
    beside: { 'one lane': 'one worker thread' },
  },
  {
    what: 'text of a rule to verified JavaScript',
    bench: 'compile',
    of: 'compiler, text to verified JavaScript',
    beside: { transpileModule: 'TypeScript’s `transpileModule`' },
  },
  ...[0, 1].map((level) => ({
    what: `MQTT level ${level}, a message in, a rule, a message out`,
    bench: 'mqtt',
    of: `MQTT level ${level}: in, rule, out`,
    beside: { script: 'a script with mqtt.js', 'node-red': 'Node-RED, neither of which stores anything' },
  })),
  ...[1, 32].map((connections) => ({
    what: `a query of an HTTP service for each request, ${connections} at a time`,
    bench: 'remote',
    of: `REMOTE: a query for each request, ${connections} at a time`,
    beside: { script: 'a script with undici', 'node-red': 'Node-RED' },
  })),
  ...['until requests are answered', 'until 100,000 open runs are done'].map((until) => ({
    what: `after \`kill -9\` under full load, ${until}`,
    bench: 'durable',
    of: until.startsWith('until requests') ? `After kill -9 with open runs: ${until}` : `After kill -9: ${until}, start included`,
    beside: {},
  })),
  {
    what: 'memory of a service that nobody uses, mongod apart',
    bench: 'idle',
    of: 'idle: memory of a service that nobody uses, mongod apart',
    beside: {},
  },
];

const CHAOS =
  '| lost, doubled or wrong effects after kills of service, sandbox and database | none | `npm run chaos -- --kills 30 --seed 11` |';

/** The table on the README's first screen. @throws Error for a figure that the run does not have */
export function readmeTable(run: Run): string {
  const [peers, insert] = ['rules: 10,000 on one type, one matches', `${INSERT}, 256 connections`];
  const byHand = { 'bare handler': 'two awaited `insertOne` by hand' };
  return [
    '| What | How it compares | Measured by |',
    '|---|---|---|',
    `| rules on one type, one of 10,000 matches | ${comparison(run, { bench: 'rules', of: peers, beside: PEERS })} | \`npm run bench -- rules --peers\` |`,
    `| an insert and what its rule inserts, durable, 256 connections | ${comparison(run, { bench: 'durable', of: insert, beside: byHand })} | \`npm run bench -- durable\` |`,
    CHAOS,
  ].join('\n');
}

/** The table of docs/performance.md. @throws Error for a figure that the run does not have */
export function performanceTable(run: Run): string {
  const { date, cores, cpu, memoryGiB, node } = run.machine;
  return [
    `Measured on ${date}: ${cores} cores (${cpu}), ${memoryGiB} GiB, Node ${node}; load and database on the same cores.`,
    '',
    '| what | figure |',
    '|---|---|',
    ...ROWS.map((row) => `| ${row.what} | ${comparison(run, row)} |`),
  ].join('\n');
}

/** Two digits, from ten on whole numbers. */
const written = (value: number): string => (value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(value < 1 ? 2 : 1));

/** `6.2 times two awaited …, 0.5 times a group commit …` */
function comparison(run: Run, { bench, of, beside }: Omit<Row, 'what'>): string {
  const figure = run.figures.find((one) => one.bench === bench && one.name === of);
  if (!figure) throw new Error(`the run that is kept has no figure '${of}' of ${bench}`);
  const [own = []] = Object.values(figure.rounds);
  if (Object.keys(beside).length === 0) return `${written(median(own))} ${figure.unit}`;
  return Object.entries(beside)
    .map(([other, called]) => `${written(ratioIn(figure, other))} times ${called}`)
    .join(', ');
}

function ratioIn({ name, rounds, aims = [] }: Figure, other: string): number {
  const [own] = Object.values(rounds);
  const theirs = rounds[other];
  if (own && theirs) return median(own) / median(theirs);
  const aim = aims.find(({ what }) => what === other);
  if (!aim) throw new Error(`'${name}' has neither a contestant nor an aim '${other}'`);
  return aim.is;
}

/** The text with other lines between the two marks. @throws Error where they are missing */
export function withTable(text: string, table: string): string {
  const [begin, end] = ['<!-- figures, by npm run docs -->\n', '<!-- end of the figures -->'];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no place for the figures: ${begin.trim()} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n${table}\n\n${text.slice(to)}`;
}
