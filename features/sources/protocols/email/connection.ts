// The connection of an EMAIL source (integrations.md 5): one SMTP connection per mail, with retries where the server asks for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { EgressError } from '../../../../platform/egress/index.ts';
import { own } from '../fields.ts';
import type { Caller, Connection, SourceContext } from '../protocol.ts';
import { boundReplies } from './bounded-replies.ts';
import { type Mail, mailOf } from './mail.ts';

const CONNECT_MS = 20_000;
/** How long the server may say nothing. */
const SILENCE_MS = 30_000;
/** No attempt begins later, and none waits longer: the client of a request is answered after 120 seconds, whatever happens here. */
const GIVE_UP_MS = 110_000;
const SHORTEST_MS = 1_000;
/** Delays before the second, third and fourth attempt. */
const TRY_AGAIN_AFTER_MS = [1_000, 5_000, 25_000];

export const openEmail = async (
  context: SourceContext,
  { delaysMs = TRY_AGAIN_AFTER_MS, silenceMs = SILENCE_MS } = {},
): Promise<Connection> => {
  boundReplies();
  return new Email(context, delaysMs, silenceMs);
};

/** The outcome of a failed attempt. `again`: a later attempt may succeed. */
interface Failure {
  readonly code: 'cascade.email.send.failed' | 'cascade.email.recipients.rejected';
  readonly detail: string;
  readonly again: boolean;
}

class Email implements Connection {
  readonly #context: SourceContext;
  readonly #delaysMs: readonly number[];
  readonly #silenceMs: number;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(context: SourceContext, delaysMs: readonly number[], silenceMs: number) {
    this.#context = context;
    this.#delaysMs = delaysMs;
    this.#silenceMs = silenceMs;
  }

  async publish(request: ObjectValue, caller: Caller): Promise<void> {
    const mail = await mailOf(request, (name) => caller.readDocument(name));
    const sending = this.#send(mail);
    this.#underWay.add(sending);
    try {
      await sending;
    } finally {
      this.#underWay.delete(sending);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #send(mail: Mail): Promise<void> {
    const until = performance.now() + GIVE_UP_MS;
    for (let tries = 0; ; tries++) {
      const failure = await this.#try(mail, until - performance.now());
      if (!failure) return;
      const delay = this.#delaysMs[tries];
      const isOver = delay === undefined || performance.now() + delay + SHORTEST_MS > until;
      if (!failure.again || isOver || this.#context.signal.aborted) throw apiError(failure.code, this.#context.source, failure.detail);
      // the source is closed: the next attempt is the last
      await sleep(delay, undefined, { signal: this.#context.signal }).catch(() => undefined);
    }
  }

  /** Sends the mail once; null when the server accepted it. @throws EgressError `refused` */
  async #try(mail: Mail, leftMs: number): Promise<Failure | null> {
    const { config, outlet, source } = this.#context;
    const [host, port] = [String(own(config, 'host')), Number(own(config, 'port'))];
    let connection: Awaited<ReturnType<typeof outlet.connect>>;
    try {
      connection = await outlet.connect({ host, port, timeoutMs: Math.min(CONNECT_MS, leftMs) });
    } catch (error) {
      if (!(error instanceof EgressError) || error.failure === 'refused') throw error;
      return { code: 'cascade.email.send.failed', detail: error.message, again: true };
    }
    const silenceMs = Math.min(this.#silenceMs, leftMs);
    const transport = createTransport({
      ...this.#security(port),
      host,
      port,
      tls: this.#context.tls,
      getSocket: (_options: unknown, done: (error: Error | null, options: object) => void) => done(null, { connection }),
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as SMTPTransport.Options);
    try {
      const sent = await transport.sendMail({
        ...mail,
        to: [...mail.to],
        cc: [...mail.cc],
        bcc: [...mail.bcc],
        replyTo: [...mail.replyTo],
        headers: [...mail.headers],
        attachments: [...mail.attachments],
      });
      for (const refused of sent.rejected)
        this.#context.log('WARN', `Source ${source}: the server refused ${typeof refused === 'string' ? refused : refused.address}.`);
      return null;
    } catch (error) {
      return failureOf(error);
    } finally {
      transport.close();
      connection.destroy();
    }
  }

  #security(port: number): SMTPTransport.Options {
    const { config } = this.#context;
    const mode = own(config, 'tls') ?? (port === 465 ? 'implicit' : port === 587 ? 'starttls' : 'opportunistic');
    const username = own(config, 'username');
    const auth = username === null ? {} : { auth: { user: String(username), pass: String(own(config, 'password') ?? '') } };
    // Credentials need TLS, unless the config disables it.
    const requireTLS = mode === 'starttls' || (mode === 'opportunistic' && username !== null);
    return { ...auth, secure: mode === 'implicit', requireTLS, ignoreTLS: mode === 'none' };
  }
}

/** The code of nodemailer's error, and the server's answer. */
function failureOf(error: unknown): Failure {
  const { code, responseCode, response, message } = error as { code?: string; responseCode?: number; response?: string; message?: string };
  const detail = response ?? message ?? 'no answer';
  const isTemporary = responseCode !== undefined && responseCode >= 400 && responseCode < 500;
  if (code === 'EENVELOPE' && responseCode !== undefined && /recipients/i.test(message ?? ''))
    return { code: 'cascade.email.recipients.rejected', detail, again: isTemporary };
  // A server that falls silent (ETIMEDOUT) may have taken the mail; the one that could not be connected to is told by the outlet.
  const isConnection = ['ESOCKET', 'ECONNECTION', 'EDNS'].includes(code ?? '') && responseCode === undefined;
  return {
    code: 'cascade.email.send.failed',
    detail,
    again: isTemporary || (isConnection && !/certificate|altname|ssl|tls/i.test(message ?? '')),
  };
}
