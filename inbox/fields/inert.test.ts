import { expect, test } from 'vitest';
import { inert } from './inert.ts';

const opened = async (type: string, content: string): Promise<[type: string, content: string]> => {
  const blob = inert(new Blob([content], { type }));
  return [blob.type, await blob.text()];
};

// A public document is a script of the service: the page's own policy would let it run in a document that is opened from the page.
const PROGRAM = '<script src="/ui/docs/NS/main/steal.js"></script>';

test('integrations.md 8.3: a document of HTML is opened with a policy before all else in it that lets no program run', async () => {
  for (const type of ['text/html', 'TEXT/HTML; charset=utf-16le', 'text/html;charset=utf-7']) {
    const [shown, content] = await opened(type, PROGRAM);
    expect(shown).toBe('text/html; charset=utf-8');
    expect(content).toMatch(/^<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src 'none';[^"]*"><script/);
  }
});

test.each([
  ['application/xhtml+xml', 'text/plain; charset=utf-8'],
  ['image/svg+xml', 'text/plain; charset=utf-8'],
  ['application/xml', 'text/plain; charset=utf-8'],
  ['text/xsl', 'text/plain; charset=utf-8'],
  ['text/plain', 'text/plain; charset=utf-8'],
  ['', 'application/octet-stream'],
  ['multipart/x-mixed-replace', 'application/octet-stream'],
  ['application/pdf', 'application/pdf'],
  ['image/png', 'image/png'],
  ['video/mp4', 'video/mp4'],
])('a document of %s is opened as %s', async (type, shown) => {
  expect(await opened(type, PROGRAM)).toEqual([shown, PROGRAM]);
});
