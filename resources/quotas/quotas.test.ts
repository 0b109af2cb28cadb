// spec: resources-and-api.md 9.2 13
import { expect, test } from 'vitest';
import { type GivenQuota, Quotas } from './quotas.ts';

function quotasOf(): { quotas: Quotas; store: { types: number; isDown: boolean; nowMs: number; reads: number } } {
  const store = { types: 5, isDown: false, nowMs: 0, reads: 0 };
  const read = async (): Promise<GivenQuota> => {
    store.reads++;
    if (store.isDown) throw new Error('no store');
    return { organization: 'acme', quota: `{"limits":{"types":${store.types}}}`, namespaces: ['north'] };
  };
  return { quotas: new Quotas(read, () => store.nowMs), store };
}

test('a quota that another process has changed holds for the first request after a second', async () => {
  const { quotas, store } = quotasOf();
  expect((await quotas.of('north'))?.limit('types')).toBe(5);
  store.types = 0;
  store.nowMs = 600;
  expect(quotas.of('north')).not.toBeInstanceOf(Promise);
  store.nowMs = 3_600_000;
  expect((await quotas.of('north'))?.limit('types')).toBe(0);
  expect(store.reads).toBe(2);
});

test('a busy namespace does not wait: its quota is read again while it holds', async () => {
  const { quotas, store } = quotasOf();
  await quotas.of('north');
  store.types = 1;
  store.nowMs = 900;
  expect(quotas.of('north')).not.toBeInstanceOf(Promise);
  await expect.poll(() => quotas.known('north')?.limit('types')).toBe(1);
  store.nowMs = 1_800;
  expect(quotas.of('north')).not.toBeInstanceOf(Promise);
});

test('who cannot wait, and whoever asks while the store cannot be reached, is given the old quota', async () => {
  const { quotas, store } = quotasOf();
  expect(quotas.known('north')).toBeNull();
  await quotas.of('north');
  store.nowMs = 60_000;
  expect(quotas.known('north')?.limit('types')).toBe(5);
  store.isDown = true;
  store.nowMs = 120_000;
  expect((await quotas.of('north'))?.limit('types')).toBe(5);
});
