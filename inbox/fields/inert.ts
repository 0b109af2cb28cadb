// Documents that are opened in a tab have this page's origin, and with it the person's login: no program of theirs runs there, whoever has
// uploaded them. The policy of the page goes along with its blobs, but allows scripts of the service, of which a public document is one.

/** Shown as they are: nothing in them runs. */
const STILL = /^(?:application\/pdf|image\/(?:png|jpeg|gif|webp|avif|bmp)|(?:audio|video)\/[a-z0-9.+-]+)$/;
const POLICY = "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";
const HEAD = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`;

/** The document as it may be opened: HTML without programs, other text as text, what is not known as a download. */
export function inert(document: Blob): Blob {
  const [type = ''] = document.type.toLowerCase().split(';', 1);
  const essence = type.trim();
  if (STILL.test(essence)) return new Blob([document], { type: essence });
  // Of another charset the head would be other characters.
  if (essence === 'text/html') return new Blob([HEAD, document], { type: 'text/html; charset=utf-8' });
  const isText = essence.startsWith('text/') || /[/+](?:xml|json|javascript)$/.test(essence);
  return new Blob([document], { type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream' });
}
