// References from an event to its runs in the journal: rule, program, and the conditions that are still to be decided.
import type { Executable } from '../programs/index.ts';
import type { RunReference } from '../transactions/index.ts';
import type { Chosen, IndexedRule } from '../triggers/index.ts';

/** The payload of our rules in the trigger indexes. */
export interface IndexedProgram {
  readonly executable: Executable;
}

export const programIn = (rule: IndexedRule): IndexedProgram => rule.payload as IndexedProgram;

/** The reference to a rule, or to the version of it, in the runs of an event. */
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

/** What a rule's variable holds for an event on a path: the branches of an OR may have different forms. */
export const bindsOn = (rule: IndexedRule, path: string): 'event' | 'value' =>
  rule.triggers.find(({ paths }) => paths.includes(path))?.binds ?? 'event';
