// Nodes of a simulated fleet and their network: messages are lost, late or cut off, and nodes are down, full or forgetful.
import { parseJson } from '../../../model/values/index.ts';
import { type Carriage, type NodeAnswer, NodeClient, type NodeRequest } from '../../../features/federation/index.ts';
import { HttpFailure } from '../../../features/sources/http/index.ts';
import { CascadeError } from '../../../model/errors/api-errors.ts';
import type { World } from '../simulation/index.ts';

type Life = Parameters<World['turn']>[0];

/** Number of rows of every node. */
export const ROWS = 2_300;
/** A value that nodes always refuse. */
export const POISON = 13;

export class SimulatedNode {
  readonly name: string;
  /** The effects that it has stored, in order. */
  readonly effects: { readonly requestId: string; readonly k: number }[] = [];
  /** Whether it answers no requests. */
  isDown = false;
  readonly #remembered = new Map<string, NodeAnswer>();

  constructor(name: string) {
    this.name = name;
  }

  /** @param forgets planted defect: request ids are ignored @throws CascadeError */
  answer({ op, parameters = {}, object, requestId }: NodeRequest, isBusy: boolean, forgets: boolean): NodeAnswer {
    if (isBusy) throw new CascadeError('cascade.server.unavailable', 'busy', [], 500);
    if (op === 'select') {
      const [limit, page] = [Number(parameters['limit']), Number(parameters['page'])];
      const from = (page - 1) * limit;
      const rows = Array.from({ length: Math.max(0, Math.min(limit, ROWS - from)) }, (_, i) => ({ k: from + i }));
      return { value: rows, count: null, isPartial: false };
    }
    const known = requestId === undefined || forgets ? undefined : this.#remembered.get(requestId);
    if (known) return known;
    const { k } = parseJson(object ?? 'null') as { k: number };
    if (k === POISON) throw new CascadeError('cascade.type.property.invalid', 'it is poison', [], 400);
    this.effects.push({ requestId: requestId ?? '', k });
    const stored = { value: { k }, count: null, isPartial: false };
    if (requestId !== undefined) this.#remembered.set(requestId, stored);
    return stored;
  }
}

export interface Faults {
  /** Chances of failures, for one message. */
  lost: number;
  cut: number;
  busy: number;
  /** Planted defect: nodes forget their answers. */
  readonly forgets: boolean;
}

/** The life of messages, which travel on when their sender has died. */
const NETWORK: Life = { name: 'network', alive: true };

export class SimulatedClient extends NodeClient {
  readonly #world: World;
  readonly #life: Life;
  readonly #to: SimulatedNode;
  readonly #faults: Faults;

  constructor(world: World, life: Life, to: SimulatedNode, faults: Faults) {
    super(to.name);
    this.#world = world;
    this.#life = life;
    this.#to = to;
    this.#faults = faults;
  }

  async close(): Promise<void> {}

  protected carry(request: NodeRequest, { signal, deadline }: Carriage): Promise<NodeAnswer> {
    const world = this.#world;
    const { name } = this.#to;
    return new Promise((resolve, reject) => {
      const fail = (kind: 'cut' | 'timeout' | 'unconnected'): void => {
        clearTimeout(timer);
        reject(new HttpFailure(kind, kind));
      };
      const timer = setTimeout(() => fail('timeout'), Math.max(1, deadline - performance.now()));
      if (signal.aborted) return fail('cut');
      signal.addEventListener('abort', () => fail('cut'), { once: true });
      if (this.#to.isDown) return world.later(this.#life, `${name} refuses`, () => fail('unconnected'));
      if (this.#fails(fail)) return;
      world.later(NETWORK, `request at ${name}`, () => {
        if (this.#to.isDown) return world.later(this.#life, `${name} is gone`, () => fail('cut'));
        let give: () => void;
        try {
          const answer = this.#to.answer(request, world.chance(this.#faults.busy), this.#faults.forgets);
          give = () => (clearTimeout(timer), resolve(answer));
        } catch (error) {
          give = () => (clearTimeout(timer), reject(error));
        }
        if (!this.#fails(fail)) world.later(NETWORK, `answer of ${name}`, () => world.later(this.#life, `answer of ${name} heard`, give));
      });
    });
  }

  /** Whether a message fails: it is lost, or the connection is cut. */
  #fails(fail: (kind: 'cut') => void): boolean {
    if (this.#world.chance(this.#faults.lost)) return true;
    if (!this.#world.chance(this.#faults.cut)) return false;
    this.#world.later(this.#life, `connection to ${this.#to.name} cut`, () => fail('cut'));
    return true;
  }
}
