// A bare Debian in a folder, for scripts/bare-root.mjs and scripts/compose.mjs: made by mmdebstrap, with a Node of its own, this machine's way to
// its package registry, and its mongod.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, workFolder } from './node/cache.mjs';

/** The npm that each Node brings along. */
export const NPM = { 20: 10, 22: 10, 24: 11, 26: 11 };

/** Debian's essential packages and these, made once and kept in the cache. */
export function debian(suite, packages) {
  const file = join(cacheFolder(), 'bare-root', `${suite}-${packages.join('+')}.tar`);
  if (existsSync(file)) return file;
  const work = workFolder(cacheFolder());
  try {
    const made = join(work, 'root.tar');
    run('mmdebstrap', ['--quiet', '--variant=essential', `--include=${packages}`, suite, made]);
    mkdirSync(dirname(file), { recursive: true });
    renameSync(made, file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return file;
}

export function unpack(archive, root) {
  run('tar', ['-xf', archive, '-C', root, '--exclude=./dev/*']);
}

/** @returns the version that `major` stands for */
export function installNode(root, major) {
  const work = workFolder(cacheFolder());
  try {
    writeFileSync(join(work, 'package.json'), '{"private":true}');
    const platform = `node-linux-${process.arch}`;
    run('npm', [
      'install',
      '--prefix',
      work,
      '--ignore-scripts',
      '--force',
      '--no-save',
      '--loglevel=error',
      `${platform}@${major}`,
      `npm@${NPM[major]}`,
    ]);
    const [bin, lib] = [join(root, 'usr/local/bin'), join(root, 'usr/local/lib/node_modules')];
    mkdirSync(lib, { recursive: true });
    copyFileSync(join(work, 'node_modules', platform, 'bin/node'), join(bin, 'node'));
    run('cp', ['-a', join(work, 'node_modules/npm'), lib]);
    for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
    return JSON.parse(readFileSync(join(work, 'node_modules', platform, 'package.json'), 'utf8')).version;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** By what this machine reaches its registry: names, certificates and npm's settings, without the one that points to Node's headers. */
export function bringSettings(root) {
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
    if (existsSync(file)) copyFileSync(file, join(root, file));
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
  for (const [kind, target] of [
    ['userconfig', 'root/.npmrc'],
    ['globalconfig', 'usr/local/etc/npmrc'],
  ]) {
    const file = run('npm', ['config', 'get', kind]).trim();
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    writeFileSync(join(root, target), lines.filter((line) => !/^\s*nodedir\s*=/.test(line)).join('\n'));
  }
}

/** The variables by which it does so. */
export function settings() {
  const names = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(https?|no|all)_proxy|npm_config_registry)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

export function bringMongod(root) {
  const folder = join(cacheFolder(), 'mongod');
  const kept = existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((path) => /(^|\/)mongod$/.test(path)) : [];
  const file = [process.env.CASCADE_MONGOD, ...kept.map((path) => join(folder, path))].find(Boolean);
  if (!file) throw new Error('there is no mongod to bring along: start Cascade here once, or name one with CASCADE_MONGOD');
  mkdirSync(join(root, 'opt'), { recursive: true });
  run('cp', ['-L', file, join(root, 'opt/mongod')]);
  return { CASCADE_MONGOD: '/opt/mongod' };
}

export function run(file, args) {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 });
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`${file} is not installed`);
    throw new Error(`${file} ${args[0]} ended with ${error.status ?? error.signal}`);
  }
}
