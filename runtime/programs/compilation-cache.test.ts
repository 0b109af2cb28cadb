// Compilation results are cached: a start takes them from the store, compiles changed texts, and uses no entry that is not as it was
// written.
import { createHash } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine } from '../../engine/testing/engine.ts';
import type { CompiledProcedure } from '../../compiler/index.ts';
import { Compiler } from './compiler.ts';
import { type CompiledBy, CompilationCache } from './compilation-cache.ts';
import { compileText, keepExecutable, programOf, readExecutable } from './programs.ts';

const compiler = new Compiler();
const by = (hash: string): CompiledBy => ({ hash, compiler });
afterAll(() => compiler[Symbol.asyncDispose]());

const TEXT = 'RULE kept WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 5\nlog.info(p.rate)';

async function withDatabase(work: (db: ReturnType<MongoClient['db']>) => Promise<void>): Promise<void> {
  const client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] ?? '').connect();
  const db = client.db(`test_kept_${process.pid}_${Math.random().toString(36).slice(2)}`);
  try {
    await work(db);
  } finally {
    await db.dropDatabase();
    await client.close();
  }
}
const rowsOf = (db: ReturnType<MongoClient['db']>) => db.collection<{ _id: string; unit: string }>('compiled');

test('a second start takes the entries of the first, and entries that no rule uses are removed', () =>
  withDatabase(async (db) => {
    const first = await CompilationCache.open(db, by('one'));
    const compiled = first.load(TEXT);
    first.load(TEXT.replace('kept', 'other'));
    await first.settle();
    const second = await CompilationCache.open(db, by('one'));
    expect(second.load(TEXT)).toEqual(JSON.parse(JSON.stringify(compiled)));
    expect(second.taken).toBe(1);
    await second.settle();
    expect(await rowsOf(db).countDocuments()).toBe(1);
  }));

test('output of another compiler, and output that was changed or cut short, is compiled again', () =>
  withDatabase(async (db) => {
    const first = await CompilationCache.open(db, by('one'));
    const compiled = first.load(TEXT);
    await first.settle();
    const newer = await CompilationCache.open(db, by('two'));
    expect(newer.load(TEXT)).toEqual(compiled);
    expect(newer.taken).toBe(0);
    for (const unit of ['{"kind":"rule"}', '', '{']) {
      await rowsOf(db).updateMany({}, { $set: { unit } });
      const tampered = await CompilationCache.open(db, by('one'));
      expect(tampered.load(TEXT)).toEqual(compiled);
      expect(tampered.taken).toBe(0);
    }
  }));

test('code that no compiler wrote is not used, even in a well-formed row', () =>
  withDatabase(async (db) => {
    const first = await CompilationCache.open(db, by('one'));
    const compiled = first.load(TEXT);
    await first.settle();
    const evil = { ...compiled, module: { ...compiled.module, source: `(function ($rt) { 'use strict'; return () => globalThis; })` } };
    const row = (await rowsOf(db).findOne())!;
    const unit = JSON.stringify(evil);
    const sum = createHash('sha256').update(`${row._id}\n${unit}`).digest('hex');
    await rowsOf(db).updateMany({}, { $set: { unit, sum } });
    const second = await CompilationCache.open(db, by('one'));
    expect(second.load(TEXT)).toEqual(compiled);
    expect(second.taken).toBe(0);
    const executable = { program: programOf(evil.module, ''), resource: '/rules/kept', name: 'kept', map: '', service: null };
    await keepExecutable(db, { ...executable, identity: { username: 'system', namespace: 'main', profiles: [] } }, 1);
    expect(await readExecutable(db, 'main', 'kept', executable.program.id)).toBeNull();
  }));

test('a stored rule works after a restart from its cached output', async () => {
  await using database = await openOwnDatabase();
  let namespace: string;
  const rule = 'RULE copies WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 5\nINSERT Copy(rate: p.rate)';
  {
    await using before = await openTestEngine({ mongoUri: database.uri });
    namespace = before.identity.namespace;
    await before.type('Pump', { rate: { type: 'Integer' } });
    await before.type('Copy', { rate: { type: 'Integer' } });
    await before.program('rules', rule);
  }
  await using after = await openTestEngine({ mongoUri: database.uri, namespace });
  await after.ask('insert', 'Pump', { body: '[{"rate": 9}, {"rate": 1}]' });
  expect(await after.eventually('Copy', {}, 1)).toMatchObject([{ rate: 9 }]);
});

test('no request reaches the cache', async () => {
  await using engine = await openTestEngine();
  await engine.type('Pump', { rate: { type: 'Integer' } });
  for (const op of ['select', 'delete', 'aggregate', 'update'])
    await expect(engine.ask(op, 'compiled', { id: 'x', body: '{}' }), op).rejects.toMatchObject({ status: 404 });
  await expect(engine.ask('select', 'compiled', { custom: true })).rejects.toMatchObject({ status: 404 });
  const lookup = '[{"$lookup": {"from": "compiled", "localField": "rate", "foreignField": "_id", "as": "x"}}]';
  await expect(engine.ask('aggregate', 'Pump', { body: lookup })).rejects.toMatchObject({
    status: 404,
    code: 'cascade.resource.type.not.found',
  });
});

test('a procedure is taken from the cache only for the same state and compiler', () =>
  withDatabase(async (db) => {
    const text = 'PROCEDURE Tank.level() return 5';
    const first = await CompilationCache.open(db, by('one'));
    const made = compileText(text, 'procedure') as CompiledProcedure;
    await first.keepProcedure(text, null, made);
    const second = await CompilationCache.open(db, by('one'));
    await second.settle();
    expect(await second.loadProcedure(text, null)).toEqual(JSON.parse(JSON.stringify(made)));
    expect(second.taken).toBe(1);
    await second.loadProcedure(text, { global: ['n'], partitioned: null });
    expect(second.taken).toBe(1);
    await second.settle();
    await second.dropProcedure(text, null);
    await second.loadProcedure(text, null);
    expect(second.taken).toBe(1);
    await second.settle(); // the second start's results are still being stored, and would arrive after the newer one has cleared the cache
    const newer = await CompilationCache.open(db, by('two'));
    expect(await rowsOf(db).countDocuments({ procedureOf: 'one' })).toBe(0);
    expect(await newer.loadProcedure(text, null)).toEqual(made);
    expect(newer.taken).toBe(0);
  }));
