// A text that could not be read as a whole is looked through for other mistakes all the same. What is told then must not follow from what
// could not be read: a variable whose declaration was lost, a node that stands for something unread.
import type { Definition, Span } from './ast.ts';
import type { Report } from './2-check/index.ts';
import { type AnyNode, childrenOf } from './2-check/walk.ts';

/** What the checker tells of a part that was read well is right whatever happened elsewhere. The rest waits until the text can be read. */
const SAFE: ReadonlySet<string> = new Set(
  (
    'lang.variable.undeclared lang.variable.redeclared lang.parameter.mixed lang.parameter.required.default lang.option.unknown ' +
    'lang.package.name lang.import lang.select.alias lang.select.source lang.execute.async rule.alias.required rule.merge.alias ' +
    'rule.interval rule.activation service.state.modifier event.path.invalid'
  )
    .split(' ')
    .map((code) => `cascade.${code}`),
);

/** @param damage where the parser found mistakes */
export function cautious(source: string, tree: Definition, damage: readonly Span[], report: Report): Report {
  const regions = regionsOf(tree);
  const damaged = new Set(damage.map(({ start }) => innermost(regions, start)));
  const introduced = introducedIn(source);
  return (at, code, detail, hint) => {
    if (!SAFE.has(code) || damaged.has(innermost(regions, at.start))) return;
    if (code === 'cascade.lang.variable.undeclared' && introduced.has(source.slice(at.start, at.end).replace(/\..*/s, ''))) return;
    report(at, code, detail, hint);
  };
}

/** The statements and blocks, and the whole; in the order of their beginnings, so that what is inside comes later. */
function regionsOf(tree: Definition): Span[] {
  const regions: Span[] = [tree];
  const visit = (node: AnyNode, isStatement: boolean): void => {
    if (isStatement) regions.push(node);
    const { body } = node as unknown as { body?: unknown };
    const statements = Array.isArray(body) ? new Set<unknown>(body) : null;
    for (const child of childrenOf(node)) visit(child, statements?.has(child) === true || child.type === 'Block');
  };
  visit(tree, false);
  return regions;
}

/** A mistake right behind a statement is its own: something is missing there. */
function innermost(regions: readonly Span[], offset: number): Span | undefined {
  return regions.findLast(({ start, end }) => start <= offset && offset <= end);
}

const INTRODUCING = [
  /\b(?:var|as|to|each|for|from|source|select|one|array|sequence)\s+@?((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)/gi,
  /\(\s*([A-Za-z_]\w*)\s+in\b/gi,
  /\b(?:catch|error)\s*\(\s*([A-Za-z_]\w*)/gi,
  /\b([A-Za-z_]\w*)\s*=>/g,
];
/** The parameters of the first procedure. Not by one pattern: that would be tried from each `procedure` on to the end of a long text. */
function headerOf(source: string): string {
  const begin = source.search(/\bprocedure\b/i);
  const open = begin < 0 ? -1 : source.indexOf('(', begin);
  const close = open < 0 ? -1 : source.indexOf(')', open);
  return close < 0 ? '' : source.slice(open + 1, close);
}

/** Names that the text declares somewhere, whatever else is wrong there; rather too many. */
function introducedIn(source: string): Set<string> {
  const names = INTRODUCING.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1]!.replace(/^.*\./, '')));
  for (const [, list = ''] of source.matchAll(/\(([\w\s,]*)\)\s*=>/g)) names.push(...list.split(/[\s,]+/));
  return new Set([...names, ...(headerOf(source).match(/[A-Za-z_]\w*/g) ?? [])]);
}
