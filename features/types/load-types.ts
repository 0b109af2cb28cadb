// Loads the types of a namespace from its definitions.
import type { Cipher } from '../../model/types/index.ts';
import { type Catalog, TypesInForce } from '../../resources/catalog/index.ts';
import { loadType } from './types-kind.ts';

/**
 * Loads types in rounds, since they may refer to each other, until no further one resolves.
 * @param onUnread called for each type that does not resolve
 */
export function loadTypes(
  { features, scalars, definitions }: Omit<Catalog, 'types'>,
  cipher: Cipher | null,
  onUnread: (name: string, error: unknown) => void,
): TypesInForce {
  const types = new TypesInForce();
  const scope = { catalog: { features, types, scalars, definitions }, storage: { cipher } };
  const errors = new Map<string, unknown>();
  let waiting = definitions.list('types');
  for (let before = -1; waiting.length !== before; ) {
    before = waiting.length;
    waiting = waiting.filter(([name, object]) => {
      try {
        types.set(name, loadType(object, scope));
        return false;
      } catch (error) {
        errors.set(name, error);
        return true;
      }
    });
  }
  for (const [name] of waiting) onUnread(name, errors.get(name));
  return types;
}
