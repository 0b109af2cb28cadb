// Explains why rules did or did not match an event: the same terms are decided by the same function, and their values are recorded.
import type { Value } from '../../stdlib/values/index.ts';
import { BudgetExceeded } from '../../model/query/index.ts';
import { askedIn, withoutAsked } from './asked.ts';
import { compareTerm, leavesAt } from './compare-term.ts';
import type { Entry } from './entry.ts';
import { typeAt } from './evaluation-context.ts';
import { compileCondition, type Node, type Term, type Variables } from './terms.ts';
import type { DecidedTerm, Explanation, IndexedRule, EvaluationContext, TriggerIndexOptions } from './types.ts';
import { chooseVersions } from './versions.ts';

/** One explanation for each rule: of the trigger that matched, else of its last one on the path. */
export function explainEntries(
  entries: readonly Entry[],
  path: string,
  context: EvaluationContext,
  options: TriggerIndexOptions,
): Explanation[] {
  const byRule = new Map<IndexedRule, Explanation>();
  for (const { rule, trigger } of entries) {
    if (byRule.get(rule)?.matched) continue;
    byRule.set(rule, explainTrigger(rule, trigger, path, context, options));
  }
  const explanations = [...byRule.values()];
  const candidates = explanations.filter(({ matched, reason }) => matched || reason === 'ruleWhere');
  const chosen = new Set(chooseVersions(candidates, ({ matched }) => matched).flat());
  return explanations.map((each) => (each.matched && !chosen.has(each) ? { ...each, matched: false, reason: 'version' } : each));
}

function explainTrigger(
  rule: IndexedRule,
  trigger: number,
  path: string,
  context: EvaluationContext,
  options: TriggerIndexOptions,
): Explanation {
  const spec = rule.triggers[trigger];
  const variables: Variables = new Map(spec ? [[spec.variable, { binds: spec.binds, type: typeAt(path, options) }]] : []);
  const parts = [
    ['condition', spec?.condition ?? null],
    ['ruleWhere', rule.where],
  ] as const;
  let asks = parts.some(([, data]) => askedIn(data).length > 0);
  for (const [reason, whole] of parts) {
    const data = withoutAsked(whole);
    if (data === null) continue;
    const decided = decide(compileCondition(data, variables, options), context);
    if (decided.term?.error instanceof BudgetExceeded) asks = true;
    else if (!decided.holds) return { rule, matched: false, asks, reason, term: decided.term };
  }
  return { rule, matched: true, asks, reason: null, term: null };
}

interface Decided {
  readonly holds: boolean;
  /** The term that decided; for an AND that holds, its last one. */
  readonly term: DecidedTerm | null;
}

/** An error makes the whole condition false, also under NOT. */
class Failed extends Error {
  readonly term: DecidedTerm;
  constructor(term: DecidedTerm) {
    super('a term failed');
    this.term = term;
  }
}

function decide(condition: Node, context: EvaluationContext): Decided {
  try {
    return decideNode(condition, context);
  } catch (error) {
    if (error instanceof Failed) return { holds: false, term: error.term };
    throw error;
  }
}

function decideNode(node: Node, context: EvaluationContext): Decided {
  switch (node.op) {
    case 'and':
    case 'or': {
      const stop = node.op === 'or';
      let last: Decided = { holds: !stop, term: null };
      for (const term of node.terms) {
        last = decideNode(term, context);
        if (last.holds === stop) return last;
      }
      return { ...last, holds: !stop };
    }
    case 'not': {
      const inner = decideNode(node.term, context);
      return { ...inner, holds: !inner.holds };
    }
    default: {
      const term = decideTerm(node, context);
      return { holds: term.result, term };
    }
  }
}

function decideTerm(term: Term, context: EvaluationContext): DecidedTerm {
  const operator = term.op === 'where' ? 'where' : term.operator;
  const path = term.op === 'path' ? term.path.text : null;
  const left = attempt(() => leftOf(term, context));
  const right = attempt(() => rightOf(term, context));
  try {
    return { operator, path, left, right, result: compareTerm(term, context) };
  } catch (error) {
    throw new Failed({ operator, path, left, right, result: false, error });
  }
}

function leftOf(term: Term, context: EvaluationContext): Value {
  if (term.op === 'expression') return term.left(context);
  if (term.op === 'where') return term.binds === 'value' ? context.payload(term.variable) : context.event(term.variable);
  const { values, positioned } = leavesAt(term, context);
  const all = [...values, ...positioned];
  return all.length > 1 ? all : (all[0] ?? null);
}

function rightOf(term: Term, context: EvaluationContext): Value {
  if (term.op === 'expression') return term.right(context);
  if (term.op === 'where') return term.evaluate(context);
  return term.operand.constant ? term.operand.value : term.operand.evaluate(context);
}

/** A side that cannot be computed is null: the term's own error gives the reason. */
function attempt(get: () => Value): Value {
  try {
    return get();
  } catch {
    return null;
  }
}
