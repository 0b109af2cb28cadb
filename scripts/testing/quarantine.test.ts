// The quarantine list stays what it is meant to be: a few names for a few days, each with its reason.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const MOST = 5;
const DAYS = 14;

const list = JSON.parse(readFileSync(new URL('quarantine.json', import.meta.url), 'utf8')) as {
  name: string;
  reason: string;
  date: string;
}[];

test(`at most ${MOST} tests are in quarantine`, () => {
  expect(list.length).toBeLessThanOrEqual(MOST);
});

test(`each test in quarantine exists, has a reason, and left it after ${DAYS} days`, () => {
  for (const entry of list) {
    expect(Object.keys(entry).sort()).toEqual(['date', 'name', 'reason']);
    expect(entry.reason.length, entry.name).toBeGreaterThan(20);
    const [file, ...rest] = entry.name.split(' > ');
    expect(existsSync(file!), `${file} exists`).toBe(true);
    expect(readFileSync(file!, 'utf8'), entry.name).toContain(rest.at(-1));
    const days = (Date.now() - Date.parse(entry.date)) / 86_400_000;
    expect(days, `${entry.name} since ${entry.date}`).toBeLessThan(DAYS + 1);
    expect(days, `${entry.name} since ${entry.date}`).toBeGreaterThan(-1);
  }
  expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
});
