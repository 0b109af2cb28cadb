// Goes on under another Node: with the same arguments, environment and standard streams. Where the running Node can, this process becomes the
// other one (execve), so that signals reach it directly. An older Node, and Windows, have no such call: there the other Node is a child, signals
// are forwarded, and its end becomes ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { isatty } from 'node:tty';

/** Names the process whose part the child plays. */
const PARENT = 'CASCADE_NODE_PARENT';
const PARENT_CHECK_MS = 250;
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/**
 * @param {string} file the other Node
 * @param {{ canReplace?: boolean }} [options] whether this process may become the other one; by default where this Node is able to
 * @returns {Promise<never>}
 */
export function become(file, { canReplace = typeof process.execve === 'function' && process.platform !== 'win32' } = {}) {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  process.env.PATH = [dirname(file), process.env.PATH ?? ''].join(delimiter); // for commands that begin with `#!/usr/bin/env node`
  if (canReplace) process.execve(file, [file, ...args], process.env);
  return follow(spawn(file, args, { stdio: 'inherit', env: { ...process.env, [PARENT]: String(process.pid) } }));
}

function follow(child) {
  const forward = (signal) => {
    // Ctrl-C goes to everybody at the terminal: the child has it already, and a second one would end it without draining.
    if (signal === 'SIGINT' && isAtTerminal()) return;
    child.kill(signal);
  };
  for (const signal of FORWARDED) if (signal in constants.signals) process.on(signal, forward);
  return new Promise((_, reject) => {
    child.on('error', (error) => reject(new Error(`${child.spawnfile} could not be started: ${error.message}`)));
    child.on('exit', (code, signal) => {
      if (signal === null) process.exit(code);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
      setTimeout(() => process.exit(128 + constants.signals[signal]), 1_000); // a signal that does not end us
    });
  });
}

function isAtTerminal() {
  return [0, 1, 2].some(isatty);
}

/**
 * In a child that plays another process's part: when that one is killed, so is this one, for whoever killed it meant the service. A check of the
 * parent's number is all that a process can do about a SIGKILL that somebody else gets.
 */
export function endWithParent() {
  const parent = Number(process.env[PARENT]);
  delete process.env[PARENT];
  if (!parent) return;
  const check = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  }, PARENT_CHECK_MS);
  check.unref();
}
