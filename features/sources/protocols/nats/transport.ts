// The socket of a NATS connection: opened by the controlled egress, and read no faster than messages are stored.
import type { Socket } from 'node:net';
import type { ConnectionOptions, Server, Transport } from '@nats-io/nats-core/internal';
import type { StrictOptions } from './strict-reader.ts';

/** Options that the library passes to the transport of a connection. */
export interface DialOptions extends StrictOptions {
  /** Opens the socket, with TLS where required; the greeting is what the server has sent so far. */
  readonly dial: () => Promise<{ readonly socket: Socket; readonly greeting: Buffer; readonly isSecure: boolean }>;
  /** Resolves when more may be read. */
  readonly room: () => Promise<void>;
}

export class EgressTransport implements Transport {
  readonly lang = 'cascade';
  readonly version = '1';
  closeError?: Error;
  #socket: Socket | null = null;
  #greeting: Buffer = Buffer.alloc(0);
  #isSecure = false;
  #isClosed = false;
  #room: () => Promise<void> = async () => undefined;
  readonly #ended = Promise.withResolvers<void | Error>();

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async connect(_server: Server, options: ConnectionOptions): Promise<void> {
    const { dial, room } = options as DialOptions;
    const { socket, greeting, isSecure } = await dial();
    if (this.#isClosed) return void socket.destroy();
    [this.#socket, this.#greeting, this.#isSecure, this.#room] = [socket, greeting, isSecure, room];
    socket.on('error', (error) => (this.closeError = error));
    socket.once('close', () => this.#end(this.closeError));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield this.#greeting;
    try {
      for await (const bytes of this.#socket ?? []) {
        yield bytes as Buffer;
        await this.#room();
      }
    } catch {
      // The end of the socket reports the error, too.
    }
  }

  isEncrypted(): boolean {
    return this.#isSecure;
  }

  send(frame: Uint8Array): void {
    if (!this.#isClosed) this.#socket?.write(frame);
  }

  async close(error?: Error): Promise<void> {
    const socket = this.#socket;
    if (socket && !this.#isClosed && !error) await new Promise<void>((resolve) => socket.end(() => resolve()));
    this.#end(error);
  }

  disconnect(): void {
    this.#end(undefined);
  }

  closed(): Promise<void | Error> {
    return this.#ended.promise;
  }

  discard(): void {
    // The library requires this method; nothing is kept for another connection.
  }

  #end(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (error) this.closeError = error;
    this.#socket?.destroy();
    this.#ended.resolve(error);
  }
}
