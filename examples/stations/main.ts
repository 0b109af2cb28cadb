// `npm run example stations [-- --magnitude M] [--silent STATION]`
// Three stations, each an installation of its own with the earthquakes of its networks, and a centre whose rule asks all of them within two seconds;
// then once more while one of them does not answer.
import { parseArgs } from 'node:util';
import { type Fleet, openFleet, STATIONS } from './fleet.ts';

const { values } = parseArgs({
  options: { magnitude: { type: 'string', default: '4.5' }, silent: { type: 'string', default: 'california' } },
});
const magnitude = Number(values.magnitude);
if (Number.isNaN(magnitude)) throw new Error('--magnitude takes a number');
if (!Object.hasOwn(STATIONS, values.silent)) throw new Error(`--silent takes one of ${Object.keys(STATIONS).join(', ')}`);

console.log('starting a centre and three stations');
await using fleet = await openFleet();
for (const [name, count] of Object.entries(fleet.quakes)) console.log(`  ${name.padEnd(10)} ${String(count).padStart(5)} earthquakes`);
await ask('all stations answer', fleet);
fleet.silence(values.silent);
await ask(`${values.silent} stands still`, fleet);
fleet.wake(values.silent);

async function ask(what: string, { question }: Fleet): Promise<void> {
  const { answers, silent, ms } = await question(magnitude);
  console.log(`\nWhich were of magnitude ${magnitude} or more? (${what}; after ${(ms / 1_000).toFixed(1)} s)`);
  for (const { station, place, magnitude: of } of answers) console.log(`  ${station.padEnd(10)} ${of.toFixed(1)}  ${place}`);
  for (const { station, why } of silent) console.log(`  ${station.padEnd(10)} did not answer: ${why}`);
}
