import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { apiError } from '../model/errors/api-errors.ts';
import { Durations } from './durations.ts';
import { Counters } from '../resources/counters.ts';
import { openMetrics } from './metrics.ts';
import { openFakeServer } from './testing/fake-engine.ts';
import { openTestSocket } from './testing/web-socket.ts';

test('requests, sockets and quotas are counted, by names of existing resources', async () => {
  await using server = await openFakeServer();
  await using socket = await openTestSocket(server.port);
  await server.resource('custom/Pump');
  await server.resource('custom/Pump');
  server.answer = () => {
    throw apiError('cascade.quota.exceeded', 'waitingWrites', 5);
  };
  await server.resource('custom/Pump');
  server.answer = () => {
    throw apiError('cascade.resource.type.not.found', 'NoSuchThing');
  };
  await server.resource('custom/NoSuchThing');
  await fetch(`${server.url}/nowhere`);
  const response = await fetch(`${server.url}/metrics`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const text = await response.text();
  expect(text).toContain('cascade_http_requests_total{method="GET",resource="Pump",status="200"} 2');
  expect(text).toContain('cascade_http_requests_total{method="GET",resource="Pump",status="429"} 1');
  expect(text).toContain('cascade_http_requests_total{method="GET",resource="-",status="404"} 2');
  expect(text).toContain('cascade_quota_exceeded_total{quota="waitingWrites"} 1');
  expect(text).toContain('cascade_http_request_seconds_count 5');
  expect(text).toContain('cascade_ws_connections 1');
  expect(text).toContain('cascade_ws_subscriptions 0');
  expect(text).not.toContain('NoSuchThing');
  expect(socket.closeCode).toBeUndefined();
});

test('a name whose requests were refused before anybody looked for it is not recorded', async () => {
  await using server = await openFakeServer();
  await server.resource('custom/Pump');
  await server.resource('custom/Invented0?targetNamespace=elsewhere');
  for (const [i, refusal] of [
    apiError('cascade.quota.exceeded', 'requestsPerSecond', 1),
    apiError('cascade.request.id.reused', 'again'),
    apiError('cascade.server.unavailable'),
  ].entries()) {
    server.answer = () => {
      throw refusal;
    };
    await server.resource(`custom/Invented${i + 1}`);
    await server.resource('custom/Pump');
    await server.resource('types');
  }
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).not.toContain('Invented');
  expect(text).toContain('cascade_http_requests_total{method="GET",resource="-",status="403"} 1');
  for (const name of ['-', 'Pump', 'types'])
    for (const status of [429, 409, 500])
      expect(text).toContain(`cascade_http_requests_total{method="GET",resource="${name}",status="${status}"} 1`);
});

test('a service with ofProcess reports memory, processor, garbage collection and event loop, too; others do not', async () => {
  const figures = [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_gc_duration_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ];
  for (const measuresProcess of [true, false]) {
    await using server = await openFakeServer({ measuresProcess });
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(figures.filter((name) => text.includes(`# TYPE ${name} `))).toEqual(measuresProcess ? figures : []);
  }
});

test('a duration counts in its bucket and all larger ones', async () => {
  const registry = new Registry();
  const durations = new Durations('waits', 'How long', [0.01, 0.1], registry);
  for (const seconds of [0.01, 0.02, 0.1, 5]) durations.add(seconds);
  expect((await registry.metrics()).trim().split('\n')).toEqual([
    '# HELP waits How long',
    '# TYPE waits histogram',
    'waits_bucket{le="0.01"} 1',
    'waits_bucket{le="0.1"} 3',
    'waits_bucket{le="+Inf"} 4',
    'waits_sum 5.13',
    'waits_count 4',
  ]);
});

test('the present load of the engine is read with each scrape', async () => {
  const load = async () => ({ queueDepth: 3, requestsWaiting: 4, reliablePending: 5, namespacesUnavailable: 6, sources: [] });
  const text = await openMetrics({ counters: new Counters(), load }).text();
  const depths = ['cascade_queue_depth', 'cascade_requests_waiting', 'cascade_reliable_pending', 'cascade_namespaces_unavailable'];
  for (const [index, name] of depths.entries()) expect(text).toContain(`\n${name} ${index + 3}\n`);
});

test('stages of rules are histograms by namespace, rule and stage', async () => {
  const counters = new Counters();
  const load = async () => ({ queueDepth: 0, requestsWaiting: 0, reliablePending: 0, namespacesUnavailable: 0, sources: [] });
  for (const ms of [0.7, 30, 90_000]) counters.stages.of('main').add('watch', 'run_begun', ms);
  const lines = (await openMetrics({ counters, load }).text()).split('\n').filter((line) => line.startsWith('cascade_rule_stage_seconds'));
  const of = (le: string): string => `cascade_rule_stage_seconds_bucket{le="${le}",namespace="main",rule="watch",stage="run_begun"}`;
  expect(lines).toHaveLength(16);
  expect(lines).toEqual(
    expect.arrayContaining([`${of('0.001')} 1`, `${of('0.025')} 1`, `${of('0.05')} 2`, `${of('60')} 2`, `${of('+Inf')} 3`]),
  );
  expect(lines.slice(-2)).toEqual([
    'cascade_rule_stage_seconds_sum{namespace="main",rule="watch",stage="run_begun"} 90.0307',
    'cascade_rule_stage_seconds_count{namespace="main",rule="watch",stage="run_begun"} 3',
  ]);
});
