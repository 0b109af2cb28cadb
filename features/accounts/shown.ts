// System properties that all resources of the installation show (resources-and-api.md 1.3).
import { DateTime, type ObjectValue } from '../../stdlib/values/index.ts';
import type { UserRecord } from '../../identity/index.ts';

type Made = Pick<UserRecord, 'version' | 'createdAt' | 'createdBy' | 'modifiedAt' | 'modifiedBy'>;

/** @param namespace null: the object belongs to no namespace */
export const systemPropertiesOf = (
  namespace: string | null,
  { version, createdAt, createdBy, modifiedAt, modifiedBy }: Made,
): ObjectValue => ({
  ...(namespace !== null && { ars_namespace: namespace }),
  ars_version: version,
  ars_createdAt: new DateTime(createdAt.getTime()),
  ars_createdBy: createdBy,
  ...(modifiedAt && { ars_modifiedAt: new DateTime(modifiedAt.getTime()) }),
  ...(modifiedBy !== null && { ars_modifiedBy: modifiedBy }),
});
