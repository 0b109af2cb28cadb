// `npm run chaos:forms`: many open forms, whose answers arrive more than once while the service is killed; each is published once.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startService } from '../../conformance/client/index.ts';
import { randomFrom } from '../chaos/run.ts';
import { answerAll } from './answers.ts';
import { compare } from './compare.ts';
import { openForms, setUp } from './forms.ts';

const HELP = `npm run chaos:forms -- [--forms N] [--rate N] [--kills N] [--seed S]
  N forms (10,000) are open, each with a rule that waits for its answer. The answers arrive at a rate a second (200), each twice, every fourth
  from two clients at once with different values, while the service is killed N times (10). Then each form must be answered by one answer, which
  its rule has got once. Exits 1 when one is missing, doubled or another one than was acknowledged.`;
const BETWEEN_KILLS_MS = { least: 1_000, most: 5_000 };
const SETTLE_MS = 120_000;

const { values } = parseArgs({
  options: {
    forms: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '200' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [count, perSecond, kills, seed] = [Number(values.forms), Number(values.rate), Number(values.kills), Number(values.seed)];
if (![count, perSecond, kills, seed].every((value) => Number.isSafeInteger(value) && value >= 0) || perSecond === 0)
  throw new Error('--forms, --kills and --seed take whole numbers, --rate one above 0');

await using service = await startService({ expects: 'any' });
const clients = await setUp(service);
try {
  const opened = Date.now();
  const forms = await openForms(clients[0], count);
  console.log(`  ${count} forms are open after ${Date.now() - opened} ms`);
  const random = randomFrom(seed);
  const begun = Date.now();
  let isAnswered = false;
  const answering = answerAll(clients, forms, perSecond).finally(() => {
    isAnswered = true;
  });
  let killed = 0;
  while (killed < kills && !isAnswered) {
    await sleep(BETWEEN_KILLS_MS.least + random() * (BETWEEN_KILLS_MS.most - BETWEEN_KILLS_MS.least));
    await service.kill();
    await service.restart();
    console.log(`  ${++killed}: killed after ${Date.now() - begun} ms`);
  }
  const acknowledged = await answering;
  const seconds = (Date.now() - begun) / 1_000;
  const { faults, published } = await compare(clients[0], forms, acknowledged, SETTLE_MS);
  for (const [kind, list] of Object.entries(faults)) if (list.length > 0) console.log(`${kind}: ${list.slice(0, 20).join(', ')}`);
  const figures = Object.entries(faults).map(([kind, list]) => `${kind} ${list.length}`);
  console.log(`${killed} kills: ${count} forms answered in ${seconds.toFixed(1)} s, ${published} published: ${figures.join(', ')}`);
  if (killed < kills) console.log(`the answers were over before ${kills} kills`);
  if (killed < kills || Object.values(faults).some((list) => list.length > 0)) process.exitCode = 1;
} finally {
  for (const client of clients) client.close();
}
