// The options that all runs of a rule share: one object until one of them changes, by which the sandbox knows that the isolate has them.
import type { RunOptions } from '../../../sandbox/index.ts';
import { isolateLimits, type RunLimits } from '../run-limits.ts';
import type { Executable } from '../../programs/index.ts';

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
