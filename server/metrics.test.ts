import { expect, test } from 'vitest';
import { fault } from '../runtime/faults.ts';
import { openFakeServer } from './testing/fake-engine.ts';
import { openTestSocket } from './testing/web-socket.ts';

test('requests, sockets and quotas are counted, by names of resources that exist', async () => {
  await using server = await openFakeServer();
  await using socket = await openTestSocket(server.port);
  await server.resource('custom/Pump');
  await server.resource('custom/Pump');
  server.answer = () => {
    throw fault('cascade.quota.exceeded', 'waitingWrites', 5);
  };
  await server.resource('custom/Pump');
  server.answer = () => {
    throw fault('cascade.resource.type.not.found', 'NoSuchThing');
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
