// Walks that programs have open (language.md Q1, E1): pages are fetched as they are asked for; one that nobody asks for any more
// is closed after ten minutes.

import { randomUUID } from 'node:crypto';
import { RestartRun } from '../../runtime/context/index.ts';
import type { WalkPage } from './select.ts';

const IDLE_MS = 10 * 60_000;
const MOST = 10_000;

interface Walk {
  readonly pages: AsyncGenerator<WalkPage>;
  idle: NodeJS.Timeout;
}

class Cursors {
  readonly #walks = new Map<string, Walk>();

  /** The first page: `{cursor, rows, done}` as inner JSON. What fits one page leaves no cursor open. */
  async open(pages: AsyncGenerator<WalkPage>): Promise<string> {
    const id = randomUUID();
    if (this.#walks.size >= MOST) await this.close(this.#walks.keys().next().value ?? '');
    this.#walks.set(id, { pages, idle: this.#timer(id) });
    try {
      return (await this.next(id)).replace('{', `{"cursor":"${id}",`);
    } catch (error) {
      await this.close(id); // no client knows it
      throw error;
    }
  }

  /** `{rows, done}` as inner JSON. */
  async next(id: string): Promise<string> {
    const walk = this.#walks.get(id);
    // Only a run that began in another process, or slept for long, asks for a walk that is gone: it begins again.
    if (!walk) throw new RestartRun(`cursor ${id}`);
    clearTimeout(walk.idle);
    walk.idle = this.#timer(id);
    let page: IteratorResult<WalkPage>;
    try {
      page = await walk.pages.next();
    } catch (error) {
      await this.close(id); // asked again, a walk that broke off would say that it has come to its end
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

/** All of the process, since an id says nothing of its namespace. */
export const cursors = new Cursors();
