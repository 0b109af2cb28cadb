// The types of a namespace, read from its definitions.
import type { Cipher } from '../../model/types/index.ts';
import { type Catalog, TypesInForce } from '../../resources/catalog/index.ts';
import { loadType } from './types-kind.ts';

/**
 * Types may name each other: they are read in rounds until no more of them resolve.
 * @param onUnread told of each that does not
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
