// The addresses of brokers in a config: host, port and path of each, in order.
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Path and query of a WebSocket; null for plain TCP. */
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

/**
 * The port of an address in which URL hides it: URL drops the default port of ws (80) and wss (443), so it was written, or MQTT's own
 * applies.
 */
const usualPort = (text: string, isSecure: boolean): number => {
  const written = /^[a-z]+:\/\/(?:\[[^\]]*\]|[^/:?#]*):(\d+)/i.exec(text)?.[1];
  return written === undefined ? (isSecure ? SECURE_PORT : PORT) : Number(written);
};
