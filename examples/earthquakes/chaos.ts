// The same load while the service is killed (SIGKILL) again and again at moments that a seed decides.
// `node scripts/run.mjs examples/earthquakes/chaos [KILLS] [SEED]` prints whether anything was lost or doubled.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { expectedAlerts, expectedSummary } from './expected.ts';
import { install, load, whenQuiet } from './load.ts';
import { readFeatures, shuffled } from './quakes.ts';

const RECOVERED_WITHIN_MS = 60_000;

export interface ChaosOutcome {
  /** How often it was killed before everything was loaded. */
  readonly kills: number;
  /** What is not as computed from the file; nothing when all is well. */
  readonly wrong: string[];
}

/** @param kills at most so many; the load may be done before */
export async function chaos(service: StartedService, kills: number, seed: number): Promise<ChaosOutcome> {
  const features = shuffled(readFeatures(), seed);
  const connections = 16;
  const client = new RestClient(service.url, connections);
  try {
    await client.login(service.user, service.password);
    await install(client);
    let done = false;
    let killed = 0;
    let stored = 0;
    const pace = shuffled(
      Array.from({ length: kills }, (_, index) => index / Math.max(kills, 1)),
      seed,
    );
    const killing = (async () => {
      for (const fraction of pace) {
        const goal = stored + Math.ceil((features.length / (kills + 1)) * (0.3 + fraction));
        while (stored < goal && !done) await sleep(1);
        if (done) return;
        await service.kill();
        killed++;
        await service.restart();
      }
    })();
    await load(client, features, connections, (count) => {
      stored = count;
    });
    done = true;
    await killing;
    const wanted = expectedSummary(features);
    let summary = await whenQuiet(client);
    // What a killed service had begun is repeated by the next one, some time after it serves again.
    for (const until = performance.now() + RECOVERED_WITHIN_MS; !isDeepStrictEqual(summary, wanted) && performance.now() < until; )
      summary = await whenQuiet(client);
    const alerts = JSON.parse((await client.send('GET', '/custom/Alert?limit=10000')).text) as { quake: string }[];
    const quakes = alerts.map(({ quake }) => quake).sort();
    const wrong = [
      ...(isDeepStrictEqual(summary, wanted) ? [] : [`the summary is ${JSON.stringify(summary)}, wanted ${JSON.stringify(wanted)}`]),
      ...(isDeepStrictEqual(
        quakes,
        expectedAlerts(features).map(({ quake }) => quake),
      )
        ? []
        : ['the alerts are not one for each strong quake']),
    ];
    return { kills: killed, wrong };
  } finally {
    client.close();
  }
}

if (process.argv[1]?.endsWith('chaos.js')) {
  const [kills = 50, seed = 1] = process.argv.slice(2).map(Number);
  await using service = await startService();
  const outcome = await chaos(service, kills, seed);
  for (const line of outcome.wrong) console.log(line);
  console.log(`${outcome.kills} kills, ${outcome.wrong.length === 0 ? 'nothing lost, nothing doubled' : 'NOT as it should be'}`);
  process.exitCode = outcome.wrong.length === 0 ? 0 : 1;
}
