// The images that compose.yaml and the Dockerfile begin with, under their names, made without a registry of images: of Debian's packages, the Node
// and the npm packages of the package registry, and this machine's own mongod.
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bringMongod, bringSettings, debian, installNode, run, settings, unpack } from './debian-root.mjs';

/** Of each image its packages, and what else it is: what `fill` puts in, and the settings that it returns, are as in the official one. */
const BASES = {
  node: {
    packages: ['apt', 'ca-certificates', 'libatomic1', 'libstdc++6'],
    fill(root, major) {
      installNode(root, major);
      bringSettings(root);
      run('cp', ['-a', '/etc/apt/apt.conf.d', join(root, 'etc/apt')]);
      addUser(root, 'node', 1000, '/home/node');
      return ['CMD ["node"]', ...Object.entries(settings()).map(([name, value]) => `ENV ${name}=${value}`)];
    },
  },
  mongo: {
    packages: ['ca-certificates', 'libatomic1', 'libcurl4', 'libstdc++6'],
    fill(root, major) {
      copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
      const { CASCADE_MONGOD: mongod } = bringMongod(root);
      const version = /v(\d+)/.exec(run(join(root, mongod), ['--version']))?.[1];
      if (version !== major)
        throw new Error(`the file wants MongoDB ${major}, and this machine's is ${version}: CASCADE_MONGOD names another`);
      run('npm', ['install', '--prefix', join(root, 'opt'), '--ignore-scripts', '--omit=optional', '--loglevel=error', 'mongosh@2']);
      for (const [name, at] of [
        ['mongod', mongod],
        ['mongosh', '/opt/node_modules/.bin/mongosh'],
      ])
        symlinkSync(at, join(root, 'usr/local/bin', name));
      addUser(root, 'mongodb', 999, '/data/db');
      const asUser = 'exec setpriv --reuid=mongodb --regid=mongodb --clear-groups';
      writeFileSync(
        join(root, 'usr/local/bin/docker-entrypoint.sh'),
        `#!/bin/sh -e\nchown mongodb: /data/db\nHOME=/data/db ${asUser} "$@"\n`,
        { mode: 0o755 },
      );
      return ['ENTRYPOINT ["docker-entrypoint.sh"]', 'CMD ["mongod"]', 'VOLUME /data/db'];
    },
  },
  nats: {
    packages: ['ca-certificates', 'nats-server'],
    fill: () => ['ENTRYPOINT ["/usr/sbin/nats-server"]'],
  },
};

/**
 * @param folder to work in
 * @param podman runs it with these arguments
 */
export function makeImage(image, folder, podman) {
  const [, kind, major, suite = 'bookworm'] = /([a-z]+):(\d+)(?:-([a-z]+))?/.exec(image);
  const root = mkdtempSync(join(folder, 'root-'));
  const { packages, fill } = BASES[kind];
  unpack(debian(suite, packages), root);
  const changes = fill(root, major).flatMap((change) => ['--change', change]);
  run('tar', ['-cf', `${root}.tar`, '-C', root, '.']);
  podman('import', ...changes, `${root}.tar`, image);
  for (const made of [root, `${root}.tar`]) rmSync(made, { recursive: true });
}

function addUser(root, name, id, home) {
  appendFileSync(join(root, 'etc/passwd'), `${name}:x:${id}:${id}::${home}:/bin/sh\n`);
  appendFileSync(join(root, 'etc/group'), `${name}:x:${id}:\n`);
  mkdirSync(join(root, home), { recursive: true });
  run('chown', [`${id}:${id}`, join(root, home)]);
}
