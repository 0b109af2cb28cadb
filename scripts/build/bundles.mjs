// The bundles of dist/: scripts that are made of many files. Each has its entry, what esbuild is told, and the plugins that leave to a bundle
// what its modules had as files of their own.
// esbuild is imported only when a bundle is made.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const OUT = join(ROOT, 'dist');

/** Packages of many small files that the service imports at its start. Others stay where they are: some look for files beside their own. */
const BUNDLED_PACKAGES = [
  ...['mongodb', 'bson', 'mongodb-connection-string-url', 'whatwg-url', 'tr46', 'webidl-conversions', 'punycode'],
  ...['@mongodb-js/saslprep', 'sparse-bitfield', 'memory-pager'],
  ...['prom-client', '@opentelemetry/api', 'tdigest', 'bintrees', 'ws', '@fastify/busboy', 'saxes', 'xmlchars'],
];

/** Scripts made of many files: the entry (below the repository) and the file that comes out (below dist/), with others beside it that it imports. */
export const bundles = [
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

/** A bundle is stale when a file of it is missing or one of its inputs of last time has another hash. */
export function bundleState(bundle, made, files) {
  if (!files[bundle.entry]) return { bundle, stale: false };
  const isThere = made?.outputs.every((file) => existsSync(join(OUT, file)));
  return { bundle, made, stale: !isThere || !Object.entries(made.inputs).every(([source, was]) => files[source]?.hash === was) };
}

/**
 * @param {{ entry: string, file: string, options: object }} bundle the entry below `root`, and what comes out below `out`
 * @param {object} at
 * @param {(file: string, contents: Uint8Array) => void} at.write so that a file appears whole or not at all
 * @param {Record<string, { hash: string }>} at.files our own sources
 * @param {readonly string[]} at.before what the last build made: a service that runs may still import some of it, so it stays until the next one
 * @returns the inputs among our own sources with their hashes (packages are covered by the lock file), and the files that came out
 */
export async function makeBundle({ entry, file, options }, { write, files, before, root = ROOT, out = OUT }) {
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
  for (const { path, contents } of result.outputFiles.reverse()) write(path, contents);
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
        if (other) throw new Error(`${relative(ROOT, path)}: a bundle keeps import.meta.url alone, and no ${other[0]}`);
        if (!text.includes('import.meta.url')) return undefined;
        const inOut = join(OUT, relative(ROOT, path).replace(/\.ts$/, '.js'));
        const own = JSON.stringify(relative(join(OUT, folder), inOut).replaceAll(sep, '/'));
        return { loader: 'ts', contents: text.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`) };
      });
    },
  };
}
