// The door of bench/: `cascade bench` measures how fast a project's own rules are, and where the time goes.
import { writeFile } from 'node:fs/promises';
import { readProject } from '../project.ts';
import { reasonOf, type Terminal, UsageError } from '../terminal.ts';
import { checkComparable, type Compared, compareResults } from './compare.ts';
import { type BenchEvent, readEvents } from './events.ts';
import { generator } from './generate.ts';
import { EventSource } from './measure.ts';
import { type BenchOptions, type Load, loadOf } from './options.ts';
import { htmlOf } from './report.ts';
import { type BenchResult, FORMAT, machine, readResult } from './result.ts';
import { atRate, core, type Measured, ramped, type Progress } from './rounds.ts';
import { openElsewhere, openOwn, type Target } from './target.ts';
import { textOf } from './text.ts';

export { chart, type Line } from './chart.ts';
export { type Compared, compareFigures } from './compare.ts';
export { openLoop } from './open-loop.ts';
export type { BenchOptions } from './options.ts';
export { escapeHtml, pageOf, paragraphs, picture, section, table } from './page.ts';
export { distributionOf } from './report.ts';
export { comparedCells, number } from './text.ts';

/**
 * @param project a folder with types/, rules/, …
 * @returns 0; 1 when the project could not be loaded, no request succeeded, or a figure is worse than the base's beyond noise
 * @throws UsageError for invalid options, files and events
 */
export async function bench(project: string, options: BenchOptions, terminal: Terminal): Promise<number> {
  const load = loadOf(options);
  const base = options.compare === undefined ? null : await readResult(options.compare);
  if (base) checkComparable(base.load, load);
  for (const file of [options.report, options.output]) if (file !== undefined) await checkWritable(file);
  const source = await sourceOf(project, options);
  const measured = await measuredBy(load, project, source, options, terminal);
  if (!measured) return 1;
  const result: BenchResult = {
    format: FORMAT,
    project,
    at: new Date().toISOString(),
    machine: machine(),
    service: options.url ?? null,
    load,
    ...measured,
  };
  const compared = base ? compareResults(base, result) : [];
  await report(result, compared, options, terminal);
  const isAnswered = load.mode === 'core' || result.rounds.some(({ answered }) => answered > 0);
  return isAnswered && compared.every(({ verdict }) => verdict !== 'worse') ? 0 : 1;
}

async function sourceOf(project: string, { events, generate, seed }: BenchOptions): Promise<EventSource> {
  if (events !== undefined) {
    const all = await readEvents(events);
    const samples = new Map([...all].reverse().map((event) => [JSON.stringify(event.on), event]));
    return new EventSource((n) => all[n % all.length] as BenchEvent, [...samples.values()].reverse());
  }
  const { types, texts } = await readProject(project);
  return new EventSource(generator(generate as string, types, texts, seed));
}

async function measuredBy(
  load: Load,
  project: string,
  source: EventSource,
  options: BenchOptions,
  terminal: Terminal,
): Promise<Measured | null> {
  const progress: Progress = (text) => terminal.err(terminal.colors ? `\r\x1b[2K${text}` : `${text}\n`);
  try {
    if (load.mode === 'core') return await core(project, source, options, progress);
    progress(options.url === undefined ? 'a service is started…' : `${options.url} is asked…`);
    await using target = await targetOf(project, options, terminal);
    if (!target) return null;
    return await (load.mode === 'ramp' ? ramped : atRate)(target, source, load, options, progress);
  } finally {
    if (terminal.colors) terminal.err('\r\x1b[2K');
  }
}

async function targetOf(project: string, options: BenchOptions, terminal: Terminal): Promise<Target | null> {
  const { url } = options;
  return url === undefined ? openOwn(project, options, terminal) : openElsewhere({ ...options, url });
}

/** Checks that the file can be written before minutes of measuring. */
async function checkWritable(file: string): Promise<void> {
  await writeFile(file, '', { flag: 'a' }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be written: ${reasonOf(error)}.`);
  });
}

async function report(result: BenchResult, compared: readonly Compared[], options: BenchOptions, terminal: Terminal): Promise<void> {
  const { report, output, json } = options;
  const text = `${JSON.stringify(result, null, 1)}\n`;
  if (output !== undefined) await writeFile(output, text);
  if (report !== undefined) await writeFile(report, htmlOf(result, compared));
  terminal.out(json ? text : textOf(result, compared));
}
