// Open cursors of programs (language.md Q1, E1): pages are fetched on request; a cursor without requests is closed after ten minutes.

import { randomUUID } from 'node:crypto';
import { RestartRun } from '../../runtime/context/index.ts';
import { StateKey } from '../states.ts';
import type { WalkPage } from './select.ts';

const IDLE_MS = 10 * 60_000;
/** Of a namespace: of more the one that was opened first is closed, and its run starts again. */
const MOST = 2_000;
/** With more, each holds less. */
const FEW = 100;

interface Walk {
  readonly pages: AsyncGenerator<WalkPage>;
  idle: NodeJS.Timeout;
}

/** The open cursors of a namespace. */
export class Cursors {
  readonly #walks = new Map<string, Walk>();

  /** Whether so many are open that each should hold few rows. */
  get areMany(): boolean {
    return this.#walks.size > FEW;
  }

  /** Opens a cursor. Gives the first page: `{cursor, rows, done}` as inner JSON. A result of one page leaves no cursor open. */
  async open(pages: AsyncGenerator<WalkPage>): Promise<string> {
    const id = randomUUID();
    if (this.#walks.size >= MOST) await this.close(this.#walks.keys().next().value ?? '');
    this.#walks.set(id, { pages, idle: this.#timer(id) });
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
    // A cursor is unknown only to a run that began in another process or slept for long: the run starts again.
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
    clearTimeout(walk.idle);
    await walk.pages.return(undefined);
  }

  #timer(id: string): NodeJS.Timeout {
    return setTimeout(() => void this.close(id), IDLE_MS).unref();
  }
}

export const CURSORS = new StateKey('cursors', () => new Cursors());
