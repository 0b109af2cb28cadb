// Goes on under another Node: with the same arguments, environment and standard streams. Where the running Node can, this process becomes the
// other one (execve), so that signals reach it directly. An older Node, and Windows, have no such call: there the other Node is a child, signals
// are forwarded, and its end becomes ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';

/** Set for a process that goes on for another: the number of that one. A script may stand between the two, as version managers have them. */
const GOES_ON_FOR = 'CASCADE_NODE_GOES_ON_FOR';
const PARENT_CHECK_MS = 250;
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** Whether a process can become another one on this Node. */
export const isReplaceable = typeof process.execve === 'function' && process.platform !== 'win32';

/**
 * @param {string} file the other Node
 * @param {{ canReplace?: boolean, flags?: readonly string[] }} [options] whether this process may become the other one; by default where this
 *   Node is able to. Further flags of Node
 * @returns {Promise<never>}
 */
export function become(file, { canReplace = isReplaceable, flags = [] } = {}) {
  const args = [...flags, ...process.execArgv, ...process.argv.slice(1)];
  process.env.PATH = [dirname(file), process.env.PATH ?? ''].join(delimiter); // for commands that begin with `#!/usr/bin/env node`
  process.env[GOES_ON_FOR] = String(process.pid);
  if (canReplace) process.execve(file, [file, ...args], process.env);
  return follow(spawn(file, args, { stdio: 'inherit' }));
}

function follow(child) {
  const forward = (signal) => child.kill(signal);
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

/**
 * @returns {boolean} whether this process goes on for another, so that its Node has been chosen. Where it is a child and its parent is killed, so
 * is this one, for whoever killed that meant the program: to look is all that a process can do about a SIGKILL that somebody else gets.
 */
export function goesOn() {
  const before = Number(process.env[GOES_ON_FOR]);
  delete process.env[GOES_ON_FOR];
  if (before && process.ppid === before) {
    const check = setInterval(() => {
      if (process.ppid !== before) process.kill(process.pid, 'SIGKILL');
    }, PARENT_CHECK_MS);
    check.unref();
  }
  return before > 0;
}
