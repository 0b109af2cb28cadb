// Loads the types of a namespace from its definitions.
import type { Cipher } from '../../model/types/index.ts';
import { type Catalog, TypesInForce } from '../../resources/catalog/index.ts';
import { loadType } from './types-kind.ts';

/** @param onUnread called for each type that cannot be read; others may refer to it as to a deleted one */
export function loadTypes(
  { features, scalars, definitions }: Omit<Catalog, 'types'>,
  cipher: Cipher | null,
  onUnread: (name: string, error: unknown) => void,
): TypesInForce {
  const types = new TypesInForce();
  const scope = { catalog: { features, types, scalars, definitions }, storage: { cipher } };
  for (const [name, object] of definitions.list('types'))
    try {
      types.set(name, loadType(object, scope));
    } catch (error) {
      onUnread(name, error);
    }
  return types;
}
