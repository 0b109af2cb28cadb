// Which of the living processes a namespace belongs to (rendezvous hashing): every process works out the same for itself, and when one
// joins or leaves only its own share moves. It says who should own a namespace; who does own it is what the database says (owners.ts).

import { createHash } from 'node:crypto';

/** @param processes epochs of those that live and stay @returns null when there is none */
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
