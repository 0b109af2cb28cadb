// Tests against real brokers (mosquitto, rabbitmq-server, nats-server) and many services, a step of the nightly run: they want programs that not
// every machine has, or more of it than `npm test` should take. Brokers that are missing are installed where that can be done; what needs one that
// is missing still is named, and not run.
import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BROKERS, installBrokers } from '../brokers/install.ts';

const FILES = [
  'features/sources/**/*.brokers.ts',
  'scripts/cluster/*.brokers.ts',
  'conformance/federation/*.brokers.ts',
  'examples/stations/*.brokers.ts',
];

const missing = new Set(installBrokers());
const without: string[] = [];
for (const file of globSync(FILES)) {
  const text = readFileSync(file, 'utf8');
  const wants = Object.entries(BROKERS).flatMap(([start, program]) => (text.includes(start) && missing.has(program) ? [program] : []));
  if (wants.length === 0) continue;
  without.push(file);
  console.error(`not run, for want of ${wants.join(' and ')} (apt-get install ${wants.join(' ')}): ${file}`);
}

export default defineConfig({
  test: {
    include: FILES,
    exclude: [...without, 'node_modules/**'],
    globalSetup: ['scripts/testing/built.ts'],
    testTimeout: 900_000,
    hookTimeout: 300_000,
    retry: 0,
    allowOnly: false,
    fileParallelism: false,
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
  },
});
