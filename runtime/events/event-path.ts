// Event paths as subscribers write them (resources-and-api.md 8.4), read into the one spelling in which events are raised. Pure.

import { fault } from '../../model/errors/faults.ts';
import { checkName } from '../../model/types/index.ts';

export interface EventPath {
  /** As events are raised on it. */
  readonly path: string;
  readonly resource: 'topics' | 'types' | 'services' | 'sources' | 'inbox';
  /** Of the topic, with its slash in front; of the type; of the service; of the device. */
  readonly name: string;
  /** Of a service. */
  readonly eventType?: string;
}

const TOPIC = /^\/topics\/\/?(.+?)(?:\/publish)?$/;
const TYPE = /^\/types\/([^/]+)\/(insert|update|delete)$/;
const SERVICE = /^\/services\/\/?([^/]+)\/([^/]+)$/;
const SOURCE = /^\/sources\/\/?([^/]+)(?:\/(?:receive|publish))?$/;
const INBOX = /^\/inbox\/([^/]+)$/;
/** What events of a later version come from: not there, which is no fault of the path. */
const ABSENT = /^\/(?:(?:audits|namespaces|users)\/.+)$/;

/** @throws cascade.event.path.invalid, cascade.topic.name.invalid, .reserved, cascade.resource.not.found */
export function parseEventPath(path: string): EventPath {
  const [, topic] = TOPIC.exec(path) ?? [];
  if (topic !== undefined) {
    const name = `/${topic}`;
    checkName('topic', name);
    return { path: `/topics${name}/publish`, resource: 'topics', name };
  }
  const [, type, operation] = TYPE.exec(path) ?? [];
  if (type !== undefined) return { path: `/types/${type}/${operation}`, resource: 'types', name: type };
  const [, service, eventType] = SERVICE.exec(path) ?? [];
  if (service !== undefined) return { path: `/services/${service}/${eventType}`, resource: 'services', name: service, eventType };
  const [, source] = SOURCE.exec(path) ?? [];
  if (source !== undefined) return { path: `/sources/${source}/publish`, resource: 'sources', name: source };
  const [, device] = INBOX.exec(path) ?? [];
  if (device !== undefined) return { path, resource: 'inbox', name: device };
  throw ABSENT.test(path) ? fault('cascade.resource.not.found', path) : fault('cascade.event.path.invalid', path);
}
