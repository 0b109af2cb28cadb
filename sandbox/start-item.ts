// The item that begins a run which has arguments, with what has to be there before it. (Those that have an event: isolate-state.ts.)
import type { StartOptions } from '../stdlib/isolate/index.ts';
import type { IsolateState, Item, LaneRun } from './isolate-state.ts';

export function startItem(run: LaneRun, isolate: IsolateState, memoryBytes: number): Item {
  const { program, procedure, argsJson, namedJson, entry, at, seed, opts } = run.request;
  const all: StartOptions = { memory: memoryBytes, ...opts, at, seed, fuel: run.sliceFuel };
  const optsJson = JSON.stringify(all);
  const runs = [run];
  if (program) {
    const text = `["start",${run.wireId},"${isolate.nameOf(program)}","${entry ?? 'main'}",${argsJson},${optsJson}]`;
    return { runs, text, program };
  }
  const name = JSON.stringify(procedure ?? '');
  const [args, named] = namedJson ? ['null', namedJson] : [argsJson, 'null'];
  return { runs, text: `["startProcedure",${run.wireId},${name},${args},${named},${optsJson}]` };
}
