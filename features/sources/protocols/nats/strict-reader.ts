// Opens connections of the NATS library that end at what is no NATS. The library by itself prints the error of its reader on the console, and
// the connection stays open, deaf.
import { type ConnectionOptions, type NatsConnection, NatsConnectionImpl, ProtocolHandler } from '@nats-io/nats-core/internal';

export async function connect(options: ConnectionOptions): Promise<NatsConnection> {
  // As the library's own `connect` does, whose types keep the constructor to itself.
  const connection = Reflect.construct(NatsConnectionImpl, [options]) as NatsConnectionImpl;
  const protocol = new StrictProtocol(connection.options, connection);
  await protocol.dialLoop();
  connection.protocol = protocol;
  return connection;
}

class StrictProtocol extends ProtocolHandler {
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
