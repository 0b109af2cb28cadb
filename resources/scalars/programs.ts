// The programs that call a scalar's procedures for many values at once, so that a batch costs one call of the sandbox. They are texts of
// the rule language; the names in them are those of stored procedures.

import { boundedCache } from '../../platform/structures/index.ts';
import type { CompiledProcedure } from '../../compiler/index.ts';
import type { Program } from '../../sandbox/index.ts';
import { compileText, programOf } from '../../runtime/programs/index.ts';

/** The kinds of calls: `each` converts values, `pairs` compares two at a time, `sorted` sorts them by the comparator. */
export type Form = 'each' | 'pairs' | 'sorted';

/** A failed value has its error in place of its result, and the others are unaffected. */
const TEXTS: Readonly<Record<Form, (procedure: string) => string>> = {
  each: (procedure) => `PROCEDURE convertEach(values)
var results = []
for (v in values) { try { push(results, {value: ${procedure}(v)}) } catch (e) { push(results, {error: e}) } }
return results`,
  pairs: (procedure) => `PROCEDURE comparePairs(pairs)
var results = []
for (p in pairs) { try { push(results, {value: ${procedure}(p[0], p[1])}) } catch (e) { push(results, {error: e}) } }
return results`,
  // A merge sort, bottom up and stable. \`&&\` would call the procedure on its right in any case, so the conditions are apart.
  sorted: (procedure) => `PROCEDURE sortBy(given)
var values = given
var n = length(values)
var width = 1
while (width < n) {
  var merged = []
  var low = 0
  while (low < n) {
    var i = low
    var middle = low + width
    if (middle > n) { middle = n }
    var j = middle
    var high = low + 2 * width
    if (high > n) { high = n }
    while (i < middle || j < high) {
      var first = true
      if (i >= middle) { first = false } else if (j < high) { if (${procedure}(values[i], values[j]) > 0) { first = false } }
      if (first) { push(merged, values[i])  i = i + 1 } else { push(merged, values[j])  j = j + 1 }
    }
    low = high
  }
  values = merged
  width = width * 2
}
var results = []
var rank = 0
for (k in range(0, n, 1)) {
  if (k > 0) { if (${procedure}(values[k - 1], values[k]) != 0) { rank = rank + 1 } }
  push(results, [values[k], rank])
}
return results`,
};

/** Bound of the cached texts: they are small, but names of deleted procedures must not accumulate. */
const MOST_KEPT = 1_000;
const compiled = boundedCache<string, Program>(MOST_KEPT);

export function programFor(form: Form, procedure: string): Program {
  const key = `${form} ${procedure}`;
  const known = compiled.get(key);
  if (known) return known;
  const { module } = compileText(TEXTS[form](procedure), 'procedure') as CompiledProcedure;
  const program = programOf(module, key);
  compiled.set(key, program);
  return program;
}
