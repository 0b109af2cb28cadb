// Which version of a rule runs: the youngest whose RULE WHERE holds (language.md 6.4 V3, V4).
import type { IndexedRule } from './types.ts';

/** Youngest first: by the lexical order of the lower-cased version, the empty one last. */
export function compareYouth(a: Pick<IndexedRule, 'version'>, b: Pick<IndexedRule, 'version'>): number {
  const [left, right] = [versionText(a), versionText(b)];
  return left < right ? 1 : left > right ? -1 : 0;
}

const versionText = ({ version }: Pick<IndexedRule, 'version'>): string => (version ?? '').toLowerCase();

/** Groups by rule; a group's first member that `applies` stands for it. */
export function chooseVersions<T extends { readonly rule: IndexedRule }>(matched: readonly T[], applies: (match: T) => boolean): T[] {
  const families = new Map<string, T[]>();
  for (const match of matched) {
    const family = families.get(match.rule.baseName);
    if (family) family.push(match);
    else families.set(match.rule.baseName, [match]);
  }
  const chosen: T[] = [];
  for (const family of families.values()) {
    const youngest = family.length > 1 ? family.sort((a, b) => compareYouth(a.rule, b.rule)).find(applies) : family.find(applies);
    if (youngest) chosen.push(youngest);
  }
  return chosen;
}
