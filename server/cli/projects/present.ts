// Asks a service for the resources of a namespace that a project may have, too.
import type { Remote } from '../remote.ts';
import { UsageError } from '../terminal.ts';
import { isOwn, type Members, parseExact } from '../../../features/projects/index.ts';

const RESOURCES = '/api/v1/resources';
const PAGE = 1_000;

/** @throws UsageError: the caller may not see it */
export async function listed(remote: Remote, resource: string): Promise<Members[]> {
  const all: Members[] = [];
  for (let page = 1; ; page++) {
    const answer = await remote.send('GET', `${RESOURCES}/${resource}?limit=${PAGE}&page=${page}`);
    if (answer.status === 404) return []; // this service has no such resource
    if (!answer.ok) throw new UsageError(`${resource}: ${await errorIn(answer)}`);
    const rows = parseExact(await answer.text()) as Members[];
    all.push(...rows.filter((row) => !isOwn(resource, String(row['name']))));
    if (rows.length < PAGE) return all;
  }
}

/** SHA-256 of a document's content; null when it is not there. */
export async function digestAt(remote: Remote, name: string): Promise<string | null> {
  const answer = await remote.send('HEAD', contentPath(name));
  return answer.ok ? (answer.headers.get('etag')?.replaceAll('"', '') ?? null) : null;
}

export const contentPath = (name: string): string => `/docs/${name.split('/').map(encodeURIComponent).join('/')}`;

/** The errors of an answer: code and message. */
export async function errorIn(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const errors = JSON.parse(text) as { code: string; message: string }[];
    return errors.map(({ code, message }) => `${code}: ${message}`).join('; ');
  } catch {
    return `${answer.status} ${text.slice(0, 200)}`; // the answer is not from the service itself
  }
}

export { RESOURCES };
