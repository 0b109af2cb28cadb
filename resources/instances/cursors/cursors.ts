// Open cursors of programs (language.md Q1, E1): pages are fetched on request. A cursor is open until its result ends, the program closes
// it or its run ends, however long the program takes for a page.

import { randomUUID } from 'node:crypto';
import { type Actor, RestartRun } from '../../../runtime/context/index.ts';
import { StateKey } from '../../states.ts';

/** As long as a run may take (language.md 10): what is open longer without a request belongs to none that this process still has. */
const IDLE_MS = 2 * 60 * 60_000;
/** Of a namespace: of more one that was opened before is closed, and its run starts again where it goes on with it. */
const MOST = 2_000;
/** With more, each holds less; a run with more has most likely left them behind. */
const FEW = 100;

export interface WalkPage {
  /** Inner JSON, one text for each row. */
  readonly rows: readonly string[];
  readonly isLast: boolean;
}

interface Walk {
  readonly pages: AsyncGenerator<WalkPage>;
  readonly run: string;
  idle: NodeJS.Timeout;
}

/** The open cursors of a namespace. */
export class Cursors {
  readonly #walks = new Map<string, Walk>();
  /** The cursors of each run. */
  readonly #runs = new Map<string, Set<string>>();

  /** Whether so many are open that each should hold few rows. */
  get areMany(): boolean {
    return this.#walks.size > FEW;
  }

  /**
   * Opens a cursor. Gives the first page: `{cursor, rows, done}` as inner JSON. A result of one page leaves no cursor open.
   * @param state of the run whose program reads it
   */
  async open(pages: AsyncGenerator<WalkPage>, { state }: Pick<Actor, 'state'>): Promise<string> {
    const run = state?.run ?? '';
    const id = randomUUID();
    if (this.#walks.size >= MOST) await this.close(this.#firstOf(run));
    this.#walks.set(id, { pages, run, idle: this.#timer(id) });
    const ofRun = this.#runs.get(run) ?? new Set();
    this.#runs.set(run, ofRun.add(id));
    try {
      return (await this.next(id)).replace('{', `{"cursor":"${id}",`);
    } catch (error) {
      await this.close(id); // no client has its id yet
      throw error;
    }
  }

  /** The next page: `{rows, done}` as inner JSON. */
  async next(id: string): Promise<string> {
    const walk = this.#walks.get(id);
    // A cursor is unknown to a run that began in another process, and to one whose query failed or was one too many: the run starts again.
    if (!walk) throw new RestartRun(`cursor ${id}`);
    clearTimeout(walk.idle);
    walk.idle = this.#timer(id);
    let page: IteratorResult<WalkPage>;
    try {
      page = await walk.pages.next();
    } catch (error) {
      await this.close(id); // a failed query would report its end when it is asked again
      throw error;
    }
    if (page.done) {
      await this.close(id);
      return '{"rows":[],"done":true}';
    }
    const { rows, isLast } = page.value;
    if (isLast) await this.close(id);
    return `{"rows":[${rows.join(',')}],"done":${isLast}}`;
  }

  async close(id: string): Promise<void> {
    const walk = this.#walks.get(id);
    if (!walk) return;
    this.#walks.delete(id);
    const ofRun = this.#runs.get(walk.run);
    ofRun?.delete(id);
    if (ofRun?.size === 0) this.#runs.delete(walk.run);
    clearTimeout(walk.idle);
    await walk.pages.return(undefined);
  }

  /** The one that makes room: a run that has left many open pays for itself, before the one that was opened first. */
  #firstOf(run: string): string {
    const ofRun = this.#runs.get(run);
    const ids = ofRun && ofRun.size > FEW ? ofRun : this.#walks.keys();
    const [first = ''] = ids;
    return first;
  }

  /** Closes what a run that has ended, or starts again, has not read to its end: by an error, say, in the body of a FOR. */
  release(run: string): void {
    for (const id of this.#runs.get(run) ?? []) void this.close(id);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#walks.keys()].map((id) => this.close(id)));
  }

  #timer(id: string): NodeJS.Timeout {
    return setTimeout(() => void this.close(id), IDLE_MS).unref();
  }
}

export const CURSORS = new StateKey('cursors', () => new Cursors());
