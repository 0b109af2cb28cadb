// How long a publish waits for the answer of a broker that has it. A connection that lives may withhold that for ever: the broker is short of
// memory or disk, or a policy of it takes messages and tells nobody.

export const CONFIRMED_WITHIN_MS = 60_000;

/** A broker has not told what became of a message: it may have taken it. */
export class Unconfirmed extends Error {
  constructor(ms: number) {
    super(`the broker has not confirmed it within ${ms / 1_000} seconds, and may have taken it`);
  }
}

/** @throws Unconfirmed, and what the answer rejects with */
export async function confirmed(answer: Promise<void>, withinMs = CONFIRMED_WITHIN_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Unconfirmed(withinMs)), withinMs);
  });
  try {
    await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
