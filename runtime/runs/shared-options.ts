// What the runs of a rule have in common, for the sandbox: one object as long as nothing of it changes, by which it knows that it has told it.
import type { RunOptions } from '../../sandbox/index.ts';
import type { Executable } from './types.ts';

const LAST = new WeakMap<Executable, RunOptions>();

export function sharedOptions(executable: Executable, given: Omit<RunOptions, 'resource'>): RunOptions {
  const last = LAST.get(executable);
  const { level, namespace, username, service } = given;
  if (last && last.level === level && last.namespace === namespace && last.username === username && last.service === service) return last;
  const options = { level, namespace, username, resource: executable.resource, service };
  LAST.set(executable, options);
  return options;
}
