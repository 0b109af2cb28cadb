// The build: each .ts file of the rooms to dist/ (types are stripped, not checked: `npm test` does that), and the bundles.
// Skips what has not changed. Two builds at once don't harm each other: a file appears whole or not at all (written under another name, then renamed).
// Plain Node; esbuild is imported only when there is something to do.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildInbox } from './build-inbox.mjs';
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
const TOOLS = ['build.mjs', 'build-inbox.mjs'];
/** The page of the inbox, which is built as a whole. */
const INBOX = 'inbox';

/** Packages of many small files that the service imports at its start. Others stay where they are: some look for files beside their own. */
const BUNDLED_PACKAGES = [
  ...['mongodb', 'bson', 'mongodb-connection-string-url', 'whatwg-url', 'tr46', 'webidl-conversions', 'punycode'],
  ...['@mongodb-js/saslprep', 'sparse-bitfield', 'memory-pager'],
  ...['prom-client', '@opentelemetry/api', 'tdigest', 'bintrees', 'ws', '@fastify/busboy', 'saxes', 'xmlchars'],
];

/** Scripts made of many files: the entry (below the repository) and the file that comes out (below dist/), with others beside it that it imports. */
const bundles = [
  {
    entry: 'stdlib/isolate/entry.ts',
    file: 'stdlib/isolate-bundle.js',
    // Each isolate keeps the text: without comments and indentation it has two thirds of the length, and in one byte a character half the size.
    options: {
      ...{ format: 'iife', target: 'es2022', platform: 'neutral', mainFields: ['module', 'main'], conditions: ['import'] },
      ...{ minifyWhitespace: true, charset: 'ascii' },
    },
  },
  {
    // The command line with the service: to find, read and link 1,500 modules takes most of a start.
    entry: 'server/cli/main.ts',
    file: 'cascade/main.js',
    options: {
      ...{
        format: 'esm',
        splitting: true,
        target: 'node22',
        platform: 'node',
        charset: 'utf8',
        sourcemap: 'linked',
        sourcesContent: false,
        plugins: [lightHttp(), ownPackages(), ownAddresses('cascade')],
      },
      banner: { js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);" },
    },
  },
];

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
  for (const { bundle, made } of stale) bundled[bundle.file] = await makeBundle(bundle, files, made?.outputs ?? []);
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

/** A bundle is stale when a file of it is missing or one of its inputs of last time has another hash. */
function bundleState(bundle, made, files) {
  if (!files[bundle.entry]) return { bundle, stale: false };
  const isThere = made?.outputs.every((file) => existsSync(join(out, file)));
  return { bundle, made, stale: !isThere || !Object.entries(made.inputs).every(([source, was]) => files[source]?.hash === was) };
}

/**
 * @param {readonly string[]} before what the last build made: a service that runs may still import some of it, so it stays until the next one
 * @returns the inputs among our own sources with their hashes (packages are covered by the lock file), and the files that came out
 */
async function makeBundle({ entry, file, options }, files, before) {
  const esbuild = await import('esbuild');
  const result = await esbuild.build({
    ...options,
    entryPoints: [{ in: join(root, entry), out: basename(file, '.js') }],
    outdir: join(out, dirname(file)),
    bundle: true,
    write: false,
    metafile: true,
    absWorkingDir: root,
    logLevel: 'silent',
  });
  // What a file imports is there before it.
  for (const { path, contents } of result.outputFiles.reverse()) writeWhole(path, contents);
  const outputs = result.outputFiles.map(({ path }) => relative(out, path));
  if (options.splitting)
    for (const name of readdirSync(join(out, dirname(file))).map((one) => join(dirname(file), one)))
      if (!outputs.includes(name) && !before.includes(name)) rmSync(join(out, name), { force: true });
  const own = Object.keys(result.metafile.inputs).filter((source) => files[source]);
  return { inputs: Object.fromEntries(own.map((source) => [source, files[source].hash])), outputs };
}

/** For a bundle: all packages but those named above are imported when it runs. */
function ownPackages() {
  const isPackage = /^[^./]/;
  const nameOf = (path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)[0];
  return {
    name: 'own-packages',
    setup(bundling) {
      bundling.onResolve({ filter: isPackage }, ({ path, kind }) =>
        kind === 'entry-point' || BUNDLED_PACKAGES.includes(nameOf(path)) ? undefined : { path, external: true },
      );
    },
  };
}

/** For a bundle: `import` of node:http has Node load all of its own HTTP client (undici), which `require` does not: 40 ms of each start. */
function lightHttp() {
  return {
    name: 'light-http',
    setup(bundling) {
      bundling.onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'light' } : { path, external: true },
      );
      bundling.onLoad({ filter: /./, namespace: 'light' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
    },
  };
}

/** For a bundle in that folder of dist/: a module goes on having the address of its own file in dist/, from which it finds those of threads, processes and data. */
function ownAddresses(folder) {
  return {
    name: 'own-addresses',
    setup(bundling) {
      bundling.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const other = /import\.meta\.(?!url\b)\w+/.exec(text);
        if (other) throw new Error(`${relative(root, path)}: a bundle keeps import.meta.url alone, and no ${other[0]}`);
        if (!text.includes('import.meta.url')) return undefined;
        const own = JSON.stringify(relative(join(out, folder), target(relative(root, path))).replaceAll(sep, '/'));
        return { loader: 'ts', contents: text.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`) };
      });
    },
  };
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
