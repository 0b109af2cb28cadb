// The graph of rules that start each other (resources-and-api.md 8.2): who raises events on which path, and who listens there. A cycle may
// be intended, and its conditions may end it, so that registering the rule that closes it gives a warning only.

import type { CompiledRule } from '../../compiler/index.ts';

interface Links {
  readonly listens: readonly string[];
  readonly raises: readonly string[];
}

export class RuleGraph {
  readonly #rules = new Map<string, Links>();
  /** Names of listening rules, by path. */
  readonly #listening = new Map<string, Set<string>>();

  /** Adds a rule that is in force. A BEFORE rule that changes the stored instance starts no other rule by that. */
  put({ fullName, timing, triggers, raises = [] }: CompiledRule): void {
    this.remove(fullName);
    if (timing === 'before') return;
    const links = { listens: triggers.flatMap(({ paths }) => [...paths]), raises };
    this.#rules.set(fullName, links);
    for (const path of links.listens) {
      const listening = this.#listening.get(path) ?? new Set();
      this.#listening.set(path, listening.add(fullName));
    }
  }

  remove(rule: string): void {
    for (const path of this.#rules.get(rule)?.listens ?? []) {
      const listening = this.#listening.get(path);
      listening?.delete(rule);
      if (listening?.size === 0) this.#listening.delete(path);
    }
    this.#rules.delete(rule);
  }

  /** The shortest cycle through a rule that comes into force: its name at both ends, the paths between; null when there is none. */
  cycleThrough({ fullName, timing, triggers, raises = [] }: CompiledRule): string[] | null {
    if (timing === 'before') return null;
    const own = new Set(triggers.flatMap(({ paths }) => [...paths]));
    const cameBy = new Map<string, string[]>();
    const waiting: [rule: string, way: string[], raises: readonly string[]][] = [[fullName, [fullName], raises]];
    for (let next = 0; next < waiting.length; next++) {
      const [, way, paths] = waiting[next] as (typeof waiting)[number];
      for (const path of paths) {
        if (own.has(path)) return [...way, path, fullName];
        for (const rule of this.#listening.get(path) ?? []) {
          if (rule === fullName || cameBy.has(rule)) continue;
          const longer = [...way, path, rule];
          cameBy.set(rule, longer);
          waiting.push([rule, longer, this.#rules.get(rule)?.raises ?? []]);
        }
      }
    }
    return null;
  }
}
