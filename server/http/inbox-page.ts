// The web inbox (integrations.md 7.4) at /ui/inbox: built files (scripts/build/inbox.mjs), read once and kept in memory with their
// compressed form. The page runs only its own scripts, and connects only to this service.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { apiError } from '../../model/errors/index.ts';
import { acceptsGzip } from './headers.ts';
import { namesTag } from './ranges.ts';
import { INBOX } from './routes.ts';
import type { HttpReply, HttpRequest } from './types.ts';

/** The content security policy. Images may be from elsewhere, since forms name them; scripts, styles and connections may not. */
const policyOf = (ancestors: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: https: http:",
    "media-src 'self' blob: https: http:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');

const PERMISSIONS = 'camera=(self), microphone=(self), geolocation=(self)';
/** Cache header of files whose names contain the hash of their content, so that they never change. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const SMALLEST_COMPRESSED_BYTES = 1_024;
const PAGE = 'page.html';

interface File {
  readonly content: Buffer;
  /** null: compression would not make it shorter */
  readonly gzip: Buffer | null;
  readonly type: string;
  readonly isFixed: boolean;
  readonly tag: string;
}

export interface InboxPage {
  /** @throws cascade.resource.not.found */
  file(http: HttpRequest): HttpReply;
  /** The page with a message in it, which it shows without sending anything. @param json an object with title, category and payload */
  preview(json: string): HttpReply;
}

/** @param folder the built files: dist/inbox unless given */
export function openInboxPage(folder = join(repository(), 'dist/inbox')): InboxPage {
  const files = read(folder);
  return {
    file(http) {
      const name = http.path === INBOX ? PAGE : http.path.slice(INBOX.length + 1);
      const file = http.path !== INBOX && name === PAGE ? undefined : files.get(name);
      if (!file) throw apiError('cascade.resource.not.found', http.path);
      return reply(http, name, file);
    },
    preview(json) {
      const page = files.get(PAGE);
      if (!page) throw apiError('cascade.resource.not.found', INBOX);
      // A data block is never run; `<` is escaped, so that no text can close it.
      const data = `<script type="application/json" id="previewed">${json.replaceAll('<', '\\u003c')}</script>`;
      const body = page.content.toString('utf8').replace('<div id="inbox">', () => `${data}\n<div id="inbox">`);
      const headers = { 'Content-Security-Policy': policyOf("'self'"), 'Permissions-Policy': PERMISSIONS };
      return { status: 200, headers, body, contentType: page.type, sameOriginOnly: true };
    },
  };
}

function read(folder: string): ReadonlyMap<string, File> {
  const list = join(folder, 'files.json');
  if (!existsSync(list)) return new Map(); // not built: the rest of the service does not need it
  const listed = JSON.parse(readFileSync(list, 'utf8')) as Record<string, { type: string; isFixed: boolean }>;
  return new Map(
    Object.entries(listed).map(([name, { type, isFixed }]) => {
      const content = readFileSync(join(folder, name));
      const gzip = content.length < SMALLEST_COMPRESSED_BYTES || type === 'image/png' ? null : gzipSync(content, { level: 9 });
      const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
      return [name, { content, gzip, type, isFixed, tag }];
    }),
  );
}

function reply(http: HttpRequest, name: string, { content, gzip, type, isFixed, tag }: File): HttpReply {
  const headers: HttpReply['headers'] = {
    ETag: tag,
    'Cache-Control': isFixed ? FOR_EVER : 'no-cache',
    'Content-Security-Policy': policyOf("'none'"),
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (name === PAGE) Object.assign(headers, { 'Permissions-Policy': PERMISSIONS, 'Cross-Origin-Opener-Policy': 'same-origin' });
  if (name === 'worker.js') headers['Service-Worker-Allowed'] = INBOX;
  const ifNoneMatch = http.headers.get('if-none-match');
  if (gzip) headers.Vary = 'Accept-Encoding';
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)) return { status: 304, headers, sameOriginOnly: true };
  const isCompressed = gzip !== null && acceptsGzip(http.headers.get('accept-encoding'));
  if (isCompressed) headers['Content-Encoding'] = 'gzip';
  return { status: 200, headers, bytes: whole(isCompressed ? gzip : content), contentType: type, sameOriginOnly: true };
}

function whole(content: Buffer): NonNullable<HttpReply['bytes']> {
  let left: Buffer | null = content;
  return {
    lengthBytes: content.length,
    next: () => {
      const piece = left;
      left = null;
      return Promise.resolve(piece);
    },
    close: () => Promise.resolve(),
  };
}

/** The folder with package.json, whether this file runs from its source or from dist/. */
function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
