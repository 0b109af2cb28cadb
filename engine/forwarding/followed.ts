// What a process keeps of the subscriptions of its clients, and of those that other processes' clients have here (subscriptions.ts).

import type { Identity, Notice, SubscribeOptions, Subscription } from '../../resources/api.ts';
import type { Calls, Owners } from '../../runtime/cluster/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import type { Routes } from './routes.ts';

type Subscribe = (
  space: OpenNamespace,
  identity: Identity,
  path: string,
  options: SubscribeOptions,
  deliver: (notice: Notice) => void,
) => Promise<Subscription>;

export interface FollowedOptions {
  readonly epoch: number;
  readonly routes: Routes;
  readonly owners: Pick<Owners, 'addListener'>;
  readonly calls: () => Calls;
  /** Those of other processes that are not known to be dead. */
  readonly living: (epochs: readonly number[]) => Promise<readonly number[]>;
  readonly subscribe: Subscribe;
  /** For calls that need the namespace before it serves. */
  readonly running: (namespace: string) => Promise<OpenNamespace | undefined>;
  /** Resolves when a namespace of this process serves. */
  readonly served: (namespace: string) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
  /** Called when so much waits for another process that an event for a client of it is left out. */
  readonly onLapsed: (listener: number) => void;
}

/** A subscription of a client of this process. */
export interface Followed {
  readonly id: number;
  readonly identity: Identity;
  readonly path: string;
  readonly options: SubscribeOptions;
  readonly deliver: (notice: Notice) => void;
  hasRoom: (() => Promise<void>) | undefined;
  hasBegun: boolean;
  /** Whether its owner, another process, has something to tell from its beginning on. */
  begins: boolean;
  isOpen: boolean;
  /** Whether its client has no answer yet: a refusal is that answer, and no notice. */
  isNew: boolean;
  refusal: Error | null;
  /** The name of a persistent one. */
  name: string | undefined;
  /** Grows with each attachment: messages of an earlier one do not count any more. */
  turn: number;
  /** The owner that it is attached to; null: it is being attached. */
  owner: number | null;
  local: Subscription | null;
  attaching: Promise<void> | null;
  /** An attachment that a new owner has asked for; others wait for it. */
  attachingTo: Promise<void> | null;
}

export const newlyFollowed = (of: Pick<Followed, 'id' | 'identity' | 'path' | 'options' | 'deliver'>): Followed => ({
  ...of,
  hasRoom: undefined,
  hasBegun: false,
  begins: false,
  isOpen: true,
  isNew: true,
  refusal: null,
  name: undefined,
  turn: 0,
  owner: null,
  local: null,
  attaching: null,
  attachingTo: null,
});

/** A subscription that a client of another process has here. */
export interface Served {
  readonly namespace: string;
  readonly turn: number;
  /** Null while it begins. */
  subscription: Subscription | null;
}
