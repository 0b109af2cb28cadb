// Where a broker is: host, port and path of each address of a config, in their order.
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Of a WebSocket: path and query; null for plain TCP. */
  readonly path: string | null;
}

const SECURE: ReadonlySet<string> = new Set(['tcps:', 'ssl:', 'mqtts:', 'wss:']);
const PORT = 1_883;
const SECURE_PORT = 8_883;

export const addressesOf = (config: ObjectValue): BrokerAddress[] =>
  [own(config, 'serverURIs'), own(config, 'serverURI')]
    .flat()
    .filter((one) => typeof one === 'string')
    .map((text) => {
      const { protocol, hostname, port, pathname, search } = new URL(text);
      const isSecure = SECURE.has(protocol);
      const isSocket = protocol === 'ws:' || protocol === 'wss:';
      return {
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? usualPort(text, isSecure) : Number(port),
        isSecure,
        path: isSocket ? `${pathname === '' ? '/' : pathname}${search}` : null,
      };
    });

/** URL drops the port where it is the usual one of ws (80) or wss (443): then it was written, or MQTT's own counts. */
const usualPort = (text: string, isSecure: boolean): number => {
  const written = /^[a-z]+:\/\/(?:\[[^\]]*\]|[^/:?#]*):(\d+)/i.exec(text)?.[1];
  return written === undefined ? (isSecure ? SECURE_PORT : PORT) : Number(written);
};
