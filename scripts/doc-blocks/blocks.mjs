// The `sh` blocks of the documents and their sessions (`$ api …`, and what it answers), and what becomes of each of their commands. Pure:
// main.mjs and the test run the script.

/** What a newcomer reads, in this order; one shell goes through all. */
export const DOCUMENTS = [
  ...['README.md', 'docs/language.md', 'docs/api.md', 'docs/sources.md', 'docs/forms.md', 'docs/federation.md', 'docs/tools.md'],
  ...[
    'docs/bench.md',
    'docs/examples.md',
    'docs/operations.md',
    'docs/clustering.md',
    'docs/security.md',
    'docs/backup.md',
    'docs/upgrade.md',
    'docs/performance.md',
    'CONTRIBUTING.md',
  ],
];

/** Programs that run for minutes or hours, write what the tests hold, or want a browser: only that they exist is looked at. */
const LONG =
  /^(test|docs|build|lint|check|format|conformance|bench|chaos|faults|mutation|flood|hostile|nightly|crosscheck|fuzz|inbox|first-tour)(:[a-z]+)?$/;

/**
 * @typedef {{ file: string, line: number, text: string, expected?: string, shown?: string }} Block `expected`: the JSON that follows it, what its
 *   last command prints; `shown`: what a session shows as the answer, with `…` for what is left out
 * @param {string} file its name, for messages
 * @param {string} text of the document
 * @returns {Block[]}
 */
export function blocksOf(file, text) {
  return [...scriptsOf(file, text), ...sessionsOf(file, text)].sort((a, b) => a.line - b.line);
}

function scriptsOf(file, text) {
  return [...text.matchAll(/^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?/gms)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length + 1,
    text: match[1],
    ...(match[2] !== undefined && { expected: match[2] }),
  }));
}

/** Each command of a block without a language that begins with one: its lines until its quotes are closed, and the answer up to the next. */
function sessionsOf(file, text) {
  return [...text.matchAll(/^```\n(\$ (?:api|curl) .*?)^```$/gms)].flatMap((match) => {
    const lines = match[1].trimEnd().split('\n');
    const first = text.slice(0, match.index).split('\n').length + 1;
    const entries = [];
    for (const [at, line] of lines.entries()) {
      const last = entries.at(-1);
      if (line.startsWith('$ ')) entries.push({ file, line: first + at, text: `${line.slice(2)}\n`, shown: '' });
      else if (last.text.split("'").length % 2 === 0) last.text += `${line}\n`;
      else last.shown += line.trim();
    }
    return entries;
  });
}

/** The lines of a block that call npm or the command line: `npm start -- --port 9000` as its words, comments left out. */
export function callsOf({ text }) {
  return text.split('\n').filter(isCall).map(wordsOf);
}

const isCall = (line) => /^(CASCADE_\w+=\S+ )*(npm|npx) /.test(line);

const wordsOf = (line) =>
  line
    .replace(/ +#.*$/, '')
    .trim()
    .split(/ +/);

/** @returns {string | undefined} the script of package.json that a call names */
export function scriptOf(words) {
  const [program, command, name] = words.filter((word) => !/^CASCADE_\w+=/.test(word));
  if (program !== 'npm') return undefined;
  return command === 'run' ? name : command;
}

/**
 * One bash script of all blocks: the output of each begins with a line `\x1eFILE:LINE`. It ends at the first command that fails.
 * @param {Block[]} blocks
 * @param {{ whole: boolean }} options `whole`: calls of npm and of the command line are made, too, the first `npm start` among them, which is
 *   the service of all that follows (another one is tried in its place for a moment). Else there is a service already, and they are left out.
 * Variables of the script: DOC_URL and CASCADE_URL (of the service), DOC_FOLDER (an empty folder), and where a service is there DOC_PASSWORD (of the
 * user admin) and DOC_CLONE (this one, built).
 */
export function toScript(blocks, { whole }) {
  let isServed = !whole;
  const lineOf = (line) => {
    if (!isCall(line)) return whole ? line : line.replace('$(npx cascade ', '$(node "$DOC_CLONE/bin/cascade.js" '); // its output is wanted
    if (!whole) return ':';
    const call = wordsOf(line).join(' ');
    const script = scriptOf(wordsOf(line));
    if (/ admin reset\b/.test(call) && !call.includes('--generate')) return ':'; // it asks at a terminal, or is about another database
    if (script === 'start' || / serve\b/.test(call)) {
      if (isServed && call === 'npm start') return ':'; // it is what is served
      if (isServed) return `doc_try ${call.replace(/--port \d+/, '--port 0')}`;
      isServed = true;
      return `doc_serve ${call}; DOC_PASSWORD=$(sed -n 's/.*password of user admin is \\([^ ]*\\).*/\\1/p' "$DOC_LOG")`;
    }
    if (/ cascade bench\b/.test(call) && !call.includes('--seconds')) return `${call} --seconds 1 --rounds 3`; // it is run, not measured
    return script && LONG.test(script) ? ':' : call;
  };
  const bodies = blocks.map((block) => {
    const text = block.text
      .split('\n')
      .map(lineOf)
      .join('\n')
      .replace(/^PASSWORD=.*$/m, 'PASSWORD=$DOC_PASSWORD');
    const here = text.replaceAll('http://localhost:8080', '$DOC_URL').replaceAll('/srv/c', '$DOC_FOLDER/srv');
    const isAsked = block.expected !== undefined || block.shown !== undefined;
    const body = isAsked ? `doc_block() {\n${block.shown === undefined ? here : ofSession(here)}\n}\ndoc_until_there` : here;
    return `printf '\\n\\x1e%s\\n' '${block.file}:${block.line}'\n${body}`;
  });
  return [PRELUDE, ...bodies, "printf '\\n\\x1e%s\\n' end", 'doc_stop'].join('\n');
}

/** In a session an id stands for that of the answer before, and the password for the one that was printed. */
function ofSession(command) {
  return command
    .replace(/\b[0-9a-f]{24}\b/g, '$DOC_ID')
    .replace('-u admin:secret123', '-u "admin:$DOC_PASSWORD"')
    .replace('…/api/v1/', '$DOC_URL/api/v1/');
}

/** What an earlier step begins (a rule after an insert) may take a moment: a block with an expected answer is asked again while it says `[]`. */
const PRELUDE = `set -euo pipefail
set -m
DOC_PID=
DOC_ID=
DOC_LOG=$DOC_FOLDER/service.log
mkdir -p "$DOC_FOLDER/srv"
(umask 077; printf '%064d\\n' 7 > "$DOC_FOLDER/srv/master.key") # as of a service that was there before
doc_serve() {
  "$@" > "$DOC_LOG" 2>&1 < /dev/null &
  DOC_PID=$!
  until grep -q 'Cascade serves on' "$DOC_LOG"; do
    kill -0 $DOC_PID 2> /dev/null || { cat "$DOC_LOG" >&2; echo "not served: $*" >&2; return 1; }
    sleep 0.2
  done
}
doc_stop() {
  [ -z "$DOC_PID" ] && return
  kill -TERM -- -$DOC_PID
  while kill -0 -- -$DOC_PID 2> /dev/null; do sleep 0.1; done
  DOC_PID=
}
doc_try() {
  doc_stop
  CASCADE_PORT=0 doc_serve "$@"
  doc_stop
  doc_serve npm start
}
doc_until_there() {
  for DOC_ATTEMPT in $(seq 100); do
    DOC_ANSWER=$(doc_block)
    [ "\${DOC_ANSWER##*$'\\n'}" = '[]' ] || break
    sleep 0.1
  done
  printf '%s\\n' "$DOC_ANSWER"
  DOC_FOUND=$(sed -n '1s/^\\[\\{0,1\\}{"_id":"\\([0-9a-f]\\{24\\}\\)".*/\\1/p' <<< "$DOC_ANSWER")
  DOC_ID=\${DOC_FOUND:-$DOC_ID}
}
trap doc_stop EXIT`;

/**
 * What is wrong with the outputs of a script that has run.
 * @param {Block[]} blocks
 * @param {string} output of the whole script
 * @returns {string[]} a line for each fault
 */
export function faultsOf(blocks, output) {
  const outputs = new Map(
    output
      .split('\n\x1e')
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
  );
  return blocks.flatMap(({ file, line, expected, shown: answer }) => {
    const place = `${file}:${line}`;
    const shown = outputs.get(place);
    if (shown === undefined) return [`${place} was not reached`];
    if (answer !== undefined) return isShown(shown.trim(), answer) ? [] : [`${place} is answered by ${shown.trim()}, not by ${answer}`];
    const error = /^\[\{"code":"[^\n]*/m.exec(shown)?.[0];
    if (error) return [`${place} was answered by an error: ${error}`];
    const last = shown.trim().split('\n').at(-1);
    if (expected === undefined || masked(last) === masked(expected)) return [];
    return [`${place} is answered by ${last}, not by ${expected.trim()}`];
  });
}

/** JSON without what differs from run to run: ids and times. */
function masked(json) {
  try {
    return JSON.stringify(JSON.parse(json), (_, value) =>
      typeof value === 'string' ? value.replace(/^[0-9a-f]{24}$/, '(id)').replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, '(time)') : value,
    );
  } catch {
    return json;
  }
}

/** Whether all that a document shows of an answer is in it, in this order; one that shows nothing is about the request. */
function isShown(actual, shown) {
  if (shown === '') return !actual.startsWith('[{"code":"');
  const text = unlike(actual);
  let at = 0;
  return unlike(shown)
    .split('…')
    .map((part) => part.trim())
    .every((part) => {
      const found = text.indexOf(part, at);
      at = found + part.length;
      return found >= 0;
    });
}

/** Without what differs from run to run. */
const unlike = (text) =>
  text
    .replace(/"[0-9a-f]{24}"/g, '"(id)"')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"(time)"')
    .replace(/"cs[st]_[^"]*"/g, '"(token)"')
    .replace(/"generatedPassword":"[^"]*"/g, '"generatedPassword":"(password)"');
