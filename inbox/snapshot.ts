// What the views see of the page's state.
import type { LiveState } from './service/live.ts';
import type { Kept, Session } from './store/kept.ts';
import type { Text } from './texts/index.ts';

export interface Notice {
  readonly text: Text;
  readonly params: readonly string[];
  /** That it tells of; absent: of none. */
  readonly messageId?: string;
}

export interface Snapshot {
  readonly session: Session | null;
  /** The session's token is no longer taken: the person has to log in again, and keeps everything. */
  readonly isExpired: boolean;
  readonly kept: Kept;
  readonly live: LiveState;
  /** Whether the list is as the service has it, or as it was kept. */
  readonly isFresh: boolean;
  readonly notice: Notice | null;
}
