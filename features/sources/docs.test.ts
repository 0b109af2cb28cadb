// Holds the definitions of docs/sources.md to what the service accepts.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTestEngine } from '../../engine/testing/engine.ts';

test('each definition of docs/sources.md is accepted as written, and each program compiles', async () => {
  await using t = await openTestEngine({ masterKey: randomBytes(32) });
  const page = readFileSync(new URL('../../docs/sources.md', import.meta.url), 'utf8');
  const definitions = [...page.matchAll(/```json\n([\s\S]*?)```|--json '(.*)' \$API\/sources$/gm)].map(
    ([, text, line = '']) => text ?? line,
  );
  expect(definitions.length).toBeGreaterThanOrEqual(7);
  for (const body of definitions) await t.ask('insert', 'sources', { body });
  const programs = [...page.matchAll(/`((?:PUBLISH \{|SELECT ONE FROM SOURCE|RULE \w+ WHEN)[^`]*)`/g)]
    .map(([, text = '']) => text)
    .filter((text) => !text.includes('…'));
  expect(programs.length).toBeGreaterThanOrEqual(8);
  for (const [n, text] of programs.entries())
    if (text.startsWith('RULE')) await t.program('rules', text);
    else await t.program('procedures', `PROCEDURE example${n}()\n${text}`);
});
