// The inbox page: inbox/ (TypeScript of the browser) to dist/inbox/. Names of files that never change hold a hash of their content, so that
// browsers keep them for ever; the page, its manifest and its service worker are asked for again. `files.json` says which is which.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

const BASE = '/ui/inbox';
const ASSETS = ['icon.svg', 'icon-192.png', 'icon-512.png', 'land.svg', 'style.css'];
const MEDIA_TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

const hashOf = (content) => createHash('sha256').update(content).digest('hex').slice(0, 12);

/**
 * @param {string} root of the repository
 * @param {(file: string, content: string | Uint8Array) => void} write into dist/, whole or not at all
 */
export async function buildInbox(root, write) {
  const esbuild = await import('esbuild');
  const common = {
    ...{ bundle: true, minify: true, format: 'esm', target: ['es2022', 'safari16'], charset: 'utf8', logLevel: 'silent', write: false },
    ...{ jsx: 'automatic', jsxImportSource: 'preact', absWorkingDir: root, metafile: true, legalComments: 'none' },
  };
  const page = await esbuild.build({
    ...common,
    entryPoints: { app: join(root, 'inbox/main.tsx') },
    splitting: true,
    outdir: '/built',
    entryNames: '[name].[hash]',
    chunkNames: 'part.[hash]',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const files = new Map();
  const keep = (name, content, isFixed) => files.set(name, { content, isFixed });
  for (const { path, contents } of page.outputFiles) keep(basename(path), contents, true);
  const script = basename(Object.entries(page.metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'inbox/main.tsx')[0]);
  const assets = {};
  for (const name of ASSETS) {
    let content = readFileSync(join(root, 'inbox/assets', name));
    if (name.endsWith('.css')) content = (await esbuild.transform(content, { loader: 'css', minify: true })).code;
    assets[name] = `${basename(name, extname(name))}.${hashOf(content)}${extname(name)}`;
    keep(assets[name], content, true);
  }
  const fixed = [...files.keys()].map((name) => `${BASE}/${name}`);
  keep('manifest.webmanifest', manifest(assets), false);
  keep('page.html', html(script, assets), false);
  const edition = hashOf([...files].map(([name, { content }]) => `${name} ${hashOf(content)}`).join('\n'));
  const worker = await esbuild.build({
    ...common,
    format: 'iife',
    entryPoints: [join(root, 'inbox/worker.ts')],
    define: { FILES: JSON.stringify([...fixed, `${BASE}/manifest.webmanifest`]), EDITION: JSON.stringify(edition) },
  });
  keep('worker.js', worker.outputFiles[0].contents, false);
  const folder = join(root, 'dist/inbox');
  const outdated = existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'files.json' && !files.has(name)) : [];
  for (const [name, { content }] of files) write(join(folder, name), content);
  const listed = [...files].map(([name, { isFixed }]) => [name, { type: MEDIA_TYPES[extname(name)], isFixed }]);
  write(join(folder, 'files.json'), JSON.stringify(Object.fromEntries(listed)));
  for (const name of outdated) rmSync(join(folder, name), { recursive: true });
}

const manifest = (assets) =>
  JSON.stringify({
    ...{ id: BASE, name: 'Cascade Inbox', short_name: 'Inbox', start_url: BASE, scope: BASE, display: 'standalone' },
    ...{ background_color: '#ffffff', theme_color: '#0b5cad' },
    icons: [
      { src: `${BASE}/${assets['icon.svg']}`, sizes: 'any', type: 'image/svg+xml' },
      { src: `${BASE}/${assets['icon-192.png']}`, sizes: '192x192', type: 'image/png' },
      { src: `${BASE}/${assets['icon-512.png']}`, sizes: '512x512', type: 'image/png' },
    ],
  });

const html = (script, assets) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#0b5cad">
<title>Inbox</title>
<link rel="stylesheet" href="${BASE}/${assets['style.css']}">
<link rel="manifest" href="${BASE}/manifest.webmanifest">
<link rel="icon" href="${BASE}/${assets['icon.svg']}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${BASE}/${assets['icon-192.png']}">
<link rel="x-land" href="${BASE}/${assets['land.svg']}">
<script type="module" src="${BASE}/${script}"></script>
</head>
<body>
<div id="inbox"></div>
<noscript>The inbox needs JavaScript.</noscript>
</body>
</html>
`;
