import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeServer, openFakeServer } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer({ corsOrigins: '*' });
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, accept?: string, method = 'GET'): Promise<Response> =>
  fetch(server.url + path, { method, ...(accept !== undefined && { headers: { Accept: accept } }) });

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test('a browser gets a self-contained page without scripts', async () => {
  const response = await get('/', BROWSER);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = await response.text();
  expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(page).not.toMatch(/<script|\bon\w+=|https?:|\bsrc=|<link|style="/);
  const policy = response.headers.get('content-security-policy');
  const style = /<style>(.*)<\/style>/s.exec(page)![1]!;
  expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  for (const [, path] of page.matchAll(/href="([^"]*)"/g)) expect([path, (await get(path!)).status]).not.toEqual([path, 404]);
});

test('programs get the same content as JSON', async () => {
  for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/html;q=0']) {
    const response = await get('/', accept);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('vary')).toBe('Accept');
    expect(await response.json()).toMatchObject({
      service: 'cascade',
      status: 'ok',
      health: '/healthz',
      manual: '/manual/',
      inbox: '/ui/inbox',
    });
  }
});

test('HEAD has the headers of both forms', async () => {
  const page = await get('/', BROWSER, 'HEAD');
  expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([200, 'text/html; charset=utf-8', '']);
  expect((await get('/', '*/*', 'HEAD')).headers.get('content-type')).toBe('application/json');
});

test('other methods are refused', async () => {
  const response = await get('/', '*/*', 'POST');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('the manual serves the documents as plain text, and no other file', async () => {
  const pages = (await (await get('/manual/')).text()).trim().split('\n');
  expect(pages).toContain('/manual/operations.md');
  const response = await get('/manual/operations.md');
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await response.text()).toMatch(/^# Running the service/);
  for (const path of ['/manual/none.md', '/manual/../package.json', '/manual/%2e%2e/package.json', '/manual'])
    expect([path, (await server.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)).slice(9, 12)]).toEqual([path, '404']);
});
