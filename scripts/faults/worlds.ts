// Simulated worlds in a process of their own, bundled with a fault in them: `FROM COUNT`. Prints what is wrong in the first that shows something,
// and a line end for each other world, by which it is seen that they go on.
import { Simulation } from '../../engine/testing/simulation/index.ts';

const [from, count] = process.argv.slice(2).map(Number) as [number, number];
const simulation = new Simulation();
for (let seed = from; seed < from + count; seed++) {
  const [wrong] = await simulation.run(seed);
  if (wrong === undefined) {
    process.stdout.write('\n');
    continue;
  }
  process.stdout.write(`seed ${seed}: ${wrong}\n`);
  break;
}
process.exit(0); // timers of a service that has died may be left
