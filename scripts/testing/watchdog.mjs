// A thread beside the tests of a process. When nothing has begun or ended for long, or a file takes far too long, or the process gets neither
// another file nor its end when one is over, it says where the program stands, notes what it saw in the folder of the run (judge.mjs) and ends
// the process. Plain JavaScript, as a thread loads it without vitest.
import { appendFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const seconds = (name, otherwise) => Number(process.env[name] ?? otherwise) * 1_000;
/** More than the longest that a test may take (vitest.config.ts). */
const SILENCE_MS = seconds('CASCADE_TEST_SILENCE_S', 330);
const FILE_MS = seconds('CASCADE_TEST_FILE_S', 900);
/** From the end of a file to the next one, or to the end of the process. */
const AFTER_MS = seconds('CASCADE_TEST_AFTER_S', 60);
/** For the main thread to say where it stands. */
const ANSWER_MS = 5_000;

let file = null;
let isOver = false;
let begun = 0;
let last = 0;
const running = new Set();

parentPort.on('message', (message) => {
  last = performance.now();
  if (message.file) {
    file = message.file;
    isOver = false;
    begun = last;
    running.clear();
  } else if (message.isOver) isOver = true;
  else if (message.begun) running.add(message.begun);
  else running.delete(message.ended);
});

setInterval(() => {
  const now = performance.now();
  if (file === null) return;
  if (isOver ? now - last > AFTER_MS : now - last > SILENCE_MS || now - begun > FILE_MS) void giveUp();
}, 1_000);

async function giveUp() {
  const hung = file;
  const tests = [...running];
  file = null;
  say(`HANGS: ${hung} (${isOver ? 'its tests are over' : `${Math.round((performance.now() - begun) / 1_000)} s`})\n`);
  for (const test of tests) say(`  runs: ${test}\n`);
  const place = await findPlace().catch((error) => ({ frames: [`its place cannot be told: ${error}`] }));
  for (const line of place.frames ?? []) say(`  ${line}\n`);
  if (place.idle) say(`  no code runs; open: ${place.idle.open.join(', ')}; its channel to vitest: ${place.idle.channel}\n`);
  note(isOver ? { file: hung, ...afterItsEnd(place) } : { file: hung, kind: 'hung', detail: tests.join(', ') });
  process.kill(process.pid, 'SIGKILL');
}

/** Once its tests are over, a process that runs nothing and holds nothing open but what vitest gave it only waits for a message of vitest. */
function afterItsEnd({ idle }) {
  if (!idle) return { kind: 'blocked' };
  const left = [...idle.open];
  // Requests on the channel itself, and the timer of no one: what a lost message leaves behind.
  for (const kind of [...workerData.open, 'WriteWrap', 'PipeWrap']) if (left.includes(kind)) left.splice(left.indexOf(kind), 1);
  return left.length === 0 ? { kind: 'idle', detail: idle.channel } : { kind: 'open', detail: left.join(', ') };
}

function note(entry) {
  const folder = process.env.CASCADE_TEST_CHANNEL;
  if (folder) appendFileSync(join(folder, 'given-up'), `${JSON.stringify(entry)}\n`);
}

/** The frames of the main thread, or, when it runs nothing, what keeps it alive and the state of its channel to vitest. */
async function findPlace() {
  const session = new Session();
  session.connectToMainThread();
  const post = (method, params) => new Promise((resolve) => session.post(method, params, (_, result) => resolve(result)));
  const paused = new Promise((resolve) => session.once('Debugger.paused', ({ params }) => resolve(params.callFrames)));
  const scripts = new Map();
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
  void post('Debugger.enable');
  void post('Debugger.pause');
  const frames = (await within(paused))?.map(({ functionName, url, location }) => {
    const of = url || scripts.get(location.scriptId);
    return { of, text: `at ${functionName || '(anonymous)'} (${of}:${location.lineNumber + 1})` };
  });
  const ours = frames?.filter(({ of }) => !of?.includes('/node_modules/') && !of?.startsWith('node:'));
  if (ours?.length) return { frames: ours.map(({ text }) => text) };
  void post('Debugger.disable'); // or the next line would be where it pauses
  const evaluated = await within(post('Runtime.evaluate', { expression: `(${lookAround})()`, returnByValue: true }));
  if (evaluated) return { idle: JSON.parse(evaluated.result.value) };
  return { frames: frames?.map(({ text }) => text) ?? ['it stands in native code'] };
}

/** Runs in the main thread. */
function lookAround() {
  const symbol = (owner, name) => Object.getOwnPropertySymbols(owner ?? {}).find(({ description }) => description === name);
  const channel = process[symbol(process, 'kChannelHandle')];
  const waiting = `${channel?.writeQueueSize} bytes to write, ${channel?.[symbol(channel, 'kMessageBufferSize')]} bytes of a message read`;
  return JSON.stringify({ open: process.getActiveResourcesInfo(), channel: waiting });
}

const within = (answer) => Promise.race([answer, new Promise((resolve) => setTimeout(() => resolve(undefined), ANSWER_MS))]);

/** Past the streams, which pass through the main thread. */
function say(text) {
  writeSync(2, text);
}
