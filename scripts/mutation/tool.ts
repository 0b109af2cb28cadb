// StrykerJS: installed once below node_modules by whoever measures, since it brings more packages than everybody should install. It finds the
// vitest of the repository from there.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = '10.1.1';
const PACKAGES = ['@stryker-mutator/core', '@stryker-mutator/vitest-runner'];

export interface Tool {
  readonly program: string;
  readonly vitestRunner: string;
}

export function strykerIn(root: string, say: (line: string) => void): Tool {
  const folder = join(root, 'node_modules', '.cache', 'mutation');
  const inside = (...path: string[]) => join(folder, 'node_modules', '@stryker-mutator', ...path);
  const isThere = ['core', 'vitest-runner'].every((name) => {
    const file = inside(name, 'package.json');
    return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version === VERSION;
  });
  if (!isThere) {
    say(`Installing StrykerJS ${VERSION} (once)`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
    // Peers are those of the repository.
    const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...flags, ...PACKAGES.map((name) => `${name}@${VERSION}`)], { cwd: folder, stdio: 'inherit' });
  }
  return { program: inside('core', 'bin', 'stryker.js'), vitestRunner: inside('vitest-runner', 'dist', 'src', 'index.js') };
}
