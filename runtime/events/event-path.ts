// Event paths as subscribers write them (resources-and-api.md 8.4), read into the one spelling in which events are raised. Pure.

import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { cutText } from '../../stdlib/values/index.ts';

export interface EventPath {
  /** The path in the spelling in which events are raised. */
  readonly path: string;
  readonly resource: 'topics' | 'types' | 'services' | 'sources' | 'inbox' | 'users' | 'namespaces' | 'audits';
  /** Name of the topic (with its slash), type, service, device, user, namespace or audited resource. */
  readonly name: string;
  /** Of services only. */
  readonly eventType?: string;
}

const TOPIC = /^\/topics\/\/?(.+?)(?:\/publish)?$/;
const TYPE = /^\/types\/([^/]+)\/(insert|update|delete)$/;
const LOGS = /^\/logs(?:\/insert)?$/;
/** The path of log messages: subscribers may listen there, rules cannot. */
export const LOGS_PATH = '/types/system.logs/insert';
const SERVICE = /^\/services\/\/?([^/]+)\/([^/]+)$/;
const SOURCE = /^\/sources\/\/?([^/]+)(?:\/(?:receive|publish))?$/;
const INBOX = /^\/inbox\/([^/]+)$/;
/** Paths of the installation's resources (8.1), in one spelling only. */
const OTHERS = [
  ['users', /^\/users\/([A-Za-z0-9_.@-]+)\/(?:authenticationSuccess|authorizationFailure)$/],
  ['namespaces', /^\/namespaces\/([A-Za-z0-9][A-Za-z0-9_]*)\/(?:authorized|revoked)$/],
  ['audits', /^\/audits\/([A-Za-z_][A-Za-z0-9_]*)\/publish$/],
] as const;

/** Longer than the names of all that has events: a path is kept for as long as somebody listens on it, whether there is such a user or not. */
const LONGEST = 1_000;

/** @throws cascade.event.path.invalid, cascade.topic.name.invalid, .reserved */
export function parseEventPath(path: string): EventPath {
  const [, topic] = TOPIC.exec(path) ?? [];
  if (topic !== undefined) {
    const name = `/${topic}`;
    checkName('topic', name);
    return { path: `/topics${name}/publish`, resource: 'topics', name };
  }
  if (path.length > LONGEST) throw apiError('cascade.event.path.invalid', `${cutText(path, 100)}…`);
  const [, type, operation] = TYPE.exec(path) ?? [];
  if (type !== undefined) return { path: `/types/${type}/${operation}`, resource: 'types', name: type };
  if (LOGS.test(path)) return { path: LOGS_PATH, resource: 'types', name: 'system.logs' };
  const [, service, eventType] = SERVICE.exec(path) ?? [];
  if (service !== undefined) return { path: `/services/${service}/${eventType}`, resource: 'services', name: service, eventType };
  const [, source] = SOURCE.exec(path) ?? [];
  if (source !== undefined) return { path: `/sources/${source}/publish`, resource: 'sources', name: source };
  const [, device] = INBOX.exec(path) ?? [];
  if (device !== undefined) return { path, resource: 'inbox', name: device };
  for (const [resource, form] of OTHERS) {
    const [, name] = form.exec(path) ?? [];
    if (name === undefined) continue;
    if (resource !== 'users') return { path, resource, name };
    const user = name.toLowerCase(); // names of users are the same in any case (1.2)
    return { path: path.replace(name, user), resource, name: user };
  }
  throw apiError('cascade.event.path.invalid', path);
}
