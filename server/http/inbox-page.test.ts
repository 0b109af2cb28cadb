// How the page of the inbox is served; conformance/inbox tries in a browser what it does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeServer, openFakeServer } from '../testing/fake-engine.ts';
import { openInboxPage } from './inbox-page.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer({ corsOrigins: '*' });
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(server.url + path, { method, headers });

const policyOf = (response: Response): string => response.headers.get('content-security-policy') ?? '';

test('the page names its files by their hashes and runs no inline script', async () => {
  const response = await get('/ui/inbox');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(policyOf(response)).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'$/);
  expect(response.headers.get('permissions-policy')).toContain('camera=(self)');
  const page = await response.text();
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\bon\w+=|style="|https?:/);
  const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path as string);
  expect(files.length).toBeGreaterThan(4);
  for (const path of files) {
    const file = await get(path);
    expect([path, file.status]).toEqual([path, 200]);
    const caching = path.endsWith('.webmanifest') ? 'no-cache' : 'public, max-age=31536000, immutable';
    expect([path, file.headers.get('cache-control')]).toEqual([path, caching]);
    await file.arrayBuffer();
  }
});

test('a file that the client has already is not sent again; HEAD has its length', async () => {
  const first = await get('/ui/inbox');
  await first.text();
  const tag = first.headers.get('etag') ?? '';
  expect((await get('/ui/inbox', { 'If-None-Match': tag })).status).toBe(304);
  const head = await get('/ui/inbox', { 'Accept-Encoding': 'identity' }, 'HEAD');
  expect([head.status, Number(head.headers.get('content-length')) > 500]).toEqual([200, true]);
});

test('the service worker may control the page, and knows all files', async () => {
  const worker = await get('/ui/inbox/worker.js');
  expect(worker.headers.get('service-worker-allowed')).toBe('/ui/inbox');
  expect(worker.headers.get('cache-control')).toBe('no-cache');
  const script = /src="([^"]+)"/.exec(await (await get('/ui/inbox')).text())?.[1];
  expect(await worker.text()).toContain(script);
});

test('other paths are not found', async () => {
  for (const path of [
    '/ui/inbox/',
    '/ui/inbox/page.html',
    '/ui/inbox/files.json',
    '/ui/inbox/../package.json',
    '/ui/inbox/%2e%2e/x',
    '/ui',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  const response = await get('/ui/inbox', {}, 'POST');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('a preview embeds its message as data that no text in it can close', () => {
  const json = JSON.stringify({ title: '</script><script>alert(1)</script>$&', category: '', payload: {} });
  const { body = '', headers } = openInboxPage().preview(json);
  expect(body.match(/<script/g)).toHaveLength(2);
  const data = /id="previewed">(.*?)<\/script>/s.exec(body)?.[1] ?? '';
  expect(JSON.parse(data)).toEqual(JSON.parse(json));
  expect(headers?.['Content-Security-Policy']).toContain("frame-ancestors 'self'");
});

test('page, script and styles are less than 40 kB compressed', () => {
  const folder = join(import.meta.dirname, '../../dist/inbox');
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  const files = [...page.matchAll(/(?:href|src)="\/ui\/inbox\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name as string);
  const parts = files.flatMap((name) => [name, ...importsOf(readFileSync(join(folder, name), 'utf8'))]);
  const bytes = [...new Set(['page.html', ...parts])].map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(40_000);
});

/** The modules that a script imports. */
const importsOf = (script: string): string[] => [...script.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, name]) => name as string);
