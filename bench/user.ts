// Whoever a benchmark acts for within an engine of its own. Rules run as the user who has stored them, so that user must be there: without it each run
// fails, and what is measured is how fast.
import type { Engine, Identity } from '../engine/index.ts';

export const benchUser = (namespace: string): Identity => ({ username: 'bench', namespace, profiles: ['admin', 'admin__system'] });

export async function admit({ identity: store }: Engine, { username, namespace, profiles }: Identity): Promise<void> {
  await store.createUser({ username, password: 'correct horse', namespace, createdBy: username }).catch(() => undefined); // of a round before
  await store.authorizeUser(username, namespace, [...profiles], { isConsented: true });
}

/** @throws when a run has failed: what was measured then is not what it says */
export async function requireNoFailures(engine: Engine, identity: Identity): Promise<void> {
  const parameters = { limit: 1n };
  const answer = await engine.execute({ identity, op: 'select', resourceName: 'ArsRuleSnapshot', custom: true, parameters });
  const [failure] = JSON.parse(answer.body ?? '[]') as unknown[];
  if (failure) throw new Error(`a rule of the benchmark has failed: ${JSON.stringify(failure)}`);
}
