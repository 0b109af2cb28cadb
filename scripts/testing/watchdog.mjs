// A thread beside the tests of a process. When nothing has begun or ended for long, or a file takes far too long, or the process gets neither
// another file nor its end when one is over (vitest loses the message that says so, once in many runs, and would wait for it for ever), it tells
// where the program stands, notes the file for a second try (scripts/test.mjs) and ends the process. Plain JavaScript, as a thread loads it
// without vitest.
import { appendFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { parentPort } from 'node:worker_threads';

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
  file = null;
  say(`HANGS: ${hung} (${isOver ? 'its tests are over' : `${Math.round((performance.now() - begun) / 1_000)} s`})\n`);
  for (const test of running) say(`  runs: ${test}\n`);
  await tellPlace().catch((error) => say(`  where it stands cannot be told: ${error}\n`));
  if (process.env.CASCADE_TEST_HUNG) appendFileSync(process.env.CASCADE_TEST_HUNG, `${hung}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** The frames of the main thread, or what it waits for when it does nothing. */
async function tellPlace() {
  const session = new Session();
  session.connectToMainThread();
  const post = (method, params) => new Promise((resolve) => session.post(method, params, (_, result) => resolve(result)));
  const paused = new Promise((resolve) => session.once('Debugger.paused', ({ params }) => resolve(params.callFrames)));
  const scripts = new Map();
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
  void post('Debugger.enable');
  void post('Debugger.pause');
  const frames = await within(paused);
  for (const { functionName, url, location } of frames ?? []) {
    const file = url || scripts.get(location.scriptId);
    if (!file?.includes('/node_modules/')) say(`  at ${functionName || '(anonymous)'} (${file}:${location.lineNumber + 1})\n`);
  }
  if (frames) return;
  void post('Debugger.disable'); // or the next line would be where it pauses
  const expression = 'JSON.stringify(process.getActiveResourcesInfo())';
  const evaluated = await within(post('Runtime.evaluate', { expression, returnByValue: true }));
  say(evaluated ? `  no code runs; it waits for ${evaluated.result?.value}\n` : '  it stands in native code\n');
}

const within = (answer) => Promise.race([answer, new Promise((resolve) => setTimeout(() => resolve(undefined), ANSWER_MS))]);

/** Past the streams, which pass through the main thread. */
function say(text) {
  writeSync(2, text);
}
