// Opens connections of the NATS library that end at what is no NATS, and that tell at once what the server refuses. The library by itself prints
// the error of its reader on the console, and the connection stays open, deaf; of a refused publish it tells its caller nothing.
import { type ConnectionOptions, type NatsConnection, NatsConnectionImpl, ProtocolHandler } from '@nats-io/nats-core/internal';

export interface StrictOptions extends ConnectionOptions {
  /** Told at once, and before the answer to whatever is asked later, that the server has refused what was published on the subject. */
  readonly publishRefused?: (subject: string) => void;
}

export async function connect(options: StrictOptions): Promise<NatsConnection> {
  // As the library's own `connect` does, whose types keep the constructor to itself.
  const connection = Reflect.construct(NatsConnectionImpl, [options]) as NatsConnectionImpl;
  const protocol = new StrictProtocol(connection.options, connection);
  await protocol.dialLoop();
  connection.protocol = protocol;
  return connection;
}

const REFUSED_PUBLISH = /permissions violation for publish to "([^"\s]+)"/i;

class StrictProtocol extends ProtocolHandler {
  override processError(message: Uint8Array): void {
    super.processError(message);
    const subject = REFUSED_PUBLISH.exec(Buffer.from(message).toString('utf8'))?.[1];
    if (subject !== undefined) (this.options as StrictOptions).publishRefused?.(subject);
  }

  /** Makes the parser of a connection that begins. */
  override resetOutbound(): void {
    super.resetOutbound();
    const { parser } = this;
    const parse = parser.parse.bind(parser);
    parser.parse = (bytes) => {
      try {
        parse(bytes);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        void this.transport.close?.(new Error(`the server sent what is no NATS: ${reason}`));
      }
    };
  }
}
