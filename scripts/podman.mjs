// A podman with a folder of its own for all that it makes: images, containers, volumes, networks and settings go with that folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { run } from './debian-root.mjs';

/** What must be there, and the Debian package that has it. */
const PROGRAMS = {
  podman: 'podman',
  'podman-compose': 'podman-compose',
  runc: 'runc',
  catatonit: 'catatonit',
  iptables: 'iptables',
  mmdebstrap: 'mmdebstrap',
  '/usr/lib/podman/netavark': 'netavark',
  '/usr/lib/podman/aardvark-dns': 'aardvark-dns',
};

/**
 * @param cwd the folder with compose.yaml
 * @param secrets variables for it
 * @returns what to call it by; with `obstacle`, a sentence, where containers cannot be run
 */
export function openPodman(cwd, secrets) {
  const obstacle = install();
  if (obstacle) return { obstacle };
  const folder = mkdtempSync(join(tmpdir(), 'cascade-compose-'));
  const project = basename(folder).toLowerCase();
  const env = { ...process.env, ...secrets, ...settings(folder) };
  const podman = (...args) => {
    const { status, stdout, stderr } = spawnSync('podman', args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (status !== 0) throw new Error(`podman ${args[0]} ended with ${status}: ${stderr.trim()}`);
    // Logs of a container have its standard error there.
    return args[0] === 'logs' ? stdout + stderr : stdout.trim();
  };
  const remove = () => {
    spawnSync('podman', ['rm', '--force', '--all', '--time', '0'], { env, stdio: 'ignore' });
    spawnSync('podman', ['network', 'prune', '--force'], { env, stdio: 'ignore' });
    spawnSync('umount', ['--quiet', join(folder, 'storage/overlay')], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // What is removed at the end are all containers that this podman knows: they must not be anybody else's.
    if (!podman('info', '--format', '{{.Store.GraphRoot}}').startsWith(folder))
      throw new Error('it does not keep to the folder that it is given');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return { obstacle: `podman does not work here: ${error.message}` };
  }
  return {
    folder,
    project,
    podman,
    isFine: (...args) => spawnSync('podman', args, { env, stdio: 'ignore' }).status === 0,
    compose(...args) {
      const all = ['--project-name', project, ...args];
      const { status, stdout, stderr } = spawnSync('podman-compose', all, { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 28 });
      // It goes on, and ends with 0, when podman has refused something.
      if (status !== 0 || /^exit code: (?!0)/m.test(stdout + stderr))
        throw new Error(`podman-compose ${args[0]} ended with ${status}:\n${stdout}${stderr}`);
    },
    remove,
  };
}

/** @returns why not */
function install() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return 'Containers are run by root on Linux only.';
  const missing = () => Object.keys(PROGRAMS).filter((name) => !isThere(name));
  if (missing().length === 0) return null;
  if (!isThere('apt-get')) return `There is no ${missing().join(', ')}, and no apt-get to install it.`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const packages = missing().map((name) => PROGRAMS[name]);
  console.log(`· installing ${packages.join(', ')}`);
  try {
    execFileSync('apt-get', ['update'], { env, stdio: 'ignore' });
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', ...packages], { env, stdio: 'ignore' });
  } catch (error) {
    return `${packages.join(', ')} could not be installed: ${error.message}`;
  }
  return missing().length === 0 ? null : `Of Debian's packages ${packages.join(', ')} there is still no ${missing().join(', ')}.`;
}

function isThere(program) {
  const folders = program.startsWith('/') ? [''] : [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** @returns the variables that name the files of settings, which are written here */
function settings(folder) {
  const [files, tasks] = ['n', 'u'].map((letter) => Number(run('bash', ['-c', `ulimit -H${letter}`]).replace('unlimited', 2 ** 20)));
  // crun refuses the older cgroups where some of the newer ones are there, too.
  const isOld = !existsSync('/sys/fs/cgroup/cgroup.controllers');
  // Without systemd nobody asks for health by himself, and a container with a check would not be started.
  const hasSystemd = existsSync('/run/systemd/system');
  // podman asks for more than a machine may allow, and lowers its own number of processes to that of all process ids.
  const pids = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
  const limits = [
    ['nofile', files],
    ['nproc', Math.min(tasks, pids)],
  ].map(([name, limit]) => `"${name}=${limit}:${limit}"`);
  const texts = {
    'containers.conf': `[containers]
default_ulimits = [${limits}]
[engine]
events_logger = "file"
events_logfile_path = "${folder}/events.log"
${isOld ? 'runtime = "runc"' : ''}
${hasSystemd ? '' : 'env = ["DISABLE_HC_SYSTEMD=true"]'}
volume_path = "${folder}/volumes"
tmp_dir = "${folder}/run/libpod"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`,
    'storage.conf': `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  };
}
