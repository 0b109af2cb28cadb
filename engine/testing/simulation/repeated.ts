// Clients that repeat a request with its id until they get an answer: it is carried out once, whichever service they ask.
import { countedBy, type Part } from './part.ts';
import type { SimulatedService } from './service.ts';

/** The instances that each request inserts. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = { r0: ['r0'], r1: ['r1'], r2: ['r2', 'r3', 'r4'] };
/** Time without an answer after which a client repeats its request. */
const PATIENCE_MS = 2_000;
/** Pause after a refusal: without it, the world would never let time pass. */
const PAUSE_MS = 100;

export function repeatedRequests(): Part {
  const waiting = new Set<string>();
  const promised = new Set<string>();
  /** Sends the request once. @returns whether there was an answer */
  const asked = (service: SimulatedService, tag: string): Promise<boolean> => {
    const objects = (REQUESTS[tag] as readonly string[]).map((one) => ({ tag: one }));
    const answer = service.request('Asked', objects.length > 1 ? objects : objects[0]!, `request ${tag}`).then(
      () => true,
      () => new Promise<boolean>((resolve) => setTimeout(resolve, PAUSE_MS, false)),
    );
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, PATIENCE_MS, false));
    return Promise.race([answer, late]);
  };
  return {
    tasks: (serving) =>
      Object.keys(REQUESTS).map((tag) => (service) => {
        waiting.add(tag);
        const again = async (first: SimulatedService): Promise<void> => {
          for (let at: SimulatedService | null = first; at === null || !(await asked(at, tag)); at = serving())
            if (at === null) await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
          waiting.delete(tag);
          promised.add(tag);
        };
        void again(service);
      }),
    unfinished: () => [...waiting].map((tag) => `the request ${tag} has no answer`),
    wrong(store) {
      const found = countedBy(store.rows('t.Asked'), ({ tag }) => String(tag));
      const effects = countedBy(store.rows('t.Trace'), ({ tag }) => String(tag));
      return [...promised]
        .flatMap((request) => REQUESTS[request]!)
        .flatMap((tag) => {
          const [stored, ran] = [found.get(tag) ?? 0, effects.get(`${tag} asked`) ?? 0];
          return stored === 1 && ran === 1 ? [] : [`what a repeated request inserts as ${tag}: stored ${stored} times, ${ran} effects`];
        });
    },
    rules: [
      {
        name: 'asked',
        timing: 'when',
        path: '/types/Asked/insert',
        *program({ tag }) {
          yield { kind: 'insert', type: 'Trace', value: { tag: `${String(tag)} asked`, n: 1 }, tail: true };
        },
      },
    ],
  };
}
