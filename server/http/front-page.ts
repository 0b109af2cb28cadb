// The page at `/`: the service's name, version and state, and links; a page for browsers, JSON for everybody else.
import { createHash } from 'node:crypto';
import type { Health } from '../../resources/api.ts';
import { weightIn } from './headers.ts';
import type { HttpReply, HttpRequest } from './types.ts';

/** Links: the text for people, the name for programs, the path. */
const LINKS = [
  ['The inbox: forms that wait for you', 'inbox', '/ui/inbox'],
  ['The manual', 'manual', '/manual/'],
  ['Description of the API (OpenAPI, with a login)', 'description', '/api/v1/openapi.json'],
  ['Description of the WebSocket (AsyncAPI, with a login)', 'events', '/api/v1/asyncapi.json'],
  ['Is it alive?', 'health', '/healthz'],
  ['Is it ready?', 'readiness', '/readyz'],
] as const;

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --link: #0550ae; --quiet: #57606a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --link: #79c0ff; --quiet: #9198a1; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { line-height: 1.2; }
a { color: var(--link); }
p, footer { color: var(--quiet); }
li { margin: 0.4rem 0; }
`;

/** The page may load nothing but its own style, named by its hash; it may not be framed, and submits no form. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const STATES: Record<Health['status'], string> = {
  ok: 'It is ready.',
  starting: 'It is starting.',
  draining: 'It is about to stop.',
  database: 'It is not ready: the database does not answer.',
};

export function frontPage(http: HttpRequest, version: string, { status }: Health): HttpReply {
  if (prefersHtml(http.headers.get('accept'))) {
    const headers = { 'Content-Security-Policy': POLICY, Vary: 'Accept' };
    return { status: 200, headers, body: page(version, STATES[status]), contentType: 'text/html; charset=utf-8', sameOriginOnly: true };
  }
  const links = Object.fromEntries(LINKS.map(([, name, path]) => [name, path]));
  return { status: 200, headers: { Vary: 'Accept' }, body: JSON.stringify({ service: 'cascade', version, status, ...links }) };
}

/** Whether JSON is named, and preferred to a page. */
export const wantsJson = (accept: string | undefined): boolean =>
  (weightIn(accept, 'application/json') ?? 0) > (weightIn(accept, 'text/html') ?? 0);

/** Whether a page is named, and preferred to JSON or equal: programs send `*` alone. */
function prefersHtml(accept: string | undefined): boolean {
  const html = weightIn(accept, 'text/html') ?? 0;
  return html > 0 && html >= (weightIn(accept, 'application/json') ?? 0);
}

const page = (version: string, state: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cascade</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Cascade</h1>
<p>An event-driven automation service runs here. ${state}</p>
<nav aria-label="Where to go on">
<ul>
${LINKS.map(([text, , path]) => `<li><a href="${path}">${text}</a></li>`).join('\n')}
</ul>
</nav>
<footer>Version ${version.replaceAll(/[^\w.+-]/g, '')}</footer>
</main>
</body>
</html>
`;
