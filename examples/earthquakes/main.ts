// `npm run example earthquakes [-- --url URL --user U --password P] [--connections N] [--shuffle SEED]`
// Loads a week of earthquakes into a service (its own when no URL is given) and prints what the rules have made of them.
import { parseArgs } from 'node:util';
import { RestClient, startService } from '../../conformance/client/index.ts';
import type { Summary } from './expected.ts';
import { install, load, whenQuiet } from './load.ts';
import { readFeatures, shuffled } from './quakes.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { url: text, user: text, password: text, connections: text, shuffle: text } });

if (values.url !== undefined) await run(values.url, values.user ?? 'admin', values.password ?? '');
else {
  console.log('starting a service');
  await using service = await startService();
  await run(service.url, service.user, service.password);
}

async function run(url: string, user: string, password: string): Promise<void> {
  const connections = Number(values.connections ?? 32);
  const client = new RestClient(url, connections);
  try {
    await client.login(user, password);
    await install(client);
    const features = values.shuffle === undefined ? readFeatures() : shuffled(readFeatures(), Number(values.shuffle));
    const begun = performance.now();
    await load(client, features, connections);
    const seconds = (performance.now() - begun) / 1000;
    console.log(
      `${features.length} events in ${seconds.toFixed(2)} s over ${connections} connections (${Math.round(features.length / seconds)}/s)`,
    );
    print(await whenQuiet(client));
  } finally {
    client.close();
  }
}

function print({ quakes, alerts, levels, networks }: Summary): void {
  console.log(`${quakes} quakes, ${alerts} alerts: ${levels.severe} severe, ${levels.warning} warnings, ${levels.notice} notices\n`);
  const rows = networks.map(({ network, alerts: count, strongest, mean }) => [network, String(count), strongest.toFixed(2), mean]);
  for (const row of [['network', 'alerts', 'strongest', 'mean'], ...rows])
    console.log(row.map((cell, index) => (index === 0 ? cell.padEnd(8) : cell.padStart(10))).join(''));
}
