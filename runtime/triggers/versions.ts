// Chooses the version of a rule that runs: the newest whose RULE WHERE holds (language.md 6.4 V3, V4).
import type { IndexedRule } from './types.ts';

/** Orders versions, newest first: by the lexical order of the lower-cased version, the empty one last. */
export function byVersionDescending(a: Pick<IndexedRule, 'version'>, b: Pick<IndexedRule, 'version'>): number {
  const [left, right] = [versionText(a), versionText(b)];
  return left < right ? 1 : left > right ? -1 : 0;
}

const versionText = ({ version }: Pick<IndexedRule, 'version'>): string => (version ?? '').toLowerCase();

/** A version that may run: the next one is tried when a program decides against it. */
interface Candidate {
  readonly rule: IndexedRule;
  readonly asks: boolean;
}

/**
 * Groups candidates by rule: of each rule those that `applies`, the newest first, up to one that needs no program's decision. Rules without
 * any are left out.
 * @param asks whether a program decides; called for candidates that apply
 */
export function chooseVersions<T extends Candidate>(
  matched: readonly T[],
  applies: (match: T) => boolean,
  asks: (match: T) => boolean = (match) => match.asks,
): (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const match of matched) {
    const group = groups.get(match.rule.baseName);
    if (group) group.push(match);
    else groups.set(match.rule.baseName, [match]);
  }
  const chosen: (readonly T[])[] = [];
  for (const group of groups.values()) {
    if (group.length > 1) group.sort((a, b) => byVersionDescending(a.rule, b.rule));
    const tried: T[] = [];
    for (const match of group) {
      if (!applies(match)) continue;
      tried.push(match);
      if (!asks(match)) break;
    }
    if (tried.length > 0) chosen.push(tried);
  }
  return chosen;
}
