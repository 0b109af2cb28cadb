// The brokers that tests want, from Debian's packages: installed where that can be done without asking (Debian, as root), else they are missing.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** By the function that starts it. */
export const BROKERS = { startMosquitto: 'mosquitto', startRabbit: 'rabbitmq-server', startNats: 'nats-server' } as const;

/** While it is there and says 101, packages do not start what they have installed (Debian's invoke-rc.d). */
const POLICY = '/usr/sbin/policy-rc.d';
const FORBIDS = '#!/bin/sh\nexit 101\n';

const isThere = (program: string): boolean =>
  [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'].some((folder) => existsSync(join(folder, program)));
const missing = (): string[] => Object.values(BROKERS).filter((program) => !isThere(program));

/** @returns those that are missing still */
export function installBrokers(): string[] {
  const wanted = missing();
  if (wanted.length === 0 || process.getuid?.() !== 0 || !isThere('apt-get')) return wanted;
  console.error(`installing ${wanted.join(', ')}`);
  const hasPolicy = existsSync(POLICY);
  try {
    if (!hasPolicy) writeFileSync(POLICY, FORBIDS, { mode: 0o755 });
    const apt = (...args: string[]): void =>
      void execFileSync('apt-get', args, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...wanted);
  } catch (error) {
    console.error(`they could not be installed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    if (!hasPolicy) rmSync(POLICY, { force: true });
  }
  return missing();
}
