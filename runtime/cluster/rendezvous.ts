// Chooses the process that should own a namespace (rendezvous hashing): every process computes the same choice, and when one joins or
// leaves only its own share moves. The actual owner is the one in the database (owners.ts).

import { createHash } from 'node:crypto';

/** @param processes epochs of the candidates: living processes that are not stopping @returns null when there is none */
export function winnerOf(namespace: string, processes: readonly number[]): number | null {
  let winner: number | null = null;
  let most = '';
  for (const epoch of processes) {
    const weight = createHash('sha1').update(`${epoch}\n${namespace}`).digest('hex');
    if (weight <= most) continue;
    winner = epoch;
    most = weight;
  }
  return winner;
}
