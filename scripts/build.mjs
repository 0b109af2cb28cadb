// The build: each .ts file of the rooms to dist/ (types are stripped, not checked: `npm test` does that), and the bundles.
// Skips what has not changed. Two builds at once don't harm each other: a file appears whole or not at all (written under another name, then renamed).
// Plain Node; esbuild is imported only when there is something to do.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundles, bundleState, makeBundle } from './build/bundles.mjs';
import { buildInbox } from './build/inbox.mjs';
import { trimCompiled } from './node/compiled.mjs';
import { runOnRightNode } from './node/index.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'dist');
const manifestFile = join(out, '.build.json');
const rooms = [
  ...['compiler', 'stdlib', 'typing', 'model', 'platform', 'identity', 'sandbox', 'runtime', 'resources', 'features', 'engine', 'server'],
  ...['case-runner', 'conformance', 'bench', 'examples', 'scripts'],
];

const SYNTAX = {
  ...{ loader: 'ts', format: 'esm', target: 'es2022', charset: 'utf8', logLevel: 'silent' },
  ...{ sourcemap: 'external', sourcesContent: false, tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } } },
};
/** As esbuild prints it: `from "./x.ts"` at the end of an import or export, `import "./x.ts"`, and `import("./x.ts")` anywhere. */
const RELATIVE_IMPORT = /(^(?:import|export)\b[^'"`;]*"\.{1,2}\/[^"\n]+\.|\bimport\("\.{1,2}\/[^"\n]+\.)ts("(?:\)| with \{[^}\n]*\})?;?)/gm;
/** Sources in memory at a time, so that a build takes little of it. */
const AT_ONCE = 16;

/** What builds: with another one, everything is built anew. */
const TOOLS = ['build.mjs', 'build/bundles.mjs', 'build/inbox.mjs'];
/** The page of the inbox, which is built as a whole. */
const INBOX = 'inbox';

/**
 * Brings dist/ up to date.
 * @param {(line: string) => void} [log] told in one line what was done
 * @returns {Promise<{ written: number }>} how many files are new
 */
export async function build(log = () => {}) {
  const begun = performance.now();
  const before = readManifest();
  const tool = hash([...TOOLS.map((name) => readFileSync(join(root, 'scripts', name), 'utf8')), lockText()].join('\0'));
  const known = before.tool === tool ? before.files : {};
  const sources = rooms.flatMap((room) => (existsSync(join(root, room)) ? list(join(root, room)) : [])).filter(isBuilt);
  const files = Object.fromEntries(sources.map((source) => [source, stamp(source, known[source])]));
  const changed = sources.filter((source) => files[source].hash !== known[source]?.hash || !existsSync(target(source)));
  const gone = Object.keys(before.files).filter((source) => !files[source]);
  const bundleStates = bundles.map((bundle) =>
    bundleState(bundle, before.tool === tool ? before.bundles?.[bundle.file] : undefined, files),
  );
  const stale = bundleStates.filter((state) => state.stale);
  const page = existsSync(join(root, INBOX))
    ? hash(
        list(join(root, INBOX))
          .map((name) => `${name} ${hash(readFileSync(join(root, name)))}`)
          .join('\n'),
      )
    : '';
  const isPageStale = page !== '' && (before.tool !== tool || before.page !== page || !existsSync(join(out, INBOX, 'files.json')));
  for (const source of gone) for (const file of [target(source), `${target(source)}.map`]) rmSync(file, { force: true });
  if (changed.length > 0) {
    forget(before, changed);
    await transpile(changed);
  }
  const bundled = Object.fromEntries(bundleStates.filter((state) => state.made).map((state) => [state.bundle.file, state.made]));
  for (const { bundle, made } of stale)
    bundled[bundle.file] = await makeBundle(bundle, { files, before: made?.outputs ?? [], write: writeWhole });
  if (isPageStale) await buildInbox(root, writeWhole);
  const written = changed.length + stale.length + (isPageStale ? 1 : 0);
  if (written + gone.length > 0 || before.tool !== tool || JSON.stringify(before.files) !== JSON.stringify(files))
    writeWhole(manifestFile, JSON.stringify({ tool, page, files, bundles: bundled }));
  if (written > 0) {
    writeWhole(join(out, 'build-info.json'), JSON.stringify(buildInfo()));
    trimCompiled();
  }
  log(written === 0 ? 'dist/ is up to date' : `dist/: ${written} files in ${Math.round(performance.now() - begun)} ms`);
  return { written };
}

/** A build that fails or is killed leaves files that no manifest knows: the next one makes them anew, whatever their sources are then. */
function forget(before, changed) {
  const files = { ...before.files };
  for (const source of changed) delete files[source];
  if (existsSync(out)) writeWhole(manifestFile, JSON.stringify({ ...before, files }));
}

/** What Context.buildInfo() tells. */
function buildInfo() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { version, date: new Date().toISOString(), commit: commitOf(join(root, '.git')) };
}

/** The commit that is checked out; null outside of a repository. */
function commitOf(git) {
  const head = existsSync(join(git, 'HEAD')) ? readFileSync(join(git, 'HEAD'), 'utf8').trim() : '';
  if (!head.startsWith('ref: ')) return head || null;
  const ref = join(git, head.slice('ref: '.length));
  return existsSync(ref) ? readFileSync(ref, 'utf8').trim() : null;
}

/** Everything of a room but its tests, its documents and data (cases, definitions: read where they are) and TypeScript's declarations. */
function isBuilt(source) {
  return !/\.ya?ml$|\.rule$|\.procedure$|^(bench|examples|case-runner|conformance|scripts)\/.*\.(?!ts$)\w+$|\.(test|bench|brokers|browser)\.ts$|\.d\.ts$|\.md$|(^|\/)(testing|fixtures|__snapshots__)\//.test(
    source,
  );
}

function list(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? list(path) : [relative(root, path)];
  });
}

/** The state of one source; its text is read again only when time or size differ from what is known. */
function stamp(source, known) {
  const { mtimeMs, size } = statSync(join(root, source));
  if (known && known.mtimeMs === mtimeMs && known.size === size) return known;
  return { mtimeMs, size, hash: hash(readFileSync(join(root, source))) };
}

function target(source) {
  return join(out, source.replace(/\.ts$/, '.js'));
}

/** Types are stripped a file at a time. The `.ts` of a relative import becomes `.js`, of the same length, so that the source map stays true. */
async function transpile(sources) {
  const { transform } = await import('esbuild');
  const strip = async (source) => {
    const { code, map } = await transform(readFileSync(join(root, source), 'utf8'), {
      ...SYNTAX,
      sourcefile: relative(dirname(target(source)), join(root, source)).replaceAll(sep, '/'),
    });
    writeWhole(`${target(source)}.map`, map);
    writeWhole(target(source), `${code.replace(RELATIVE_IMPORT, '$1js$2')}//# sourceMappingURL=${basename(target(source))}.map\n`);
  };
  for (const source of sources.filter((name) => !name.endsWith('.ts'))) writeWhole(target(source), readFileSync(join(root, source)));
  const left = sources.filter((name) => name.endsWith('.ts'));
  const strand = async () => {
    for (let source = left.pop(); source; source = left.pop()) await strip(source);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, strand));
}

function writeWhole(file, contents) {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, file);
}

function readManifest() {
  try {
    return JSON.parse(readFileSync(manifestFile, 'utf8'));
  } catch {
    return { tool: '', files: {}, bundles: {} }; // none yet, or not ours: everything is built
  }
}

function lockText() {
  return ['package-lock.json', 'tsconfig.json']
    .map((name) => (existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : ''))
    .join('\0');
}

function hash(text) {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) {
  await runOnRightNode();
  await build((line) => console.log(line)).catch((error) => {
    console.error(`The build failed: ${error.message}`);
    process.exitCode = 1;
  });
}
