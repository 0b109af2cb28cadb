// What a statement on nodes gives, with an installation that asks and another that is three nodes, over REST requests and over standing WebSockets.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cascade as command } from '../../server/testing/fake-terminal.ts';
import { amount } from '../../scripts/testing/amount.ts';
import { type Fleet, must, openFleet, until } from './fleet.ts';
import { ALIKE, bothOf, goRound, prepareAlike, speakToItself } from './alike.ts';
import { play, SCENARIOS } from './scenarios.ts';

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ far: 'one' });
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

describe.each(['http', 'ws'] as const)('over %s', (scheme) => {
  beforeAll(() => fleet.speak(scheme));

  // spec: integrations.md 11.2 11.4 11.5 11.6 11.7 11.10; language.md D2-D8 D10 D11 D13
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    await expect(play(fleet, scenario)).resolves.toBeUndefined();
  });
});

describe('what a node gives is what the same statement gives here', () => {
  beforeAll(() => prepareAlike(fleet));
  afterAll(() => must(fleet.caller, 'DELETE', '/nodes/same', null));

  // spec: integrations.md 11.3
  describe.each((['ws', 'http'] as const).slice(0, amount(1, 2)))('over %s', (scheme) => {
    beforeAll(() => speakToItself(fleet, scheme));
    test.each(ALIKE)('%s', async (statement) => {
      const { here, there } = await bothOf(fleet, statement);
      expect(there).toEqual(here);
    });

    // spec: integrations.md 11.3
    test('installations that set each other going end after eight of them', async () => {
      expect(await goRound(fleet, `Round_${scheme}`)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });
  });
});

// spec: language.md D3 D6
test('a run that asked nodes is repeated by `replay` from its record, without asking them again', async () => {
  const { caller, near, nodes } = fleet;
  await fleet.speak('http');
  await must(caller, 'POST', '/debugconfigs', { name: 'traced', type: 'trace', value: 'enabled', resources: ['/rules/traced'] });
  await must(caller, 'POST', '/types', { name: 'Asked', properties: { uuid: { type: 'String' }, codes: { type: 'String' } } });
  const rule = `RULE traced WHEN EVENT OCCURS ON "/topics/ask" AS e
var codes = ""
SELECT FROM Bin ORDER BY code AS b PROCESSED BY ALL { codes = codes + b.code } ON ERROR (f) { codes = codes + f.error.code }
INSERT Asked(uuid: e.uuid, codes: codes)`;
  await must(caller, 'POST', '/rules', rule);
  await nodes.n2.proxy.become('refused');
  await must(caller, 'POST', '/topics//ask', { n: 1 });
  const rows = async (): Promise<{ uuid: string; codes: string }[]> =>
    JSON.parse((await caller.send('GET', '/custom/Asked')).text) as { uuid: string; codes: string }[];
  await until(async () => (await rows()).length > 0);
  for (const { proxy } of Object.values(nodes)) await proxy.become('refused');
  try {
    const [{ uuid, codes }] = (await rows()) as [{ uuid: string; codes: string }];
    expect(codes).toMatch(/^(?:ab|cascade\.federation\.unreachable){2}$/);
    const as = ['--url', near.url, '--user', near.user, '--password', near.password];
    let said = '';
    await until(async () => {
      const { code, out, err } = await command(['replay', uuid, ...as]);
      said = out + err;
      return code === 0; // it is kept a moment after its effect
    });
    for (const line of ['nodeOpen', `codes = "${codes}"`, 'as it was recorded']) expect(said).toContain(line);
    expect(await rows()).toHaveLength(1);
    const { out } = await command(['why', uuid, ...as]);
    expect(out).toMatch(/^traced runs$/m);
  } finally {
    for (const { proxy } of Object.values(nodes)) await proxy.become('open');
  }
});
