// Who imports whom, by folder, as a diagram: docs/dependencies.mmd. Pure but for reading the files; docs.ts writes, docs.test.ts compares.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/** From the top down, as ARCHITECTURE.md has them. */
const LAYERS = ['server', 'engine', 'features', 'resources', 'runtime', 'sandbox', 'identity', 'platform', 'model', 'stdlib', 'compiler'];
/** Of these each folder is a room of its own in the second picture. */
const ROOMS = 'features';
const IMPORT = /(?:^|\n)(?:import|export)(?!\s+type\b)[^;'"]*?from '(\.[^']+)'/g;

interface Import {
  readonly from: string;
  readonly to: string;
}

/** The imports of code between files of the layers; types are none, and tests and what they use do not count. @param root of the project */
function importsIn(root: string): Import[] {
  return LAYERS.flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(test|brokers|d)\.ts$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((file) => !file.includes('/testing/'))
      .flatMap((from) =>
        [...readFileSync(join(root, from), 'utf8').matchAll(IMPORT)].map(([, path = '']) => ({
          from,
          to: posix.join(dirname(from), path),
        })),
      ),
  );
}

const layerOf = (file: string): string => file.split('/')[0] ?? '';
const roomOf = (file: string): string | null => (layerOf(file) === ROOMS ? (file.split('/')[1] ?? null) : null);

/** The Mermaid text of docs/dependencies.mmd. */
export function dependencyDiagram(root: string): string {
  const imports = importsIn(root);
  const layers = edges(imports, layerOf);
  const rooms = edges(
    imports.filter(({ from, to }) => roomOf(from) !== null && roomOf(to) !== null),
    (file) => roomOf(file) as string,
  );
  return [
    '%% Made by `npm run docs` from the imports: who uses the code of whom. Types are not shown, nor tests.',
    'flowchart TD',
    ...LAYERS.map((name) => `  ${name}`),
    ...layers.map(([from, to]) => `  ${from} --> ${to}`),
    `  subgraph ${ROOMS}_rooms [${ROOMS}, room by room]`,
    ...rooms.map(([from, to]) => `    f_${from}[${from}] --> f_${to}[${to}]`),
    '  end',
    '',
  ].join('\n');
}

function edges(imports: readonly Import[], nameOf: (file: string) => string): [from: string, to: string][] {
  const found = new Set(imports.map(({ from, to }) => `${nameOf(from)} ${nameOf(to)}`));
  return [...found]
    .sort()
    .map((edge) => edge.split(' ') as [string, string])
    .filter(([from, to]) => from !== to);
}
