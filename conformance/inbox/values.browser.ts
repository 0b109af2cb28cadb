// What is entered is what is sent: numbers and times as people of other places write them, and nothing that is half entered.
import type { Page } from 'playwright-core';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, openStage, PHONE, type Row, type Stage } from './testing/browser.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

const input = (page: Page, id: string) => page.locator(`[data-field="${id}"] input`);
const send = (page: Page) => page.locator('.footer button').click();

async function openForm(username: string, fields: readonly Row[], options: BrowserContextOptions = DESKTOP) {
  await stage.send(username, { fields }, 'Form');
  const opened = await stage.open(username, options);
  await opened.page.getByRole('link', { name: 'Form' }).click();
  await opened.page.locator('.footer button').waitFor();
  return opened;
}

async function valuesFrom(username: string): Promise<Row> {
  await expect.poll(() => stage.answersFrom(username)).toHaveLength(1);
  return (await stage.answersFrom(username))[0]?.['values'] as Row;
}

test('numbers are taken in the digits of Arabic, and a comma that may be meant in two ways is asked about', async () => {
  const fields = [
    { type: 'inputInteger', id: 'n', label: 'Count', maxValue: 5_000 },
    { type: 'inputReal', id: 'r', label: 'Weight', maxValue: 5_000 },
  ];
  const { page, context } = await openForm('arabic', fields, { ...PHONE, locale: 'ar-EG' });
  await input(page, 'n').fill('٤٢');
  await input(page, 'r').fill('٤٫٥');
  await send(page);
  expect(await valuesFrom('arabic')).toEqual({ n: 42, r: 4.5 });
  await context.close();
  const { page: english, context: other } = await openForm('english', fields, { ...DESKTOP, locale: 'en-US' });
  await input(english, 'n').fill('42');
  await input(english, 'r').fill('1,234');
  await send(english);
  await english.locator('[data-field="r"] .problem').waitFor();
  await input(english, 'r').fill('1234');
  await send(english);
  expect(await valuesFrom('english')).toEqual({ n: 42, r: 1_234 });
  await other.close();
});

test('integers keep all their digits: in what is shown, typed, chosen and pressed', async () => {
  const [LESS, LONG, MORE] = ['9007199254740992', '9007199254740993', '9223372036854775807'];
  // Written by hand: JavaScript's own would round them.
  const form = `{"responseTopic":"/inbox/reply","fields":[
    {"type":"inputInteger","id":"preset","label":"Preset","default":${LONG},"maxValue":${MORE}},
    {"type":"inputInteger","id":"typed","label":"Typed","minValue":${LONG},"maxValue":${MORE}},
    {"type":"droplist","id":"chosen","label":"Chosen","values":[{"label":"less","value":${LESS}},{"label":"long","value":${LONG}}]},
    {"type":"footerButton","buttonLabel":"Less","value":${LESS}},{"type":"footerButton","buttonLabel":"Long","value":${LONG}}]}`;
  const { page, context } = await stage.open('digits', DESKTOP);
  const headers = { 'content-type': 'application/json' };
  const sent = await stage.admin.send('POST', '/procedures/inboxSend', { text: `[null,"Digits",${form},["digits"]]`, headers });
  expect(sent.status).toBe(200);
  await page.getByRole('link', { name: 'Digits' }).click();
  await page.locator('.footer button').first().waitFor();
  expect(await input(page, 'preset').inputValue()).toBe(LONG);
  await input(page, 'typed').fill(LESS);
  await page.locator('[data-field="chosen"] select').selectOption({ label: 'long' });
  await page.getByRole('button', { name: 'Long' }).click();
  await page.locator('[data-field="typed"] .problem').getByText(`A value from ${LONG} to ${MORE} is expected.`).waitFor();
  await input(page, 'typed').fill(MORE);
  await page.getByRole('button', { name: 'Long' }).click();
  await expect.poll(() => stage.answersFrom('digits')).toHaveLength(1);
  const { text } = await stage.admin.send('GET', '/custom/Heard', { query: { where: '{"by":"digits"}' } });
  expect(text).toContain(`"submitValue":${LONG}`);
  expect(text).toMatch(new RegExp(`"preset":${LONG},"typed":${MORE},"chosen":${LONG}`));
  await context.close();
});

test('a time without a zone is shown as the one that is sent', async () => {
  const fields = [
    { type: 'datetime', id: 't', label: 'Moment', default: '2031-02-03T23:30' },
    { type: 'date', id: 'd', label: 'Day', default: '2031-02-03T00:30' },
  ];
  const { page, context } = await openForm('zoneless', fields, { ...DESKTOP, timezoneId: 'Asia/Tokyo' });
  expect([await input(page, 't').inputValue(), await input(page, 'd').inputValue()]).toEqual(['2031-02-04T08:30', '2031-02-03']);
  await send(page);
  expect(await valuesFrom('zoneless')).toEqual({ t: '2031-02-03T23:30:00.000Z', d: '2031-02-03' });
  await context.close();
});

test('times at the change of the clock, and years that the service does not have', async () => {
  const fields = ['gap', 'twice', 'far'].map((id) => ({ type: 'datetime', id, label: id }));
  const { page, context } = await openForm('clocks', fields);
  await input(page, 'gap').fill('2031-03-30T02:30');
  await input(page, 'twice').fill('2031-10-26T02:30');
  // A year has four digits: what is typed after it is the hour.
  await input(page, 'far').pressSequentially('051720311430');
  await send(page);
  // What the clock leaves out is counted on from before it; of an hour that comes twice it is the first.
  const values = { gap: '2031-03-30T01:30:00.000Z', twice: '2031-10-26T00:30:00.000Z', far: '2031-05-17T12:30:00.000Z' };
  expect(await valuesFrom('clocks')).toEqual(values);
  await context.close();
});

test('a day that is half entered is not sent as none', async () => {
  const fields = [{ type: 'date', id: 'd', label: 'Day', optional: true }];
  const { page, context } = await openForm('half', fields);
  await input(page, 'd').focus();
  await page.keyboard.type('17');
  await send(page);
  await page.locator('[data-field="d"] .problem').waitFor();
  expect(await stage.answersFrom('half')).toEqual([]);
  await input(page, 'd').fill('2031-05-17');
  expect(await page.locator('.problem').count()).toBe(0);
  await send(page);
  expect(await valuesFrom('half')).toEqual({ d: '2031-05-17' });
  await context.close();
});

test('a slider reaches both its ends, whatever they are', async () => {
  const ranges = [
    [0, 15.9],
    [-2.5, 1],
    [0.1, 0.3],
    [1e-7, 3e-7],
    [-1e6, 1e9],
  ] as const;
  const fields = ranges.map(([minValue, maxValue], at) => ({
    type: 'inputReal',
    id: `s${at}`,
    label: 's',
    flavor: 'slider',
    minValue,
    maxValue,
  }));
  const { page, context } = await openForm('slider', fields);
  for (const { id } of fields) {
    await input(page, id).focus();
    await page.keyboard.press('End');
  }
  await send(page);
  expect(await valuesFrom('slider')).toEqual(Object.fromEntries(ranges.map(([, most], at) => [`s${at}`, most])));
  await context.close();
});

test('degrees beyond the earth are found wrong, and change nothing', async () => {
  const { page, context } = await openForm('degrees', [{ type: 'map', id: 'm', label: 'Where' }]);
  await page.getByRole('button', { name: 'Show Map' }).click();
  await page.getByLabel('Longitude').fill('12,5');
  await page.getByLabel('Latitude').fill('91');
  await page.getByLabel('Latitude').blur();
  await page.getByText('A value from -90 to 90 is expected.').waitFor();
  await page.getByLabel('Latitude').fill('48.25');
  await send(page);
  expect(await valuesFrom('degrees')).toEqual({ m: { longitude: 12.5, latitude: 48.25 } });
  await context.close();
});

test('no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
