// The store of a simulated fleet, for the outbox and the histories of runs. A unit is stored as a whole or not at all; its sender may die
// before that, or before it learns of it.
import type { Document, ObjectId } from 'mongodb';
import { type Answer, DuplicateKey, type UnitOfWork, VersionConflict } from '../../../runtime/transactions/index.ts';
import type { World } from '../simulation/index.ts';

type Life = Parameters<World['turn']>[0];
type Row = Document & { readonly _id: ObjectId };

export class FleetStore {
  readonly #world: World;
  readonly #collections = new Map<string, Map<string, Row>>();
  readonly #last = new Map<Life, Promise<void>>();
  /** The answers to the steps of each run, in order. */
  readonly steps = new Map<string, Answer[]>();
  /** The place of each request when it first entered the outbox. */
  readonly places = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  rows(collection: string): Row[] {
    return [...this.#of(collection).values()];
  }

  /** Stores units of a process in order. @param record the step that is recorded with the unit @throws DuplicateKey, VersionConflict */
  submit(life: Life, unit: UnitOfWork, record?: { run: string; answer: Answer }): Promise<void> {
    const before = this.#last.get(life) ?? Promise.resolve();
    const stored = before.then(() => this.#stored(life, unit, record));
    this.#last.set(
      life,
      stored.catch(() => undefined),
    );
    return stored;
  }

  async #stored(life: Life, { writes }: UnitOfWork, record?: { run: string; answer: Answer }): Promise<void> {
    await this.#world.turn(life, 'unit reaches the store');
    for (const write of writes) {
      const rows = this.#of(write.collection);
      if (write.op === 'insert' && rows.has(String(write.document['_id']))) throw new DuplicateKey(write.collection, '_id_');
      if (write.op === 'delete' && !rows.has(String(write.id))) throw new VersionConflict(write.collection, write.id);
    }
    for (const write of writes)
      if (write.op === 'insert') this.#insert(write.collection, write.document);
      else if (write.op === 'delete') this.#of(write.collection).delete(String(write.id));
    if (record) this.steps.set(record.run, [...(this.steps.get(record.run) ?? []), record.answer]);
    await this.#world.turn(life, 'unit is stored');
  }

  /** A collection as one process sees it, with the methods that the outbox uses. */
  collection(life: Life, name: string) {
    const read = async <T>(what: (rows: Row[]) => T): Promise<T> => {
      await this.#world.turn(life, `reads ${name}`);
      return what(this.rows(name));
    };
    const ordered = (rows: Row[]): Row[] => rows.sort((a, b) => (String(a['order']) < String(b['order']) ? -1 : 1));
    return {
      findOne: (filter: { _id?: ObjectId; node?: string; order?: { $lt: ObjectId }; 'event.uuid'?: string }) =>
        read((rows) => {
          const { _id, node, order, 'event.uuid': uuid } = filter;
          const fits = (row: Row): boolean =>
            (_id === undefined || row._id.equals(_id)) &&
            (uuid === undefined || (row['event'] as { uuid: string }).uuid === uuid) &&
            (node === undefined || row['node'] === node) &&
            (order === undefined || String(row['order']) < String(order.$lt));
          return rows.find(fits) ?? null;
        }),
      find: ({ node }: { node?: string }) => {
        const found = (most: number): Promise<Row[]> =>
          read((rows) => ordered(rows.filter((row) => node === undefined || row['node'] === node)).slice(0, most));
        const cursor = {
          sort: () => cursor,
          toArray: () => found(Number.POSITIVE_INFINITY),
          limit: (most: number) => ({ toArray: () => found(most) }),
        };
        return cursor;
      },
    };
  }

  #insert(collection: string, document: Row): void {
    const id = String(document._id);
    this.#of(collection).set(id, document);
    if (collection === 'outbox' && !this.places.has(id)) this.places.set(id, String(document['order']));
  }

  #of(collection: string): Map<string, Row> {
    const known = this.#collections.get(collection) ?? new Map<string, Row>();
    this.#collections.set(collection, known);
    return known;
  }
}
