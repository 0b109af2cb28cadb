import { expect, test } from 'vitest';
import { Messages } from './messages.ts';

const texts = (messages: Messages): string[] => messages.waiting.map((entry) => String(entry['message']));

test('a message of a repeated run has the id it had before, and is not kept twice', () => {
  const first = new Messages('run', '/rules/r', 'ann');
  first.add(0, 'INFO', 'a');
  first.add(1, 'INFO', 'b');
  const [a, b] = first.waiting.map((entry) => String(entry._id));
  first.stored(first.waiting.slice(0, 1));
  first.restart();
  first.add(0, 'INFO', 'a');
  first.add(1, 'INFO', 'b');
  expect(first.waiting.map((entry) => String(entry._id))).toEqual([b]);
  expect(new Messages('run', '/rules/r', 'ann').invocation).toBe(first.invocation);
  expect(a).not.toBe(b);
});

test('a flood is cut with one message that says so, and the error that ends the run is still kept', () => {
  const messages = new Messages('run', '/rules/r', 'ann');
  for (let k = 0; k < 50_000; k++) messages.add(k, 'INFO', 'x');
  messages.append('ERROR', 'the end');
  expect(texts(messages)).toHaveLength(10_002);
  expect(texts(messages).slice(-2)).toEqual(['Further messages of this run are not kept: more than 10000 were waiting.', 'the end']);
});

test('messages of much text are bounded by their length', () => {
  const messages = new Messages('run', '/rules/r', 'ann');
  for (let k = 0; k < 1_000; k++) messages.add(k, 'INFO', 'x'.repeat(1_000_000));
  expect(messages.waiting.length).toBeLessThan(300);
  expect(texts(messages)[0]?.length).toBe(32_769);
});
