// What the command line and the service load must be there after `npm ci --omit=dev`: followed from bin/cascade.js through the built files.
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Node, parse } from 'acorn';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { dependencies: Record<string, string> };
const entry = new URL('dist/server/cli/main.js', root);

/** The texts by which a file names other modules: of its imports, and of files that it starts as processes and threads. */
function namesIn(file: URL): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node & { source?: unknown; callee?: { name?: string }; arguments?: unknown[] };
    const isImport = /^(Import(Declaration|Expression)|Export(Named|All)Declaration)$/.test(node.type ?? '');
    const named = isImport ? node.source : node.type === 'NewExpression' && node.callee?.name === 'URL' ? node.arguments?.[0] : undefined;
    const text = (named as { value?: unknown } | null | undefined)?.value;
    if (typeof text === 'string' && (isImport || /^\.{1,2}\/.*\.js$/.test(text))) found.push(text);
    Object.values(node).forEach(visit);
  };
  visit(parse(readFileSync(file, 'utf8'), { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }));
  return found;
}

/** By package the files that import it, and what is imported by its path and is not there. */
function reachedFrom(first: URL): { packages: Map<string, string[]>; missing: string[] } {
  const packages = new Map<string, string[]>();
  const missing: string[] = [];
  const seen = new Set<string>();
  const open = [first];
  for (let file = open.pop(); file; file = open.pop()) {
    if (seen.has(file.href)) continue;
    seen.add(file.href);
    if (!existsSync(file)) {
      // A program that is started from dist/ by who runs from the TypeScript sources has a second path, for that case.
      if (!file.href.includes('/dist/dist/')) missing.push(fileURLToPath(file));
      continue;
    }
    for (const name of namesIn(file)) {
      if (name.startsWith('.')) open.push(new URL(name, file));
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) {
        const [scope = '', inScope] = name.split('/');
        const packageName = scope.startsWith('@') ? `${scope}/${inScope}` : scope;
        packages.set(packageName, [...(packages.get(packageName) ?? []), fileURLToPath(file)]);
      }
    }
  }
  return { packages, missing };
}

const { packages, missing } = reachedFrom(entry);

test('every import by a path leads to a built file', () => {
  expect(missing).toEqual([]);
});

test('all commands, the sandbox and the downloader are reached', () => {
  for (const name of ['commander', 'typescript', 'yaml', 'isolated-vm', 'piscina', 'uWebSockets.js', 'mongodb-memory-server-core'])
    expect([...packages.keys()]).toContain(name);
});

test('every package that the product loads is among its dependencies', () => {
  const undeclared = [...packages].filter(([name]) => !(name in dependencies));
  expect(Object.fromEntries(undeclared)).toEqual({});
});
