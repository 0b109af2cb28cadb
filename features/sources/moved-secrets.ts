// Stored secrets of a source go where its config says (integrations.md 1.3), so who may not read secrets does not send them elsewhere: a change
// that keeps them leaves alone what decides where they go and how, or gives them again.
import { encodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { may } from '../../resources/access/index.ts';
import { resolve, type Namespace } from '../../resources/catalog/index.ts';
import { own } from './protocols/fields.ts';

/** Members of configs that say nothing about the way of a secret; any other, a new one too, may. */
const APART: ReadonlySet<string> = new Set([
  'ackWait',
  'automaticReconnect',
  'cleanSession',
  'connectTimeout',
  'connectionTimeout',
  'contentType',
  'decompressionSupported',
  'from',
  'keepAliveInterval',
  'maxInflight',
  'pollingInterval',
  'prefetch',
  'qos',
  'query',
  'queryForm',
  'shared',
  'topics',
  'useMessageContentType',
]);

/**
 * @param open the new config without its secrets; @param kept the paths of the stored secrets that the change keeps
 * @throws cascade.source.config.invalid naming a secret that must be given again, or what asks for the secrets of another source
 */
export function requireUnmoved(
  space: Namespace,
  { name, stored, open, kept }: { name: string; stored: ObjectValue | null; open: ObjectValue; kept: readonly string[] },
  editor: Identity,
): void {
  const config = stored && own(stored, 'config');
  const before = isObject(config) ? config : {};
  const names = new Set([...Object.keys(before), ...Object.keys(open)]);
  const moved = [...names].find((field) => !APART.has(field) && !isSame(own(before, field), own(open, field)));
  if (moved === undefined) return;
  const [secret] = kept;
  const asking = secret === undefined ? asksForToken(space, name) : undefined;
  if ((secret === undefined && asking === undefined) || may(space, resolve(space, 'secrets', false), 'select', editor)) return;
  throw secret === undefined
    ? apiError(
        'cascade.source.config.invalid',
        moved,
        `source ${String(asking)} sends its credentials here for a token: it takes the right to secrets`,
      )
    : apiError('cascade.source.config.invalid', secret, `it must be given again where ${moved} changes, by who has no right to secrets`);
}

const isSame = (one: Value, other: Value): boolean => encodeInner(one) === encodeInner(other);

/** Another source whose credentials go to this one for a token (2.6). */
const asksForToken = (space: Namespace, name: string): string | undefined =>
  space.catalog.definitions.list('sources').find(([, source]) => {
    const config = own(source, 'config');
    return isObject(config) && own(config, 'oauthSourceName') === name;
  })?.[0];
