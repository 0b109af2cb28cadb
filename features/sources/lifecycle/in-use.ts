// Closes a connection only when nothing is in flight on it: changing a source, or its owner, fails no publish that has begun.
import { TaskTracker } from '../../../platform/structures/index.ts';
import type { Connection } from '../protocols/index.ts';

/** Wraps a connection so that close() waits for its requests in flight. */
export function closedWhenIdle(connection: Connection): Connection {
  const underWay = new TaskTracker();
  const counted = <T>(work: Promise<T>): Promise<T> => {
    underWay.track(
      work.then(
        () => undefined,
        () => undefined,
      ),
    );
    return work;
  };
  return {
    ...(connection.publish && { publish: (request, caller) => counted(connection.publish!(request, caller)) }),
    ...(connection.query && { query: (request, caller, room) => counted(connection.query!(request, caller, room)) }),
    ...(connection.accept && { accept: (request) => counted(connection.accept!(request)) }),
    ...(connection.hand && { hand: (platform, token, note) => counted(connection.hand!(platform, token, note)) }),
    ...(connection.view && { view: (name) => counted(connection.view!(name)) }),
    async close() {
      await underWay.idle();
      await connection.close();
    },
  };
}
