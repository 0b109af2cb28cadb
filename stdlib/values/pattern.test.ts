import { expect, test } from 'vitest';
import { Pattern, type SearchBounds } from './index.ts';

/** Bounds that write down what is announced. */
function recording(steps = 1_000_000): SearchBounds & { readonly announced: number[] } {
  const announced: number[] = [];
  return { announced, patternSteps: () => steps, spend: (turns) => announced.push(turns) };
}
const refusing: SearchBounds = {
  patternSteps: () => 1_000_000,
  spend: (turns) => {
    if (turns > 200_000) throw new RangeError('refused');
  },
};

// spec: builtins.md 4; language.md W7
test('a search in a long text is announced before it begins, whichever engine makes it', () => {
  for (const source of ['(?=x)y', '(?:(?=a)a)*b', 'x+y'])
    expect(() => Pattern.of(source, refusing).within(refusing, 'search', 'a'.repeat(200_000), () => expect.unreachable())).toThrow(
      'refused',
    );
});

test('what a search that backtracks takes above its estimate is announced behind it, also where it is stopped', () => {
  const text = `${'a'.repeat(25)}!`;
  const bounds = recording(20_000);
  const pattern = Pattern.of('(a+)+(?=b)', recording());
  expect(() => pattern.within(bounds, 'search', text, (patience) => pattern.test(text, patience))).toThrow(
    expect.objectContaining({ code: 'cascade.builtin.timeout' }) as Error,
  );
  expect(bounds.announced[0]).toBe(pattern.turns(text));
  expect(bounds.announced[0]! + bounds.announced[1]!).toBeCloseTo(5_000, -1);
});

test('the steps of a search that has come to its end are announced, too, and no more than the bound are made in a long text', () => {
  const [text, bounds] = ['a'.repeat(100), recording()];
  const pattern = Pattern.of('(?:(?:(?=a)a)*b)?$', recording());
  expect(pattern.within(bounds, 'search', text, (patience) => pattern.test(text, patience))).toBe(true);
  expect(bounds.announced.reduce((sum, turns) => sum + turns)).toBeGreaterThan(10_000);
  expect(() => pattern.test(text, { left: 5_000, of: 'search' })).toThrow(
    expect.objectContaining({ code: 'cascade.builtin.timeout' }) as Error,
  );
});

test('that a long pattern takes long to compile is announced before, each time that it is not kept', () => {
  expect(() => Pattern.of(`(?=a)${'\\d'.repeat(10_000)}`, refusing)).toThrow('refused');
  const bounds = recording();
  for (let i = 0; i < 2; i++) Pattern.of('[a-z]kept', bounds);
  expect(bounds.announced).toHaveLength(1);
  for (let i = 0; i < 2; i++) Pattern.of('b'.repeat(1_001), bounds);
  expect(bounds.announced).toHaveLength(3);
  const long = `${'a'.repeat(39)}${'😀'.repeat(16_400)}`;
  expect(() => Pattern.of(long, bounds)).toThrow(
    expect.objectContaining({ code: 'cascade.builtin.pattern', params: [`${'a'.repeat(39)}…`, 32_768] }) as Error,
  );
});

test('counts in a pattern that is short take long, too, and have an end', () => {
  expect(() => Pattern.of('a{1000}'.repeat(20), refusing)).toThrow('refused');
  for (const source of ['a{1000}'.repeat(101), '(?:[a-z]{30}){30}'.repeat(120)])
    expect(() => new Pattern(source)).toThrow(
      expect.objectContaining({ code: 'cascade.builtin.pattern', params: [source, source.length] }) as Error,
    );
});

test('patterns that come to much are not kept together', () => {
  const bounds = recording();
  for (let i = 0; i < 5; i++) Pattern.of(`(?=a)(?:a{300}){300}${i}`, bounds); // 90,000 instructions each
  Pattern.of('(?=a)(?:a{300}){300}4', bounds);
  expect(bounds.announced).toHaveLength(5);
  Pattern.of('(?=a)(?:a{300}){300}0', bounds);
  expect(bounds.announced).toHaveLength(6);
});
