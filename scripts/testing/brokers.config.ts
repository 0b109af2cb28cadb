// Tests against real brokers (mosquitto, rabbitmq-server, nats-server) and many services, a step of the nightly run: they want programs that not
// every machine has, or more of it than `npm test` should take.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'features/sources/**/*.brokers.ts',
      'scripts/cluster/*.brokers.ts',
      'conformance/federation/*.brokers.ts',
      'examples/stations/*.brokers.ts',
    ],
    globalSetup: ['scripts/testing/built.ts'],
    testTimeout: 900_000,
    hookTimeout: 300_000,
    retry: 0,
    allowOnly: false,
    fileParallelism: false,
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
  },
});
