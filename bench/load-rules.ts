// How long a namespace with many rules takes to open: when every text is compiled, and when what they compile to is kept from before. One
// engine after the other on one database; what is kept is taken away before the rounds that compile.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { type ApiRequest, type Engine, openEngine } from '../engine/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';

const ROUNDS = 5;
const IN_FLIGHT = 64;
const NAMESPACE = 'bench';
const IDENTITY = { username: 'bench', namespace: NAMESPACE, profiles: ['admin', 'admin__system'] };
/** `CASCADE_BENCH_RULES` makes it another number, for a quick look. */
const count = Number(process.env['CASCADE_BENCH_RULES'] ?? 10_000);

/** Bodies of five shapes, with literals of their own. */
const ruleText = (n: number): string => `// Watches meter ${n}.
RULE watch${n}
WHEN INSERT OCCURS ON Reading AS r WHERE r.meter == ${n} AND r.rate > ${n % 90}
var level = r.rate - ${n % 90}
if (level > ${10 + (n % 7)}) {
  log.warn("meter {} is at {}", [r.meter, r.rate])
${['  level = 0', '  PUBLISH {meter: r.meter} TO TOPIC "/high"', '  r.site = "north"', '  level = level * 2', '  log.info(r.site)'][n % 5]}
}
log.debug("{}", [level])`;

/** Rules a second, a number a round. */
export async function loadRules(): Promise<{ readonly count: number; readonly cold: number[]; readonly warm: number[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  try {
    return await measured(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(folder: string): ReturnType<typeof loadRules> {
  const log = pino({ level: 'silent' });
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log });
  const client = await new MongoClient(mongod.uri).connect();
  const open = (): Promise<Engine> => openEngine({ mongoUri: mongod.uri, exclusive: true, lanes: 1, log });
  const ask = (engine: Engine, request: Partial<ApiRequest>) =>
    engine.execute({ identity: IDENTITY, op: 'select', resourceName: 'rules', custom: false, parameters: {}, ...request });
  try {
    {
      await using engine = await open();
      for (let from = 0; from < count; from += IN_FLIGHT)
        await Promise.all(
          Array.from({ length: Math.min(IN_FLIGHT, count - from) }, (_, i) => ask(engine, { op: 'insert', text: ruleText(from + i) })),
        );
    }
    /** The first request of a namespace opens it. */
    const opened = async (): Promise<number> => {
      await using engine = await open();
      const begun = performance.now();
      await ask(engine, { parameters: { limit: 1n } });
      return (1_000 * count) / (performance.now() - begun);
    };
    const cold: number[] = [];
    const warm: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await client.db(`cascade_ns_${NAMESPACE}`).collection('compiled').deleteMany({});
      cold.push(await opened());
      warm.push(await opened());
    }
    return { count, cold, warm };
  } finally {
    await client.close();
  }
}
