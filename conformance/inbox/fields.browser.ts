// Every type of field in a real browser: by mouse, by touch, by keyboard alone.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_FIELDS } from './all-fields.ts';
import { DESKTOP, openStage, PHONE, PLACE, type Row, shot, type Stage } from './testing/browser.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

type Press = (target: Locator) => Promise<void>;

/** Fills all fields; what is typed is typed, what is pressed is pressed in the given way. */
async function fillAll(page: Page, press: Press, draw: () => Promise<void>, pickPlace: () => Promise<void>): Promise<void> {
  const dialog = page.locator('dialog[open]');
  const field = (id: string): Locator => page.locator(`[data-field="${id}"]`);
  for (const id of ['audio', 'video']) {
    await press(field(id).getByRole('button').first());
    await press(dialog.getByRole('button', { name: 'Record' }));
    await dialog.getByText(/^Recording: 1/).waitFor();
    await press(dialog.getByRole('button', { name: 'Stop' }));
    await expect.poll(() => field(id).locator(id).count()).toBe(1);
  }
  await press(field('barcode').getByRole('button'));
  await dialog.locator('input').fill('4006381333931');
  await press(dialog.getByRole('button', { name: 'Use this' }));
  await press(field('camera').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Take Photo' }));
  await expect.poll(() => field('camera').locator('img').count()).toBe(1);
  await press(field('checkbox').locator('input'));
  await field('date').locator('input').fill('2031-05-17');
  await field('datetime').locator('input').fill('2031-05-17T14:30');
  await field('droplist').locator('select').selectOption({ label: 'y' });
  await field('integer').locator('input').fill('42');
  await field('slider').locator('input').fill('13');
  await field('real').locator('input').fill('-1,5');
  await field('string').locator('input').fill('rust at the joint');
  await field('lines').locator('textarea').fill('one\ntwo');
  await press(field('map').getByRole('button', { name: 'Show Map' }));
  await pickPlace();
  await press(field('markup').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Take Photo' }));
  await dialog.locator('canvas').waitFor();
  await draw();
  await press(dialog.getByRole('button', { name: 'Use this' }));
  await expect.poll(() => field('markup').locator('img').count()).toBe(1);
  await press(field('radio').getByLabel('Two'));
}

function expectAnswer(answer: Row | undefined): void {
  const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
  expect(answer).toMatchObject({ submitValue: 3, responseTopic: '/inbox/reply' });
  expect(answer?.['values']).toEqual({
    audio: expect.stringMatching(new RegExp(`^rcs/audio/${uuid}\\.m4a$`)),
    barcode: '4006381333931',
    camera: expect.stringMatching(new RegExp(`^rcs/image/${uuid}\\.jpg$`)),
    checkbox: true,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    here: PLACE,
    date: '2031-05-17',
    datetime: '2031-05-17T12:30:00.000Z',
    droplist: 'y',
    integer: 42,
    slider: 13,
    real: -1.5,
    string: 'rust at the joint',
    lines: 'one\ntwo',
    map: { longitude: expect.any(Number), latitude: expect.any(Number) },
    markup: expect.stringMatching(new RegExp(`^rcs/image/${uuid}\\.jpg$`)),
    radio: 2,
    video: expect.stringMatching(new RegExp(`^rcs/video/${uuid}\\.mp4$`)),
  });
}

async function answerOnce(username: string): Promise<Row | undefined> {
  await expect.poll(() => stage.answersFrom(username)).toHaveLength(1);
  return (await stage.answersFrom(username))[0];
}

test('all 24 types are filled and sent with the mouse', async () => {
  await stage.send('mouse', { fields: ALL_FIELDS }, 'All fields');
  const { page, context } = await stage.open('mouse', DESKTOP);
  await shot(page, 'list-1280');
  await page.getByRole('link', { name: /All fields/ }).click();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  await shot(page, 'form-empty-1280');
  const map = page.locator('.map-box');
  const canvas = page.locator('dialog canvas');
  await fillAll(
    page,
    (target) => target.click(),
    async () => {
      const box = (await canvas.boundingBox())!;
      await page.mouse.move(box.x + 20, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + 80, box.y + 60, { steps: 5 });
      await page.mouse.up();
      await shot(page, 'markup-1280');
    },
    () => map.click({ position: { x: 50, y: 50 } }),
  );
  await shot(page, 'form-filled-1280');
  await page.getByRole('button', { name: 'Send it' }).click();
  const answer = await answerOnce('mouse');
  expectAnswer(answer);
  for (const name of ['audio', 'camera', 'markup', 'video']) {
    const path = `/docs/${String((answer?.['values'] as Row)[name])}`;
    const response = await stage.admin.send('GET', path);
    expect([name, response.status, Number(response.headers['content-length']) > 100]).toEqual([name, 200, true]);
  }
  await context.close();
});

test('all 24 types are filled and sent by touch', async () => {
  await stage.send('touch', { fields: ALL_FIELDS }, 'All fields');
  const { page, context } = await stage.open('touch', PHONE);
  await shot(page, 'list-390');
  await page.getByRole('link', { name: /All fields/ }).tap();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  await shot(page, 'form-empty-390');
  await page.getByRole('button', { name: 'Send it' }).tap();
  await page.getByRole('alert').waitFor();
  await shot(page, 'form-problems-390');
  await fillAll(
    page,
    (target) => target.tap(),
    () => page.locator('dialog canvas').tap({ position: { x: 30, y: 30 } }),
    () => page.locator('.map-box').tap({ position: { x: 50, y: 50 } }),
  );
  await shot(page, 'form-filled-390');
  await page.getByRole('button', { name: 'Send it' }).tap();
  expectAnswer(await answerOnce('touch'));
  await context.close();
});

test('all 24 types are filled and sent with the keyboard alone', async () => {
  await stage.send('keys', { fields: ALL_FIELDS }, 'All fields');
  const { page, context } = await stage.open('keys', DESKTOP);
  const reach: Press = async (target) => {
    // By the tabulator, as long as it takes: what cannot be reached so, cannot be filled.
    for (let presses = 0; presses < 120; presses++) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`not reached by keyboard: ${String(target)}`);
  };
  const press: Press = async (target) => {
    await target.waitFor({ state: 'attached' });
    await reach(target);
    const isInput = await target.evaluate((element) => element.tagName === 'INPUT');
    await page.keyboard.press(isInput ? 'Space' : 'Enter');
  };
  await press(page.getByRole('link', { name: /All fields/ }));
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  const field = (id: string): Locator => page.locator(`[data-field="${id}"]`);
  const type = async (target: Locator, text: string): Promise<void> => {
    await reach(target);
    await page.keyboard.type(text);
  };
  const dialog = page.locator('dialog[open]');
  await press(field('audio').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Record' }));
  await dialog.getByText(/^Recording: 1/).waitFor();
  await press(dialog.getByRole('button', { name: 'Stop' }));
  await expect.poll(() => field('audio').locator('audio').count()).toBe(1);
  await type(field('barcode').locator('input'), '4006381333931');
  await press(field('camera').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Take Photo' }));
  await expect.poll(() => field('camera').locator('img').count()).toBe(1);
  await press(field('checkbox').locator('input'));
  await type(field('date').locator('input'), '05172031');
  await type(field('datetime').locator('input'), '051720311430');
  await reach(field('droplist').locator('select'));
  await page.keyboard.type('y');
  await type(field('integer').locator('input'), '42');
  await reach(field('slider').locator('input'));
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
  await type(field('real').locator('input'), '-1.5');
  await type(field('string').locator('input'), 'rust at the joint');
  await type(field('lines').locator('textarea'), 'one\ntwo');
  await press(field('map').getByRole('button', { name: 'Show Map' }));
  await page.locator('.map-box').waitFor();
  await reach(page.locator('.map-box'));
  for (const key of ['+', 'ArrowRight', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await press(field('markup').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Take Photo' }));
  await dialog.locator('canvas').waitFor();
  await reach(dialog.locator('canvas'));
  for (const key of ['Space', 'ArrowRight', 'ArrowRight', 'Space']) await page.keyboard.press(key);
  await press(dialog.getByRole('button', { name: 'Use this' }));
  await expect.poll(() => field('markup').locator('img').count()).toBe(1);
  await reach(field('radio').getByLabel('One'));
  await page.keyboard.press('ArrowDown');
  await press(field('video').getByRole('button').first());
  await press(dialog.getByRole('button', { name: 'Record' }));
  await dialog.getByText(/^Recording: 1/).waitFor();
  await press(dialog.getByRole('button', { name: 'Stop' }));
  await expect.poll(() => field('video').locator('video').count()).toBe(1);
  await press(page.getByRole('button', { name: 'Send it' }));
  expectAnswer(await answerOnce('keys'));
  await context.close();
});

test('inline buttons and those of a cluster submit with their own values', async () => {
  const fields = ALL_FIELDS.filter(({ type }) => /^(?:buttonCluster|inlineButton|footerButton)$/.test(String(type)));
  for (const [name, value] of [
    ['Later', 7],
    ['Inline', 5],
  ] as const) {
    const username = `button${value}`;
    await stage.send(username, { fields }, 'Buttons');
    const { page, context } = await stage.open(username);
    await page.getByRole('link', { name: /Buttons/ }).tap();
    await page.getByRole('button', { name }).tap();
    expect(await answerOnce(username)).toMatchObject({ submitValue: value, values: {} });
    await context.close();
  }
});

/** A document that everybody may read. */
async function putDocument(name: string, type: string, bytes: Buffer): Promise<void> {
  const body = new FormData();
  body.append(name, new Blob([new Uint8Array(bytes)], { type }), name.split('/').at(-1));
  const headers = { authorization: `Bearer ${stage.admin.token}` };
  const reply = await fetch(`${stage.service.url}/api/v1/resources/documents`, { method: 'POST', headers, body });
  expect(reply.status).toBe(200);
}

test('documents are shown, played and drawn on; where a picture cannot be had, a photo does', async () => {
  const plain = await stage.browser.newPage();
  const png = await plain.screenshot();
  await plain.close();
  await putDocument('public/plan.png', 'image/png', png);
  await putDocument('public/sound.m4a', 'audio/mp4', Buffer.from('no sound'));
  await putDocument('public/film.mp4', 'video/mp4', Buffer.from('no film'));
  const fields = [
    { type: 'image', url: 'public/plan.png', size: 50 },
    { type: 'image', url: 'public/none.png', label: 'None' },
    { type: 'document', url: 'public/plan.png', flavor: 'vimage', label: 'Plan' },
    { type: 'document', url: 'public/sound.m4a', flavor: 'vaudio', label: 'Sound' },
    { type: 'document', url: 'public/film.mp4', flavor: 'vvideo', label: 'Film' },
    { type: 'document', url: 'https://plant.example/page', label: 'Page' },
    { type: 'document', url: 'javascript:alert(1)', label: 'Program' },
    { type: 'markupImage', id: 'plan', label: 'Mark the plan', source: 'public/plan.png' },
    { type: 'markupImage', id: 'gone', label: 'Mark what is gone', source: 'public/none.png' },
  ];
  await stage.send('shown', { fields }, 'Shown');
  const { page, context } = await stage.open('shown');
  await page.getByRole('link', { name: /Shown/ }).tap();
  const widthOf = (at: number) =>
    page
      .locator('figure img')
      .nth(at)
      .evaluate((image) => (image as { naturalWidth?: number }).naturalWidth);
  await expect.poll(() => page.locator('figure img').count()).toBe(2);
  await expect.poll(() => widthOf(0)).toBeGreaterThan(0);
  await expect.poll(() => widthOf(1)).toBeGreaterThan(0);
  await page.getByText('The image cannot be loaded.').waitFor();
  for (const kind of ['audio', 'video']) expect(await page.locator(`figure ${kind}`).getAttribute('src')).toMatch(/^blob:/);
  expect(await page.getByRole('link', { name: 'View the Web document' }).getAttribute('href')).toBe('https://plant.example/page');
  await page.getByText('This address cannot be opened.').waitFor();
  const dialog = page.locator('dialog[open]');
  await page.locator('[data-field="plan"] button').first().tap();
  await dialog.locator('canvas').tap({ position: { x: 30, y: 30 } });
  await dialog.getByRole('button', { name: 'Use this' }).tap();
  await page.locator('[data-field="plan"] img').waitFor();
  await page.locator('[data-field="gone"] button').first().tap();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Take Photo' }).tap();
  await dialog.locator('canvas').tap({ position: { x: 30, y: 30 } });
  await dialog.getByRole('button', { name: 'Use this' }).tap();
  await page.locator('[data-field="gone"] img').waitFor();
  await page.locator('.footer button').tap();
  const image = expect.stringMatching(/^rcs\/image\/.*\.jpg$/);
  expect(await answerOnce('shown')).toMatchObject({ values: { plan: image, gone: image } });
  await context.close();
});

test('a document that is opened runs no program with the login of the person who opens it', async () => {
  await putDocument('public/taken.js', 'application/javascript', Buffer.from('document.title = "taken";'));
  await stage.send('opened', { fields: [{ type: 'document', url: 'public/page.html', label: 'Page' }] }, 'Opened');
  const { page, context } = await stage.open('opened');
  // The page's policy goes along with its blobs, but a public document is a script of the same service.
  const script = `${new URL(page.url()).origin}/ui/docs/NS/main/taken.js`;
  await putDocument('public/page.html', 'text/html', Buffer.from(`<script src="${script}"></script><h1>Read this</h1>`));
  await page.getByRole('link', { name: /Opened/ }).tap();
  const link = page.getByRole('link', { name: 'View the Web document' });
  await expect.poll(() => link.getAttribute('href')).toMatch(/^blob:/);
  const [opened] = await Promise.all([context.waitForEvent('page'), link.tap()]);
  await opened.getByRole('heading', { name: 'Read this' }).waitFor();
  expect(await opened.title()).toBe('');
  await context.close();
});

test('a barcode is read by the camera where the browser can read codes', async () => {
  await stage.send('codes', { fields: [{ type: 'barcode', id: 'code', label: 'Code' }] }, 'Codes');
  const { page, context } = await stage.open('codes');
  await page.addInitScript('window.BarcodeDetector = class { async detect() { return [{ rawValue: "4006381333931" }]; } };');
  await page.reload();
  await page.getByRole('link', { name: /Codes/ }).tap();
  await page.locator('[data-field="code"]').getByRole('button').tap();
  await expect.poll(() => page.locator('[data-field="code"] input').inputValue()).toBe('4006381333931');
  await page.locator('.footer button').tap();
  expect(await answerOnce('codes')).toMatchObject({ values: { code: '4006381333931' } });
  await context.close();
});

test('who does not tell the place answers without it', async () => {
  await stage.send('nowhere', { fields: [{ type: 'currentLocation', id: 'here' }] }, 'Nowhere');
  const { page, context } = await stage.open('nowhere', { ...PHONE, permissions: [] });
  await page.getByRole('link', { name: /Nowhere/ }).tap();
  await page.locator('.footer button').tap();
  expect(await answerOnce('nowhere')).toMatchObject({ values: { here: null } });
  await context.close();
});

test('who leaves the question for the place open answers without it', async () => {
  await stage.send('silent', { fields: [{ type: 'currentLocation', id: 'here' }] }, 'Silent');
  const { page, context } = await stage.open('silent');
  await page.addInitScript('navigator.geolocation.getCurrentPosition = () => undefined;');
  await page.clock.install();
  await page.reload();
  await page.getByRole('link', { name: /Silent/ }).tap();
  await page.locator('.footer button').tap();
  await page.locator('article[aria-busy=true]').waitFor();
  await page.clock.fastForward(15_000);
  expect(await answerOnce('silent')).toMatchObject({ values: { here: null } });
  await context.close();
});

test('what cannot be kept is said, and can be tried again', async () => {
  await stage.send('full', {
    fields: [
      { type: 'audio', id: 'a', maxDurationSeconds: 1 },
      { type: 'inputString', id: 's' },
    ],
  });
  const { page, context } = await stage.open('full');
  await context.addInitScript(`const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
      if (this.name === 'media' || this.name === 'drafts') throw new DOMException('no room', 'QuotaExceededError');
      return put.apply(this, args);
    };`);
  await page.reload();
  await page.locator('a.message').click();
  await page.locator('[data-field="a"] button').click();
  const dialog = page.locator('dialog[open]');
  for (const _try of ['first', 'second']) {
    await dialog.getByRole('button', { name: 'Record' }).click();
    await dialog.getByRole('alert').getByText('could not be recorded or kept: no room').waitFor();
  }
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('textbox').fill('x');
  await expect.poll(() => page.locator('.notice').getByText('could not be recorded or kept: no room').count()).toBe(1);
  await context.close();
});

test('nothing is refused by the content security policy, and no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
