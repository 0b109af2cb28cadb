// `npm run faults:kernel [-- NUMBER…]`: puts each seeded fault of the kernel (kernel-list.ts) into the simulated world. Exits 1 when one is not
// noticed that has no reason for that, when one is that has, or when the worlds are wrong without any.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticed } from './kernel.ts';
import { KERNEL_FAULTS } from './kernel-list.ts';

/** Worlds in which a fault that is to be noticed must be, and those that one with a reason survives. */
const WORLDS = { noticed: 6_000, survives: 2_000 };
const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))); // of the built script, in dist/scripts/faults

process.exitCode = await main(process.argv.slice(2).map(Number));

async function main(numbers: readonly number[]): Promise<number> {
  const usual = await noticed(null, WORLDS.survives, root);
  if (usual !== null) {
    console.log(`without a fault: ${usual}`);
    return 1;
  }
  const chosen = KERNEL_FAULTS.map((fault, i) => [i + 1, fault] as const).filter(([n]) => numbers.length === 0 || numbers.includes(n));
  let found = 0;
  let wrong = 0;
  for (const [number, fault] of chosen) {
    const by = await noticed(fault, fault.survives === undefined ? WORLDS.noticed : WORLDS.survives, root);
    if (by !== null) found++;
    if ((by === null) === (fault.survives === undefined)) wrong++;
    const verdict = by !== null ? 'noticed    ' : fault.survives === undefined ? 'NOT NOTICED' : 'survives   ';
    console.log(`${String(number).padStart(2)}  ${verdict}  ${fault.what}\n      ${by ?? fault.survives ?? 'without a reason'}`);
    if (by !== null && fault.survives !== undefined) console.log('      IT IS NOTICED NOW: its reason must go');
  }
  console.log(`${found} of ${chosen.length} faults of the kernel are noticed, ${wrong} not as the list says`);
  return wrong === 0 ? 0 : 1;
}
