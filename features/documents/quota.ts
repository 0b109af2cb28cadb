// The quota for the total size of documents (resources-and-api.md 9.1).
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { databasesIn } from '../../resources/quotas/index.ts';
import { contentBytes } from './content-store.ts';

/** @param growth bytes that are to be added @throws cascade.quota.exceeded */
export async function requireDocumentBytes(space: Namespace, growth: number): Promise<void> {
  const usage = await space.installation.quotas.of(space.name);
  const limit = usage?.limit('documentsBytes') ?? null;
  if (!usage || limit === null || growth <= 0) return;
  const stored = await Promise.all(databasesIn(space, usage.namespaces).map(contentBytes));
  if (stored.reduce((sum, one) => sum + one, growth) > limit) throw apiError('cascade.quota.exceeded', 'documentsBytes', limit);
}
