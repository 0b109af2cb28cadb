// `npm run chaos:sources`: brokers and the service disturbed under load; `--help` says what it can be told.
import { parseArgs } from 'node:util';
import { PEERS } from './peers.ts';
import { chaosOf } from './run.ts';

const HELP = `npm run chaos:sources -- [--times N] [--only NAME]… [--rate N] [--seed S]
  Messages go through a broker and a source into a rule that stores them, while broker and service are each killed, stopped for two seconds
  or restarted N times (50) in turn. Then what the broker confirmed is compared with what is stored. Exits 1 when anything is lost, or
  stored twice that the broker brought once. NAME is one of ${PEERS.map(({ name }) => name).join(', ')}; the rate is in messages a second (300).`;

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '50' },
    only: { type: 'string', multiple: true, default: [] },
    rate: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [times, perSecond, seed] = [Number(values.times), Number(values.rate), Number(values.seed)];
if (![times, perSecond, seed].every((value) => Number.isSafeInteger(value) && value >= 0))
  throw new Error('--times, --rate and --seed take whole numbers');
const unknown = values.only.find((name) => !PEERS.some((peer) => peer.name === name));
if (unknown !== undefined) throw new Error(`--only takes ${PEERS.map(({ name }) => name).join(', ')}, not ${unknown}`);
for (const peer of PEERS.filter(({ name }) => values.only.length === 0 || values.only.includes(name))) {
  const { promised, perhaps, lost, doubled, repeated } = await chaosOf(peer, {
    times,
    perSecond,
    seed,
    onStep: (line) => console.log(`  ${line}`),
  });
  for (const [kind, list] of Object.entries({ lost, doubled }))
    if (list.length > 0) console.log(`${kind}: ${list.slice(0, 20).join(', ')}`);
  console.log(
    `${peer.name}: ${times} disturbances each of broker and service, confirmed ${promised}, not confirmed ${perhaps}: ` +
      `lost ${lost.length}, doubled ${doubled.length}; brought again by the broker ${repeated}`,
  );
  if (lost.length + doubled.length > 0) process.exitCode = 1;
}
