// Drools and Esper, where a Java machine is: fetched by Maven into a cache of the user's, compiled there, run as processes of their own.
// Only where they are asked for (`npm run bench -- rules --peers`).

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { progress } from '../report/index.ts';

const run = promisify(execFile);

/** From bench/peers of the sources, where also the built program looks for them. */
const SOURCES = join(import.meta.dirname, import.meta.dirname.includes('dist') ? '../../../bench/peers' : '.');
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cascade', 'peers-1');
const LONGEST_MS = 15 * 60_000;

const PROJECT = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId><artifactId>peers</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.drools</groupId><artifactId>drools-engine</artifactId><version>8.44.0.Final</version></dependency>
    <dependency><groupId>org.drools</groupId><artifactId>drools-mvel</artifactId><version>8.44.0.Final</version></dependency>
    <dependency><groupId>com.espertech</groupId><artifactId>esper-runtime</artifactId><version>8.9.0</version></dependency>
    <dependency><groupId>com.espertech</groupId><artifactId>esper-compiler</artifactId><version>8.9.0</version></dependency>
  </dependencies>
</project>
`;

/**
 * Events a second of a peer with so many rules (keys, for pairs), a number a round.
 * @throws when there is no Java machine, compiler or Maven, or what they need cannot be fetched: the message says which command failed
 */
export async function runPeer(name: 'Drools' | 'Esper' | 'EsperPairs', rules: number, rounds: number, seconds: number): Promise<number[]> {
  const classPath = await prepared();
  const args = ['-cp', classPath, `peers.${name}Peer`, String(rules), String(rounds), String(seconds)];
  const { stdout } = await run('java', args, { timeout: LONGEST_MS });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as number[];
}

/** Whether the peers can be run here, fetched first where they are not there. */
export const canRunPeers = (): Promise<boolean> =>
  Promise.all([run('java', ['-version']), run('javac', ['-version']), run('mvn', ['-v'])]).then(
    () => true,
    () => false,
  );

/** @returns the class path */
async function prepared(): Promise<string> {
  const [libraries, classes] = [join(CACHE, 'lib'), join(CACHE, 'classes')];
  if (!(await exists(libraries))) {
    progress('Drools and Esper are fetched');
    await mkdir(CACHE, { recursive: true });
    await writeFile(join(CACHE, 'pom.xml'), PROJECT);
    const fresh = `${libraries}.new`;
    await rm(fresh, { recursive: true, force: true });
    await run('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${fresh}`], { cwd: CACHE, timeout: LONGEST_MS });
    await cp(fresh, libraries, { recursive: true });
    await rm(fresh, { recursive: true });
  }
  await mkdir(classes, { recursive: true });
  const sources = (await readdir(SOURCES)).filter((file) => file.endsWith('.java')).map((file) => join(SOURCES, file));
  await run('javac', ['-cp', join(libraries, '*'), '-d', classes, ...sources]);
  return [classes, join(libraries, '*')].join(process.platform === 'win32' ? ';' : ':');
}

const exists = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );
