// The state of a service in its procedures (language.md 8, Y2 to Y6): which of it a procedure has, by its modifiers and by what the
// service declares, and under which names.
import type { ProcedureDefinition } from '../ast.ts';
import type { ServiceStateNames } from '../types.ts';
import type { ProcedureFacts } from './model.ts';
import type { Report } from './report.ts';

/** `partition`: one partition a call. `partitions`: the body runs once for each. */
export interface StateFacts {
  readonly access: 'global' | 'partition' | 'partitions';
  readonly names: readonly string[];
}

/** Called by the system when state is made, and by nobody else. */
const INITIALIZERS: ReadonlyMap<string, StateFacts['access']> = new Map([
  ['initializeGlobalState', 'global'],
  ['initializePartitionedState', 'partition'],
]);
const KEY_TYPES: ReadonlySet<string> = new Set(['String', 'Integer', 'Decimal', 'Currency', 'DateTime', 'ResourceReference', 'Any']);

/** @returns null for a procedure without state */
export function checkState(
  node: ProcedureDefinition,
  facts: ProcedureFacts,
  stateOf: (service: string) => ServiceStateNames | null,
  report: Report,
): StateFacts | null {
  const declared = facts.serviceName === null ? null : stateOf(facts.serviceName);
  const { access } = node;
  if (access === 'global' && !declared?.global)
    report(node.name, 'cascade.service.state.modifier', 'GLOBAL needs a global state of the service');
  if (access === 'multiPartition' && !declared?.partitioned)
    report(node.name, 'cascade.service.state.modifier', 'MULTI PARTITION needs a partitioned state of the service');
  if (!declared || access === 'stateless') return null;
  const initializer = INITIALIZERS.get(facts.name.slice(facts.name.lastIndexOf('.') + 1));
  if (initializer) return checkInitializer(node, initializer, declared, report);
  if (access === 'global' || (access === null && !declared.partitioned))
    return declared.global && { access: 'global', names: declared.global };
  if (!declared.partitioned) return null;
  if (access === null && !node.private) checkKey(node, facts, report);
  return { access: access === 'multiPartition' ? 'partitions' : 'partition', names: declared.partitioned };
}

function checkInitializer(
  node: ProcedureDefinition,
  access: StateFacts['access'],
  { global, partitioned }: ServiceStateNames,
  report: Report,
): StateFacts | null {
  if (!node.private || node.parameters.length > 0)
    report(node.name, 'cascade.service.state.modifier', 'what initialises the state is PRIVATE and has no parameters');
  const names = access === 'global' ? global : partitioned;
  return names && { access, names };
}

/** The first parameter is the key of the partition (Y4); a PRIVATE procedure runs in its caller's. */
function checkKey(node: ProcedureDefinition, { parameters: [key] }: ProcedureFacts, report: Report): void {
  if (!key)
    return report(node.name, 'cascade.service.partition.parameter', 'the first parameter is the key of the partition, and there is none');
  const at = node.parameters[0] ?? node.name;
  if (key.array || (key.type !== null && !KEY_TYPES.has(key.type)))
    report(at, 'cascade.service.partition.parameter', `'${key.name}' is the key of the partition, which cannot be of this type`);
}
