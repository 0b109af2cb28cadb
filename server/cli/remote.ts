// A client of a running service for commands: it logs in with a name and password or a token, and sends one request at a time.
import { parseExact } from '../../features/projects/index.ts';
import { type Terminal, UsageError } from './terminal.ts';

export interface RemoteOptions {
  readonly url?: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

export interface Remote {
  /** The Bearer token of its requests. */
  readonly token: string;
  /** Sends a custom command on an instance of a resource. Gives the answer as by `parseExact`. @throws UsageError with the service's message */
  command(resource: string, id: string, op: string, data: unknown): Promise<unknown>;
  /** Reads an instance likewise; null when there is none. */
  get(resource: string, id: string): Promise<Record<string, unknown> | null>;
  /** Sends any request, with a path below the service's address. @throws UsageError when the service cannot be reached */
  send(method: string, path: string, body?: NonNullable<RequestInit['body']>, contentType?: string): Promise<Response>;
}

/**
 * Absent options are taken from CASCADE_URL, CASCADE_USER, CASCADE_PASSWORD and CASCADE_TOKEN; a named user has precedence over a token of
 * the environment.
 * @param ask asks for a password that is not given; absent: there is no terminal
 */
export async function openRemote(given: RemoteOptions, ask?: Terminal['ask']): Promise<Remote> {
  const from = (value: string | undefined, name: string): string | undefined => value ?? (process.env[name] || undefined);
  const url = (from(given.url, 'CASCADE_URL') ?? 'http://localhost:8080').replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`The URL of a service begins with http:// or https://, as http://localhost:8080 does, unlike '${url}'.`);
  const user = from(given.user, 'CASCADE_USER');
  const password = async (): Promise<string | undefined> =>
    from(given.password, 'CASCADE_PASSWORD') ?? (user === undefined ? undefined : await ask?.(`Password of ${user}: `));
  const token =
    given.token ?? (given.user === undefined ? from(undefined, 'CASCADE_TOKEN') : undefined) ?? (await login(url, user, await password()));
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const address = (resource: string, id: string): string => `${url}/api/v1/resources/${resource}/${encodeURIComponent(id)}`;
  return {
    token,
    async command(resource, id, op, data) {
      const answer = await reach(address(resource, id), { method: 'POST', headers, body: JSON.stringify({ op, data }) });
      if (!answer.ok) throw new UsageError(await messageOf(answer));
      return parseExact(await answer.text());
    },
    async get(resource, id) {
      const answer = await reach(address(resource, id), { headers });
      if (answer.status === 404) return null;
      if (!answer.ok) throw new UsageError(await messageOf(answer));
      return parseExact(await answer.text()) as Record<string, unknown>;
    },
    send: (method, path, body, contentType) =>
      reach(`${url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(contentType !== undefined && { 'Content-Type': contentType }) },
        ...(body !== undefined && { body }),
      }),
  };
}

async function login(url: string, user: string | undefined, password: string | undefined): Promise<string> {
  if (user === undefined || password === undefined)
    throw new UsageError('Who asks? Give --user and --password, or --token, or set CASCADE_USER and CASCADE_PASSWORD, or CASCADE_TOKEN.');
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  const answer = await reach(`${url}/authenticate`, { headers: { Authorization: `Basic ${credentials}` } });
  if (!answer.ok) throw new UsageError(await messageOf(answer));
  const { accessToken } = (await answer.json()) as { accessToken: string };
  return accessToken;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { code, message } = (error as Error & { cause?: { code?: string; message?: string } }).cause ?? {};
    const reason = code === 'ECONNREFUSED' ? 'nothing listens there. Is the service running?' : (message ?? String(error));
    throw new UsageError(`${new URL(url).origin} does not answer: ${reason}`);
  }
}

/** The error messages of an answer. */
async function messageOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { code: string; message: string }[]).map(({ code, message }) => `${code}: ${message}`).join('\n');
  } catch {
    return `${answer.status} ${text.slice(0, 200)}`; // the answer is not from the service itself
  }
}
