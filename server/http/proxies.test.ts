// The address that counts for the limit of logins, for the log, and for metrics that only this machine may read.
import { expect, test } from 'vitest';
import { openFakeServer } from '../testing/fake-engine.ts';
import { openTestSocket } from '../testing/web-socket.ts';

const login = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/authenticate`, { headers: { Authorization: `Basic ${Buffer.from('ann:pass:wörd').toString('base64')}`, ...headers } });

test('failed logins count for the peer, or for the client where the peer is a trusted proxy', async () => {
  await using server = await openFakeServer();
  await login(server.url, { 'X-Forwarded-For': '1.2.3.4' });
  await using behind = await openFakeServer({ trustedProxies: 1 });
  await login(behind.url, { 'X-Forwarded-For': '6.6.6.6, 1.2.3.4' });
  await login(behind.url, { 'X-Forwarded-For': '2001:db8:1:2:3:4:5:6' });
  await using socket = await openTestSocket(behind.port, undefined, { 'X-Forwarded-For': '5.6.7.8' });
  const object = { username: 'ann', password: 'pass:wörd' };
  socket.send(JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object }));
  await socket.message(({ status }) => status === 200);
  expect(server.addresses).toEqual(['127.0.0.1']);
  expect(behind.addresses).toEqual(['1.2.3.4', '2001:db8:1:2:3:4:5:6', '5.6.7.8']);
  expect(behind.log.some((line) => line.includes('"client":"1.2.3.4"'))).toBe(true);
});

test('only programs of this machine read the metrics: not through a proxy, and not pages of other sites', async () => {
  await using server = await openFakeServer();
  const metrics = (headers: string): Promise<string> => server.raw(`GET /metrics HTTP/1.1\r\n${headers}\r\n`);
  const answer = await metrics(`Host: localhost:${server.port}\r\nOrigin: https://evil.example\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).not.toMatch(/access-control/i);
  expect(await metrics('Host: 127.0.0.1\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await metrics('Host: [::1]:80\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  for (const headers of [
    'Host: evil.example\r\n',
    'Host: a\r\n',
    'Host: localhost\r\nX-Forwarded-For: 1.2.3.4\r\n',
    'Host: localhost\r\nVia: 1.1 a\r\n',
  ])
    expect([headers, (await metrics(headers)).slice(9, 12)]).toEqual([headers, '401']);
  const preflight = await server.raw('OPTIONS /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n');
  expect(preflight).not.toMatch(/access-control/i);
});
