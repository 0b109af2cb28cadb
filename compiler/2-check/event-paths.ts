// Event paths of triggers (resources-and-api.md 8.1, language.md 6.1): what is written to the one spelling that events carry.

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const QUALIFIED = `${NAME}(?:\\.${NAME})*`;
const TYPE_PATH = new RegExp(`^/types/(${QUALIFIED})/(insert|update|delete|request)$`);
const SOURCE_PATH = new RegExp(`^/sources/(${QUALIFIED})(?:/|/publish|/receive)?$`);
/** A topic's name (integrations.md 9.1); its last segment is never `publish`, so that an event path is told from a topic. */
const TOPIC = /^(?:\/[A-Za-z0-9_.-]+)+$/;
const RESERVED_TOPIC = /^\/(?:type|property|system|types|source|sources)(?:\/|$)/;
const PUBLISH = '/publish';
/** Names of users are the same in any case. */
const USER_PATH = /^\/users\/([A-Za-z0-9_.@-]+)\/(authenticationSuccess|authorizationFailure)$/;
/** Path forms that are kept as they are. */
const OTHER_PATHS = [
  new RegExp(`^/services/(${QUALIFIED})/(${NAME})$`),
  new RegExp(`^/audits/(${QUALIFIED})/publish$`),
  /^\/namespaces\/[A-Za-z0-9][A-Za-z0-9_]*\/(authorized|revoked)$/,
];

/** Names as a package sees them; the identity without a package. */
export interface PathNames {
  type(name: string): string;
  source(name: string): string;
  topic(text: string): string;
  service(name: string): string;
}

/** @returns the path as events carry it, or null when it is none */
export function normalizeEventPath(path: string, names: PathNames): string | null {
  const type = TYPE_PATH.exec(path);
  if (type) return `/types/${names.type(type[1] ?? '')}/${type[2]}`;
  const source = SOURCE_PATH.exec(path);
  if (source) return `/sources/${names.source(source[1] ?? '')}/publish`;
  if (path.startsWith('/topics/')) {
    const rest = path.slice(path.startsWith('/topics//') ? '/topics/'.length : '/topics'.length);
    return topicEventPath(rest.endsWith(PUBLISH) ? rest.slice(0, -PUBLISH.length) : rest, names);
  }
  const service = OTHER_PATHS[0]?.exec(path);
  if (service) return `/services/${names.service(service[1] ?? '')}/${service[2]}`;
  const user = USER_PATH.exec(path);
  if (user) return `/users/${user[1]!.toLowerCase()}/${user[2]}`;
  return OTHER_PATHS.some((form) => form.test(path)) ? path : null;
}

/** The event path of the topic `/a/b`, or null when that is no topic's name. */
export function topicEventPath(topic: string, names: PathNames): string | null {
  const valid = TOPIC.test(topic) && topic.length <= 256 && !topic.endsWith(PUBLISH) && !RESERVED_TOPIC.test(topic);
  return valid ? `/topics${names.topic(topic)}${PUBLISH}` : null;
}
