// Checks whether this process may serve beside the present ones: several processes all need a bus, and one of an earlier version does not
// respect owner records.

import { setTimeout as sleep } from 'node:timers/promises';
import type { LivingProcess, ServiceProcess } from '../runtime/cluster/index.ts';

const LOOK_EVERY_MS = 500;

/**
 * Waits until each other process that may conflict is known to live or to be dead: its lease is renewed, or over.
 * @throws Error with a reason for people when one does
 */
export async function requirePeers(process: ServiceProcess, hasBus: boolean): Promise<void> {
  for (;;) {
    await process.claim();
    const inTheWay = process.others.filter((other) => reasonAgainst(other, hasBus) !== null);
    const sure = inTheWay.find(({ isSure }) => isSure);
    if (sure) throw new Error(reasonAgainst(sure, hasBus)!);
    if (inTheWay.length === 0) return;
    await sleep(LOOK_EVERY_MS);
  }
}

function reasonAgainst({ host, pid, hasBus, isOld }: LivingProcess, haveBus: boolean): string | null {
  const other = `Another process (${pid} on ${host}) serves this database`;
  if (isOld) return `${other}. It is of an earlier version, which cannot serve beside this one: stop it first.`;
  if (hasBus && haveBus) return null;
  const how =
    'Several processes need NATS to reach each other: start each of them with --nats URL (or CASCADE_NATS), such as nats://127.0.0.1:4222.';
  return haveBus ? `${other} without NATS. ${how}` : `${other}. ${how}`;
}
