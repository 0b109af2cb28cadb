// The WebSocket client of a node (integrations.md 11.3): one persistent socket, opened by the first request, logs in once and carries
// concurrent requests.
import { apiError } from '../../model/errors/index.ts';
import { EgressError } from '../../platform/egress/index.ts';
import { HttpFailure } from '../sources/index.ts';
import { type Carriage, type NodeAnswer, NodeClient, type NodeRequest, wanted } from './node-client.ts';
import { type LinkTarget, LoginEnded, NodeLink } from './node-link.ts';

const CONNECT_MS = 60_000;

type Terms = Omit<LinkTarget, 'node' | 'refusal' | 'noProtocol'>;

export class SocketNodeClient extends NodeClient {
  readonly #target: Terms;
  #link: Promise<NodeLink> | null = null;
  readonly #closing = new AbortController();

  readonly #connectMs: number;

  /** @param connectMs until when the socket must stand and be logged in */
  constructor(node: string, target: Terms, connectMs = CONNECT_MS) {
    super(node);
    this.#connectMs = connectMs;
    this.#target = target;
  }

  async close(): Promise<void> {
    this.#closing.abort(); // what is being opened fails: a node that does not answer would hold up who closes
    const link = await this.#link?.catch(() => null);
    link?.close();
  }

  protected async carry(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    try {
      return await this.#asked(request, carriage);
    } catch (error) {
      if (!(error instanceof LoginEnded)) throw error;
    }
    try {
      return await this.#asked(request, carriage); // one new login, one retry
    } catch (error) {
      throw error instanceof LoginEnded ? error.refusal : error;
    }
  }

  async #asked(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    const began = performance.now();
    try {
      const link = await wanted(this.#linked(), carriage);
      const answer = await link.ask(request, carriage);
      this.state = 'reachable';
      this.latencyMs = Math.round(performance.now() - began);
      return answer;
    } catch (error) {
      if (error instanceof HttpFailure || error instanceof EgressError) {
        if (!carriage.signal.aborted) this.state = 'unreachable';
      } else this.state = 'reachable';
      throw error;
    }
  }

  /** The open link, or a new one; concurrent callers share the one that is being opened. */
  async #linked(): Promise<NodeLink> {
    for (;;) {
      if (this.#closing.signal.aborted) throw apiError('cascade.federation.unreachable', this.node, 'the node was changed or deleted');
      const opening = (this.#link ??= this.#open());
      try {
        const link = await opening;
        if (!link.isGone) return link;
      } catch (error) {
        if (this.#link === opening) this.#link = null;
        throw error;
      }
      if (this.#link === opening) this.#link = null;
    }
  }

  async #open(): Promise<NodeLink> {
    const link = await NodeLink.open(
      {
        ...this.#target,
        node: this.node,
        refusal: (status, body) => this.refusal(status, body),
        noProtocol: (detail) => this.noProtocol(detail),
      },
      this.#connectMs,
      this.#closing.signal,
    );
    if (this.#closing.signal.aborted) link.close();
    return link;
  }
}
