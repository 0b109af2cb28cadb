// The steps of a WebSocket (resources-and-api.md 2.15 to 2.17, 8.4).
import { type Json, type JsonObject, parseJson, requestIdOf, SocketClient, toJsonText } from '../client/index.ts';
import { type StepKind, toJson, type Wanted, type WantedObject } from './case-file.ts';
import { mismatch } from './match.ts';
import { check, Failure, numberText as textOf, type Scene } from './scene.ts';

const LOGINS = new Set(['authenticate', 'validate']);
let nextId = 0;

export const socketSteps: Record<
  StepKind & ('connect' | 'ask' | 'tell' | 'hear' | 'closed'),
  (scene: Scene, body: WantedObject) => Promise<void>
> = {
  connect: async (scene, body) => {
    const socket = await SocketClient.open(scene.rest.base, body.framing === 'sockjs' ? 'sockjs' : 'raw');
    scene.sockets.get(nameOf(body.as))?.close();
    scene.sockets.set(nameOf(body.as), socket);
    if (body.login !== false) await logIn(socket, scene.rest.token);
  },
  ask: async (scene, body) => {
    const { names } = scene;
    const socket = socketOf(scene, body.on);
    const isLogin = LOGINS.has(String(body.op));
    const given = toJson(body.parameters ?? {}) as JsonObject;
    const requestId = given.requestId ?? (isLogin ? undefined : `ask${nextId++}`);
    const parameters = { ...given, ...(requestId === undefined ? {} : { requestId }) };
    const parts = ['op', 'resourceName', 'resourceId', 'object', 'targetNamespace', 'targetName'].filter(
      (name) => body[name] !== undefined,
    );
    const message = { ...Object.fromEntries(parts.map((name) => [name, toJson(body[name]!)])), parameters };
    socket.send(names.toServer(toJsonText(message)));
    const sent = requestId === undefined ? undefined : parseJson(names.toServer(toJsonText(requestId)));
    const wanted = (text: string): boolean => (isLogin ? requestIdOf(text) === undefined : same(requestIdOf(text), sent) && !isEvent(text));
    const { text } = await taken(socket, wanted, `the answer to ${String(body.op)}`);
    const answer = read(names.fromServer(text));
    const headers = isLogin ? undefined : (body.headers ?? (requestId === undefined ? {} : { 'X-Request-Id': requestId as Wanted }));
    const difference =
      headers === undefined
        ? answer.headers === undefined
          ? undefined
          : 'there are headers'
        : mismatch(headers, answer.headers, true, 'headers');
    if (difference) throw new Failure(`${difference} in ${text}`);
    const errors = mismatch(answer.errors ?? null, statusOf(answer) >= 400 ? answer.body : null, true, 'body');
    if (errors) throw new Failure(`body and errors differ: ${text}`);
    const shown = answer.body === undefined ? '' : toJsonText(answer.body);
    if ((answer.contentType === 'application/json') !== (answer.body !== undefined))
      throw new Failure(`a body and its contentType come together: ${text}`);
    check(scene, body, { status: statusOf(answer), headers: {}, text: shown, json: () => answer.body ?? null }, 200);
  },
  tell: async (scene, { on, message, text, frame, binary }) => {
    const socket = socketOf(scene, on);
    if (frame !== undefined) return socket.sendFrame(scene.names.toServer(String(frame)), binary === true);
    socket.send(scene.names.toServer(message === undefined ? String(text) : toJsonText(toJson(message))), binary === true);
  },
  hear: async (scene, { on, requestId, is, value, as, binary, frame, withinMs }) => {
    const socket = socketOf(scene, on);
    const limit = withinMs === undefined ? undefined : Number(textOf(withinMs));
    const wanted = (text: string): boolean =>
      requestId === undefined || same(requestIdOf(text), parseJson(scene.names.toServer(toJsonText(toJson(requestId)))));
    if (frame !== undefined) return expectFrame(socket, frame, limit);
    const message = await taken(socket, wanted, 'a message', limit);
    if (binary !== undefined && binary !== message.binary) throw new Failure(`the frame is ${message.binary ? 'binary' : 'text'}`);
    const answer = read(scene.names.fromServer(message.text));
    const difference =
      (is === undefined ? undefined : mismatch(is, answer, false)) ?? (value === undefined ? undefined : mismatch(value, answer, true));
    if (difference) throw new Failure(`${difference} in ${message.text.slice(0, 600)}`);
    if (as !== undefined) scene.kept.set(String(as), answer);
  },
  closed: async (scene, { on, code, withinMs }) => {
    const came = await attempt(() => socketOf(scene, on).closed(withinMs === undefined ? undefined : Number(textOf(withinMs))));
    if (String(came) !== textOf(code ?? null)) throw new Failure(`the socket was closed with ${came}, wanted ${textOf(code ?? null)}`);
  },
};

/** Logs a socket in by the token of the suite's session. */
export async function logIn(socket: SocketClient, token: string | undefined): Promise<void> {
  socket.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token ?? '' }));
  const { text } = await taken(socket, (one) => requestIdOf(one) === undefined, 'the answer to the login');
  if (statusOf(read(text)) !== 200) throw new Failure(`the login of a socket was refused: ${text}`);
}

/** Frames are looked for from the beginning: a case names few, and each once. */
async function expectFrame(socket: SocketClient, frame: Wanted, withinMs = 30_000): Promise<void> {
  for (const last = performance.now() + withinMs; ; await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (socket.frames.some(({ text }) => mismatch(frame, text, true) === undefined)) return;
    if (performance.now() > last)
      throw new Failure(`the frame did not come; came: ${socket.frames.map(({ text }) => text.slice(0, 200)).join(' ')}`);
  }
}

const nameOf = (name: Wanted | undefined): string => (name === undefined ? 'socket' : String(name));

function socketOf(scene: Scene, name: Wanted | undefined): SocketClient {
  const socket = scene.sockets.get(nameOf(name));
  if (!socket) throw new Failure(`there is no socket '${nameOf(name)}': connect it first`);
  return socket;
}

const taken = (socket: SocketClient, wanted: (text: string) => boolean, what: string, withinMs?: number) =>
  attempt(() => socket.take(({ text }) => wanted(text), what, withinMs));

/** What a socket does not do is the server's failure, not the runner's. */
async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure((error as Error).message);
  }
}

function read(text: string): JsonObject {
  return parseJson(text) as JsonObject;
}

const isEvent = (text: string): boolean => statusOf(read(text)) === 100;
const statusOf = ({ status }: JsonObject): number => Number(textOf(status ?? null));
const same = (one: Json | undefined, other: Json | undefined): boolean =>
  one !== undefined && other !== undefined && toJsonText(one) === toJsonText(other);
