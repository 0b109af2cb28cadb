// Before each test file: a test that fails is red at its first try; only those in the quarantine list (quarantine.json: name, reason, date)
// may be tried again, and are named at the end. quarantine.test.ts holds the list short and young.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { beforeAll, type RunnerTask } from 'vitest';

const FURTHER_TRIES = 2;

const list = process.env.CASCADE_TEST_QUARANTINE ?? new URL('quarantine.json', import.meta.url);
const names = new Set((JSON.parse(readFileSync(list, 'utf8')) as { name: string }[]).map(({ name }) => name));

if (names.size > 0)
  beforeAll(({}, { file, tasks }) => {
    visit(tasks, relative(process.cwd(), file.filepath));
  });

function visit(tasks: readonly RunnerTask[], path: string): void {
  for (const task of tasks) {
    const name = `${path} > ${task.name}`;
    if (task.type === 'suite') visit(task.tasks, name);
    else if (names.has(name)) task.retry = FURTHER_TRIES;
  }
}
