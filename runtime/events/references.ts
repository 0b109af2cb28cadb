// How the runs of an event are named in the journal: by rule, program and what of their conditions is still to be decided.
import type { Executable } from '../programs/executable.ts';
import type { RunReference } from '../transactions/index.ts';
import type { Chosen, IndexedRule } from '../triggers/index.ts';

/** What the trigger indexes hand back with a rule of ours. */
export interface IndexedProgram {
  readonly executable: Executable;
}

export const programIn = (rule: IndexedRule): IndexedProgram => rule.payload as IndexedProgram;

/** What stands for a rule, or the version of it, among the runs of an event. */
export function referenceOf({ rule, asks, next }: Chosen, path: string): RunReference {
  const { executable } = programIn(rule);
  const reference = { rule: executable.name, program: executable.program.id, binds: bindsOn(rule, path) };
  if (!asks) return reference;
  const triggers = rule.triggers.filter(({ paths }) => paths.includes(path)).map((trigger) => ({ ...trigger, paths: [path] }));
  const conditions = triggers.map(({ condition }) => condition);
  const when = conditions.every((one) => one !== null) ? { op: 'or' as const, terms: conditions } : null;
  const terms = [when, rule.where].filter((one) => one !== null);
  return { ...reference, asks: { triggers, condition: { op: 'and', terms }, next: next && referenceOf(next, path) } };
}

/** What a rule's variable holds for an event on a path: the branches of an OR may be of different forms. */
export const bindsOn = (rule: IndexedRule, path: string): 'event' | 'value' =>
  rule.triggers.find(({ paths }) => paths.includes(path))?.binds ?? 'event';
