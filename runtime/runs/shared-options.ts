// What the runs of a rule have in common, for the sandbox: one object as long as nothing of it changes, by which it knows that it has told it.
import type { RunOptions } from '../../sandbox/index.ts';
import { isolateLimits, type RunLimits } from './run-limits.ts';
import type { Executable } from '../programs/executable.ts';

const LAST = new WeakMap<Executable, { readonly options: RunOptions; readonly limits: RunLimits }>();

export function sharedOptions(executable: Executable, given: Omit<RunOptions, 'resource'>, limits: RunLimits): RunOptions {
  const last = LAST.get(executable);
  const { level, namespace, username, service } = given;
  if (last?.limits === limits) {
    const { options } = last;
    if (options.level === level && options.namespace === namespace && options.username === username && options.service === service)
      return options;
  }
  const options = { level, namespace, username, resource: executable.resource, service, ...isolateLimits(limits) };
  LAST.set(executable, { options, limits });
  return options;
}
