// The sandbox process with a hole: what came in through it runs beside the lanes, on SIGUSR2, with no permission model of Node in its way.
// Arguments: the built entry of the process, the native module (or ''), the service's process id,
// a port of the machine that answers.
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

const [entry, native, service, port] = process.argv.slice(2);
const attack = native ? createRequire(import.meta.url)(native) : () => '';
const eventOf = (emitter, good) =>
  new Promise((resolve, reject) => {
    emitter.once(good, () => resolve());
    emitter.once('error', reject);
  });

const script = {
  'script reads a file': () => openSync('/etc/passwd'),
  'script reads code': () => readFileSync(process.execPath),
  'script lists a folder': () => readdirSync('/usr'),
  'script sees a variable': () => {
    if (Object.keys(process.env).some((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))) return;
    throw new Error('none');
  },
  'script runs a program': () => {
    const { status, error } = spawnSync('/bin/true');
    if (status !== 0) throw error ?? new Error(`status ${status}`);
  },
  'script connects': () => eventOf(connect(Number(port), '127.0.0.1'), 'connect'),
  'script listens': () => eventOf(createServer().listen(0), 'listening'),
  'script starts a thread that reads a file': () =>
    eventOf(new Worker('require("fs").readFileSync("/etc/passwd")', { eval: true, execArgv: [] }), 'exit'),
};

process.on('SIGUSR2', async () => {
  const found = [attack(Number(service)).trim()];
  for (const [what, attempt] of Object.entries(script)) {
    const got = await Promise.resolve()
      .then(attempt)
      .then(
        () => 'done',
        (error) => error.code ?? error.message,
      );
    found.push(`${what}=${got}`);
  }
  process.stderr.write(`HOLE\n${found.filter(Boolean).join('\n')}\nEND\n`);
});

await import(entry);
