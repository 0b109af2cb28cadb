// What the log of the service has about security: who did what, from which address, and never a secret. Lines that strangers can cause at will are
// bounded, so that a flood of them neither fills the disk nor hides the others.
import { cutText } from '../stdlib/values/index.ts';
import type { Logger } from 'pino';
import { apiError } from '../model/errors/index.ts';
import { TaskTracker } from '../platform/structures/index.ts';

/** Bound of the log lines of one kind of refusal in a window; at its end one line has the number of the others. */
const MOST_LINES = 100;
const WINDOW_MS = 60_000;
/** `auditFrequency` of a quota document, which is the same for all. */
const QUOTA_AUDIT_MS = 600_000;
/** A name that nobody has may be anything, of any length. */
const LONGEST_NAME = 128;

export interface AccountChange {
  readonly operation: string;
  readonly resource: string;
  /** The name of what was changed; of a token its name, never itself. */
  readonly target: string;
  /** Who did it, in which namespace, from where; null: a program. */
  readonly username: string;
  readonly namespace: string;
  readonly address: string | null;
  /** The names of the members that it sets, and what they are now where that is no secret. */
  readonly members?: readonly string[];
  readonly profiles?: readonly string[];
  readonly active?: boolean;
  /** Whom a command is about. */
  readonly concerning?: string;
}

export interface Refusal {
  readonly username: string;
  readonly namespace: string;
  readonly address: string | null;
  readonly operation: string;
  readonly resource: string;
  readonly code: string;
}

/** What of all that is audited, too. */
export interface SecurityEvent {
  readonly kind: 'login' | 'loginFailed' | 'refused' | 'quota';
  readonly username: string;
  /** Null: where the user is at home. */
  readonly namespace: string | null;
  readonly address: string | null;
  readonly operation?: string;
  readonly resource?: string;
  readonly code?: string;
  /** What is exceeded, and its value. */
  readonly quota?: readonly [name: string, limit: string];
}

type Kind = 'loginFailed' | 'locked' | 'refused';

export class SecurityLog {
  readonly #log: Logger;
  readonly #written = new Map<Kind, number>();
  /** When a quota of a namespace was audited last, on the monotonic clock. */
  readonly #exceeded = new Map<string, number>();
  /** Audits that nobody waits for. */
  readonly #underWay = new TaskTracker();
  /** Told of what is audited, as often as there are lines. Resolves once that is stored. @throws when it can't be */
  onEvent: (event: SecurityEvent) => Promise<void> = () => Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Resolves once its audit is stored: nobody has a session that is not audited. @throws cascade.server.unavailable when it can't be */
  async loggedIn(username: string, namespace: string, address: string | null, byPassword = false): Promise<void> {
    if (byPassword && !(await this.#audit({ kind: 'login', username, namespace, address }))) throw apiError('cascade.server.unavailable');
    this.#log.debug({ security: 'login', username, namespace, address }, 'a login');
  }

  /** Resolves when what was refused before is audited, or could not be. */
  settled(): Promise<void> {
    return this.#underWay.idle();
  }

  /**
   * The answer does not wait for its audit: how long that takes depends on where the user is at home, which is nobody's to know.
   * @param reason `password` also stands for a user that does not exist
   */
  loginFailed(username: string, address: string | null, reason: 'password' | 'inactive' | 'token' | 'namespace'): void {
    const name = cutText(username, LONGEST_NAME);
    const isWritten = this.#warn('loginFailed', { username: name, address, reason }, 'a login has failed');
    if (isWritten && (reason === 'password' || reason === 'inactive'))
      this.#auditLater({ kind: 'loginFailed', username: name, namespace: null, address });
  }

  /** So many passwords were wrong that no further one is looked at for a while. */
  locked(username: string, address: string | null): void {
    this.#warn('locked', { username: cutText(username, LONGEST_NAME), address }, 'logins are locked after too many wrong passwords');
  }

  /** An operation was refused with 403. */
  refused(refusal: Refusal): void {
    const namespace = cutText(refusal.namespace, LONGEST_NAME);
    const resource = cutText(refusal.resource, LONGEST_NAME);
    if (this.#warn('refused', { ...refusal, namespace, resource }, 'an operation was refused'))
      this.#auditLater({ kind: 'refused', ...refusal, namespace, resource });
  }

  /** Something was refused because of a quota: audited once in ten minutes for each quota of a namespace (resources-and-api.md 8.3). */
  exceeded(username: string, namespace: string, quota: readonly [name: string, limit: string]): void {
    const [key, now] = [`${namespace} ${quota[0]}`, performance.now()];
    if (now - (this.#exceeded.get(key) ?? Number.NEGATIVE_INFINITY) < QUOTA_AUDIT_MS) return;
    for (const [known, at] of this.#exceeded) if (now - at >= QUOTA_AUDIT_MS) this.#exceeded.delete(known);
    this.#exceeded.set(key, now);
    this.#auditLater({ kind: 'quota', username, namespace, address: null, quota });
  }

  /** A user, token or namespace was made, changed or ended, or somebody was let into a namespace. */
  changed(change: AccountChange): void {
    this.#log.info({ security: 'account', ...change }, 'an account was changed');
  }

  /** An invited user has entered the namespace: the invitation is in force. */
  accepted(username: string, namespace: string): void {
    this.#log.info(
      { security: 'account', operation: 'accept', resource: 'namespaces', target: namespace, username },
      'an account was changed',
    );
  }

  /** A session was ended by who had it. */
  loggedOut(username: string): void {
    this.#log.debug({ security: 'logout', username }, 'a session was ended');
  }

  /** An account has a new password that was set on the command line. @param by the user of the operating system */
  reset(username: string, by: string): void {
    this.#log.warn({ security: 'reset', username, by }, 'the password of an account was reset on the command line');
  }

  #auditLater(event: SecurityEvent): void {
    this.#underWay.track(this.#audit(event).then(() => undefined));
  }

  /** @returns whether it is stored */
  async #audit(event: SecurityEvent): Promise<boolean> {
    try {
      await this.onEvent(event);
      return true;
    } catch (err) {
      this.#log.error({ err }, 'an audit could not be stored');
      return false;
    }
  }

  /** @returns whether the line was written */
  #warn(kind: Kind, members: object, message: string): boolean {
    const written = this.#written.get(kind);
    if (written === undefined) setTimeout(() => this.#closeWindow(kind), WINDOW_MS).unref();
    this.#written.set(kind, (written ?? 0) + 1);
    if ((written ?? 0) >= MOST_LINES) return false;
    this.#log.warn({ security: kind, ...members }, message);
    return true;
  }

  #closeWindow(kind: Kind): void {
    const omitted = (this.#written.get(kind) ?? 0) - MOST_LINES;
    this.#written.delete(kind);
    if (omitted > 0) this.#log.warn({ security: kind, omitted }, 'further lines of this kind were left out for a minute');
  }
}
