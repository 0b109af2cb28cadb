// Comments, tests and cases cite the specification by document and row (`language.md W4`): docs/rows.md says what each of these holds.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const SKIPPED = /(^|\/)(node_modules|dist|data|\.git|\.cache)(\/|$)/;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.(ts|mjs|yaml)$/.test(name) && !SKIPPED.test(name) && !name.startsWith('conformance/rows.'),
);
const ID = /[A-Z]\d+|\d+(?:\.\d+)?/g;
const CITED =
  /\b(language|resources-and-api|integrations|builtins)\.md((?:,? (?:(?:and|to|section|note \d+|table|row) )?(?:[A-Z]\d+|\d+(?:\.\d+)?)\b(?!\.\d))+)/g;

/** `language.md W4` and its like, each with a file that has it. */
function cited(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8').replace(/\n\s*(?:\/\/|\*|#) ?/g, ' '); // a comment goes on in the next line
    for (const [, document, list = ''] of text.matchAll(CITED))
      for (const [id] of list.replace(/note \d+/g, '').matchAll(ID)) found.set(`${document}.md ${id}`, file);
  }
  return found;
}

/** What docs/rows.md has: rows of the language and of built-ins by their anchors, those of integrations.md and all sections by the tables. */
function explained(): Set<string> {
  const page = readFileSync(join(root, 'docs/rows.md'), 'utf8');
  const rows = [...page.matchAll(/<a id="(\w+)"><\/a>\1 \|/g)].flatMap(([, id]) => [`language.md ${id}`, `builtins.md ${id}`]);
  const [, table = ''] = /^## integrations\.md: rows\n([\s\S]*?)^## /m.exec(page) ?? [];
  const own = [...table.matchAll(/^\| ((?:[A-Z]\d+(?:, | to | (?=\|)))+)\|/gm)].flatMap(([, ids = '']) => rowsIn(ids));
  const sections = [...page.matchAll(/^\| ([\w-]+\.md) ([\d., ]+) \|/gm)].flatMap(([, document, ids = '']) =>
    ids.split(', ').map((id) => `${document} ${id}`),
  );
  return new Set([...rows, ...own.map((id) => `integrations.md ${id}`), ...sections]);
}

/** `R1 to R4`, `R5, R6`: each of them. */
function rowsIn(ids: string): string[] {
  return ids
    .trim()
    .split(', ')
    .flatMap((part) => {
      const [, letter = '', from = '', to = from] = /^([A-Z])(\d+)(?: to [A-Z](\d+))?$/.exec(part) ?? [];
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${letter}${Number(from) + i}`);
    });
}

test('every row and section that is cited has its line in docs/rows.md', () => {
  const known = explained();
  const citations = cited();
  expect(citations.size).toBeGreaterThan(300);
  expect([...citations].filter(([id]) => !known.has(id)).map(([id, file]) => `${id} (${file})`)).toEqual([]);
});

/** The headings of a page as a browser shows them behind `#`, and its anchors. */
function targetsIn(page: string): Set<string> {
  const text = readFileSync(page, 'utf8');
  const headings = [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => title.toLowerCase().replace(/[^\w\- ]/g, ''));
  const anchors = [...text.matchAll(/<a id="(\w+)">/g)].map(([, id]) => id as string);
  return new Set([...headings.map((heading) => heading.replaceAll(' ', '-')), ...anchors]);
}

test('every link of the documents leads to a file and, with #, to a heading or anchor of it', () => {
  const pages = ['', 'docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [join(root, folder, name)] : [])),
  );
  const links = pages.flatMap((page) => {
    const prose = readFileSync(page, 'utf8').replace(/^```.*?^```|`[^`\n]*`/gms, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => ({ page, link: link as string }));
  });
  const broken = links.filter(({ page, link }) => {
    if (/^https?:/.test(link)) return false;
    const [file = '', target] = link.split('#');
    const path = file === '' ? page : join(page, '..', file);
    return !existsSync(path) || (target !== undefined && !targetsIn(path).has(target));
  });
  expect(links.length).toBeGreaterThan(100);
  expect(broken.map(({ page, link }) => `${relative(root, page)}: ${link}`)).toEqual([]);
});
