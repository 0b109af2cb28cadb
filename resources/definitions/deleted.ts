// Work on what is listed, while others delete of it.
import { CascadeError } from '../../model/errors/index.ts';

/** Ignores objects that were deleted meanwhile. */
export async function ignoreDeleted(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof CascadeError) || error.code !== 'cascade.resource.not.found') throw error;
  }
}
